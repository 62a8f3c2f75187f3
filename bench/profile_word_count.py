"""Where the time of a word count goes: CPU by process and thread, and the hottest functions of each process.

    pip install py-spy
    python -m bench.profile_word_count [any option of bench.word_count]

Prints Markdown. Threads are told apart by their kernel names; functions come from py-spy, native frames included, and are those on top
of the stack, so shares of one process add up to 100 %.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.process_tree import TICKS_A_SECOND, descendants
from bench.word_count import arguments, start_sql, start_topology

BUSY_SHARE = 0.03
"""Processes and threads below this share of a core are left out."""
FUNCTIONS_SHOWN = 12


def thread_ticks(pids: set[int]) -> dict[tuple[int, str, int], int]:
    """CPU ticks by (pid, thread's name, thread)."""
    ticks = {}
    for pid in pids:
        for directory in Path(f"/proc/{pid}/task").glob("*"):
            text = (directory / "stat").read_text()
            fields = text[text.rindex(")") + 2 :].split()
            ticks[pid, text[text.index("(") + 1 : text.rindex(")")], int(directory.name)] = int(fields[11]) + int(
                fields[12]
            )
    return ticks


def busiest_threads(seconds: float) -> list[tuple[float, int, str]]:
    """(share of a core, pid, thread's name), the busiest first, over the whole process tree."""
    pids = set(descendants(os.getpid()))
    before = thread_ticks(pids)
    time.sleep(seconds)
    after = thread_ticks(pids)
    shares = [((after[key] - before.get(key, 0)) / TICKS_A_SECOND / seconds, key[0], key[1]) for key in after]
    return sorted((share for share in shares if share[0] >= BUSY_SHARE), reverse=True)


def hottest_functions(pid: int, seconds: float) -> Iterator[tuple[float, str]]:
    """(share of samples, function) at the top of the stack of a process."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        command = ["py-spy", "record", "--native", "--pid", str(pid), "--format", "raw", "--output", file.name]
        subprocess.run([*command, "--duration", str(round(seconds))], check=True, capture_output=True)
        samples: Counter[str] = Counter()
        for line in Path(file.name).read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            samples[stack.rpartition(";")[2]] += int(count)
    total = samples.total() or 1
    for function, seen in samples.most_common(FUNCTIONS_SHOWN):
        yield seen / total, function


def report(seconds: float) -> None:
    """Print what the processes below this one do for a while."""
    threads = busiest_threads(seconds)
    print("| core share | process | thread |\n|---|---|---|")
    names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for _, pid, _ in threads}
    for share, pid, thread in threads:
        print(f"| {share:.0%} | {names[pid]} | {thread} |")
    if not shutil.which("py-spy"):
        sys.exit("for the functions, install py-spy: pip install py-spy")
    for pid in dict.fromkeys(pid for _, pid, _ in threads if pid != os.getpid()):
        print(f"\n{names[pid]}:\n\n| share | function |\n|---|---|")
        for share, function in hottest_functions(pid, seconds):
            print(f"| {share:.1%} | `{function}` |")


def main() -> None:
    """Start a word count, let it warm up, and look at it."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="word-count-") as folder:
        handle, _ = (start_sql if options.sql else start_topology)(options, Path(folder))
        try:
            handle.wait_for_results(options.warm_up)
            time.sleep(options.warm_up)
            report(options.seconds)
        finally:
            handle.stop()


if __name__ == "__main__":
    main()
