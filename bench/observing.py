"""What it costs to look at a topology: the rate of the word count as SQL, alone and observed, in turn. A JSON line for a run, one for all.

    python -m bench.observing --rounds 8
    python -m bench.observing --rounds 8 --share 1          every batch is traced
    python -m bench.observing --rounds 8 --bolts 2

In each round it is submitted twice, first one way and then the other; the next round begins with the other way. `alone` it is as it always
is, its metrics managers included. `observed`, `--share` of the batches of its source are traced (0.01), and `ouzel ui` runs, of which the
list, the page of the topology and its dashboards are open (they ask as their script does); metrics are scraped every 15 s. `rows_per_cpu_s`
goes by the CPU time of the whole machine, so whoever looks is counted, too. Ratios are medians over rounds of observed to alone;
`metrics_cpu_s` is what the metrics managers used, `ui_cpu_s` what `ouzel ui` did, of `cpu_s` in all. How a run without metrics managers
would be this does not tell: there is none.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.request import urlopen

from bench.figures import acked_rows, await_first
from bench.process_tree import TICKS_A_SECOND, ProcessTree, descendants
from bench.word_count import load_sql, make_parser
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.verbs import kill_topology
from ouzel.runtime.observe.trace_files import TraceReader
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.submitting import submit_job

NAME, ALONE, OBSERVED = "observed-words", "alone", "observed"
OPEN = (f"/topology/{NAME}", f"/topology/{NAME}/viz", "/", "/static/ouzel.js", "/static/ouzel.css")
ASKED = {"/pages/rows": 3.0, f"/pages/topology/{NAME}": 3.0, f"/pages/viz/{NAME}?span=10m": 10.0, "/metrics": 15.0}
"""What an open page asks for again, and a scraper, and after how many seconds."""

LIMIT_S = 60.0


class Page:
    """Asks `ouzel ui` as open pages do, in a thread."""

    def __init__(self, address: str, pid: int) -> None:
        self._address, self._pid, self.answers = address, pid, 0
        self._ends, self._wrong = Event(), ""
        self._thread = Thread(target=self._run, daemon=True)

    def open(self) -> None:
        """Ask for the pages themselves, then go on."""
        for path in OPEN:
            self._ask(path)
        self._thread.start()

    def close(self) -> None:
        """Ask no more.

        Raises:
            SystemExit: something was not answered.
        """
        self._ends.set()
        self._thread.join()
        if self._wrong:
            raise SystemExit(self._wrong)

    def cpu_s(self) -> float:
        """CPU seconds of `ouzel ui` so far."""
        return descendants(self._pid)[self._pid].ticks / TICKS_A_SECOND

    def _run(self) -> None:
        due = dict.fromkeys(ASKED, 0.0)
        while not self._ends.wait(max(0.01, min(due.values()) - time.monotonic())):
            path = min(due, key=lambda one: due[one])
            try:
                self._ask(path)
            except OSError as error:
                self._wrong = f"{path}: {error}"
                return
            due[path] = time.monotonic() + ASKED[path]

    def _ask(self, path: str) -> None:
        with urlopen(self._address + path, timeout=LIMIT_S) as answer:
            answer.read()
        self.answers += 1


@contextmanager
def watched() -> Iterator[Page]:
    """Inside, `ouzel ui` runs, and pages of it are open."""
    command = [sys.executable, "-m", "ouzel", "ui", "--port", "0", "--read-only"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise SystemExit("`ouzel ui` does not say where it is")
            page = Page(found[0].rstrip("/"), process.pid)
            page.open()
            yield page
            page.close()
        finally:
            process.terminate()


def metrics_cpu_s(handle: HeronHandle) -> float:
    """CPU seconds of the topology's metrics managers so far."""
    ticks = 0
    for folder in handle.job.home.glob("container-*"):
        table = ProcessTable(folder)
        table.read()
        pids = [entry.pid for name, entry in table.entries.items() if name == "metrics-manager"]
        ticks += sum(descendants(pid)[pid].ticks for pid in pids)
    return ticks / TICKS_A_SECOND


def measure(
    handle: HeronHandle, warm_up_s: float, seconds: float, ui_cpu_s: Callable[[], float] = lambda: 0.0
) -> dict[str, float]:
    """Figures of so many seconds."""
    rows, machine = acked_rows(handle), ProcessTree(os.getpid())
    await_first(handle, rows)
    time.sleep(warm_up_s)
    (began_s, first), before, metrics, pages = rows(), machine.cost(), metrics_cpu_s(handle), ui_cpu_s()
    time.sleep(seconds)
    (ended_s, last), after = rows(), machine.cost()
    rate = (last - first) / (ended_s - began_s)
    cpu_s = after.machine_cpu_s - before.machine_cpu_s
    return {
        "rows_per_s": round(rate),
        "rows_per_cpu_s": round(rate * (after.time_s - before.time_s) / cpu_s),
        "cpu_s": round(cpu_s, 2),
        "metrics_cpu_s": round(metrics_cpu_s(handle) - metrics, 2),
        "ui_cpu_s": round(ui_cpu_s() - pages, 2),
    }


def run(options: argparse.Namespace, way: str) -> dict[str, Any]:
    """Submit it, look at it or not, measure, and kill it."""
    share = options.share if way == OBSERVED else 0
    with tempfile.TemporaryDirectory(prefix="observing-") as folder:
        os.environ["OUZEL_HOME"] = folder
        handle = submit_job(load_sql(options, Path(folder), **{"trace.sample": str(share)}), NAME)
        try:
            if way == ALONE:
                return {"way": way, **measure(handle, options.warm_up, options.seconds)}
            with watched() as page:
                figures = measure(handle, options.warm_up, options.seconds, page.cpu_s)
                return {"way": way, **figures, "answers": page.answers, "spans": count_spans(handle)}
        finally:
            handle.let_go()
            kill_topology(Registry(), NAME)


def count_spans(handle: HeronHandle) -> int:
    """How many spans are kept."""
    return sum(1 for folder in handle.job.home.glob("container-*") for _ in TraceReader(folder).read())


def compare(pairs: Sequence[dict[str, dict[str, Any]]]) -> dict[str, float]:
    """Medians of both ways, and of the ratios of each round."""
    found: dict[str, float] = {}
    for figure in ("rows_per_s", "rows_per_cpu_s"):
        for way in (ALONE, OBSERVED):
            found[f"{way}_{figure}"] = statistics.median(pair[way][figure] for pair in pairs)
        ratios = [pair[OBSERVED][figure] / pair[ALONE][figure] for pair in pairs]
        found[f"{figure}_ratio"] = round(statistics.median(ratios), 4)
        found[f"{figure}_ratio_min"], found[f"{figure}_ratio_max"] = round(min(ratios), 4), round(max(ratios), 4)
    return found


def main() -> None:
    """Run all rounds and print the lines."""
    parser = make_parser(__doc__)
    parser.set_defaults(seconds=15)
    parser.add_argument("--rounds", type=int, default=8, help="how often both are run")
    parser.add_argument("--share", type=float, default=0.01, help="of the batches that are traced")
    options = parser.parse_args()
    if not options.acks:
        parser.error("the rate is that of acked words: leave out --no-acks")
    pairs: list[dict[str, dict[str, Any]]] = []
    for number in range(options.rounds):
        ways = (ALONE, OBSERVED) if number % 2 == 0 else (OBSERVED, ALONE)
        pairs.append({way: run(options, way) for way in ways})
        for figures in pairs[-1].values():
            print(json.dumps({"round": number, **figures}), flush=True)
    print(json.dumps({"rounds": options.rounds, "share": options.share, **compare(pairs)}), flush=True)


if __name__ == "__main__":
    main()
