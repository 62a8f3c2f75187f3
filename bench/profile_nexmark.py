"""The hottest three functions of each Nexmark query, over all processes of its topology, as the Markdown table of docs/nexmark.md.

    pip install py-spy
    python -m bench.profile_nexmark [q1 q12 ...] [any option of bench.nexmark]

A sample counts for the innermost function of Ouzel's on its stack: what that calls of Polars, Numpy and the compiled loops is its share.
Only the threads that run the tasks are looked at, and not while they wait for frames.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench.figures import acked_rows, await_first
from bench.markdown import markdown
from bench.nexmark import arguments, query_names, running
from bench.profile_word_count import busiest_threads

SHOWN = 3
LOOK_S = 1
"""So long is looked for the processes that are busy."""

_TASKS, _WAITS = "Instance.run (", "ouzel/runtime/process/gateway.py"
_OURS = re.compile(r"(\S+) \((\S*ouzel/\S+?):\d+\)$")


def our_functions(pid: int, seconds: float) -> Counter[str]:
    """Samples by function of Ouzel's, of one process; those of none are under ''."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        command = ["py-spy", "record", "--pid", str(pid), "--format", "raw", "--output", file.name]
        done = subprocess.run([*command, "--duration", str(round(seconds))], check=False, capture_output=True)
        samples: Counter[str] = Counter()
        for line in Path(file.name).read_text().splitlines() if not done.returncode else ():
            stack, _, count = line.rpartition(" ")
            ours = next(filter(None, map(_OURS.search, reversed(stack.split(";")))), None)
            if _TASKS in stack and not (ours and ours[2].endswith(_WAITS)):
                samples[_name(ours) if ours else ""] += int(count)
    return samples


def _name(frame: re.Match[str]) -> str:
    return f"{frame[2].rpartition('ouzel/')[2]}: {frame[1]}"


def profile(query: str, options: argparse.Namespace) -> dict[str, object]:
    """One row of the table."""
    with running(query, options) as handle:
        await_first(handle, acked_rows(handle))
        time.sleep(options.warm_up)
        pids = {pid for _, pid, _ in busiest_threads(LOOK_S)} - {os.getpid()}
        samples = sum((our_functions(pid, options.seconds / len(pids)) for pid in sorted(pids)), Counter[str]())
    total = samples.total() or 1
    named = [(name, seen) for name, seen in samples.most_common() if name][:SHOWN]
    cells = {f"f{place}": f"`{name}` {seen / total:.0%}" for place, (name, seen) in enumerate(named)}
    return {"query": query, **cells}


def main() -> None:
    """Profile the queries named, one after the other, and print the table."""
    options = arguments(__doc__ or "")
    rows = [profile(query, options) for query in options.queries or query_names()]
    print(markdown(rows, {"query": "query", "f0": "hottest", "f1": "second", "f2": "third"}))


if __name__ == "__main__":
    main()
