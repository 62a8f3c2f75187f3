"""How fast the pages of `ouzel ui` are over many topologies. One JSON line a page.

    python -m bench.pages --topologies 100 --instances 1000

Makes an OUZEL_HOME of so many topologies that run, as far as a reader can tell: their records are held, each process in their
tables is this one, their metrics go back `--minutes`, and a topology master speaks for each, twice a second. Together they have
`--instances`, and the first one, `large`, has as many by itself. `ouzel ui` is then a process of its own. `first_ms` is the first
answer, which reads all histories; `p50_ms` and `p99_ms` are those of later ones, by HTTP. With Chromium, `paint_ms` is the first
contentful paint, the median of as many visits, `whole_ms` when all of the page is there, and `long_ms` the longest task of its main
thread in ten seconds in which the page keeps itself live.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import grpc
import httpx2

from ouzel.planner.packing import pack
from ouzel.planner.topology import Component, Grouping, GroupingKind, Input, Topology
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.cluster.submitted.folder import About
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import COUNT_NAMES, CPU_TIME, STREAM_MANAGER, MetricsSample
from ouzel.runtime.process.job import KEY, RunDescription
from ouzel.runtime.process.leading import MasterNote, leader_path
from ouzel.runtime.process.life import start_time
from ouzel.runtime.process.metrics_file import MetricsWriter, sample_interval_s
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterServicer, add_TopologyMasterServicer_to_server
from tests.servers.waiting import wait_until
from tests.tracker.browser import CHROMIUM, Browser

RATE, SAYS_S, LIVE_S = 1_000, 0.5, 10
PAINT = "performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint')?.startTime"
WHOLE = "performance.getEntriesByType('navigation')[0]?.domContentLoadedEventEnd"
LONG_TASKS = """new Promise((tell) => {
  let longest = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) longest = Math.max(longest, one.duration); })
    .observe({ type: "longtask", buffered: false });
  setTimeout(() => tell(longest), %d);
})"""


class MadeMaster(TopologyMasterServicer):
    """Speaks for all topologies."""

    def __init__(self) -> None:
        self._ends = Event()

    def Watch(self, request: Any, context: Any) -> Iterator[wire_pb2.TopologyStatus]:
        """How the one that is asked for stands."""
        began = time.time()
        while context.is_active() and not self._ends.wait(SAYS_S):
            now = time.time()
            yield wire_pb2.TopologyStatus(
                state="running", rows_in=int((now - began) * RATE), lag=12, watermark_us=int(now * 1e6)
            )

    def close(self) -> None:
        """Say no more."""
        self._ends.set()


def made_topology(name: str, instances: int) -> Topology:
    """A spout and two bolts."""
    spouts = max(1, instances // 4)
    counts = max(1, (instances - spouts) // 2)
    sinks = max(1, instances - spouts - counts)
    reads = [(Input(one, Grouping(GroupingKind.SHUFFLE)),) for one in ("lines", "counts")]
    parts = (
        Component("lines", spouts, (), ()),
        Component("counts", counts, reads[0], ()),
        Component("out", sinks, reads[1], ()),
    )
    return Topology(name, parts)


def make(registry: Registry, name: str, instances: int, address: str, minutes: int) -> LocalState:
    """A topology that seems to run; what holds its leadership."""
    topology, folder, run = made_topology(name, instances), registry.folder(name), f"{name}-1"
    home = folder.run(run)
    job = RunDescription(run, home, registry.home, topology, pack(topology))
    folder.save(job, [], About("", None, (), False), [])
    home.mkdir(mode=0o700, parents=True)
    shutil.copy2(folder.submitted / KEY, home / KEY)
    job.save()
    registry.put(Submitted(name, run, 1, Condition.RUNNING, 0, True))
    assert registry.keep(name)
    for container in job.containers:
        fill_container(job, container, minutes)
    state = LocalState(home / "state")
    state.lead(leader_path(run), MasterNote.of_this_process("topology-master", address).data())
    return state


def fill_container(job: RunDescription, container: int, minutes: int) -> None:
    """Its table of processes and its metrics."""
    folder = job.home / f"container-{container}"
    folder.mkdir(mode=0o700, exist_ok=True)
    tasks = list(job.tasks_in(container))
    table, this = ProcessTable(folder), ProcessEntry(os.getpid(), start_time(os.getpid()), 0)
    names = [f"instance-{task.id}" for task in tasks]
    for name in [*names, *(("stream-manager", "metrics-manager") if tasks else ("topology-master",))]:
        table.note(name, this)
    table.write()
    writer, now_s = MetricsWriter(folder), int(time.time())
    for time_s in range(now_s - 60 * minutes, now_s, sample_interval_s(len(tasks))) if tasks else ():
        rows = (time_s - now_s + 60 * minutes) * RATE
        counts = {COUNT_NAMES["rows_in"]: rows, COUNT_NAMES["rows_out"]: rows, CPU_TIME: rows * 100_000}
        samples = [
            MetricsSample(time_s, task.component, task.id, 0, frozenset(), counts, {"__lag": 3.0}) for task in tasks
        ]
        bytes_sent = {"__frames": rows // 100, "__bytes": rows * 10}
        writer.write(
            [*samples, MetricsSample(time_s, STREAM_MANAGER, container, 0, frozenset(), bytes_sent, {})], time_s
        )


@contextmanager
def made_home(topologies: int, instances: int, minutes: int) -> Iterator[Registry]:
    """All topologies, as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="ouzel-pages-") as folder:
        registry, master = Registry(Path(folder)), MadeMaster()
        server = grpc.server(ThreadPoolExecutor(2 * topologies + 8))
        add_TopologyMasterServicer_to_server(master, server)  # type: ignore[no-untyped-call]
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        sizes = {"large": instances} | {
            f"made{number:03}": max(3, instances // topologies) for number in range(1, topologies)
        }
        held = [make(registry, name, size, address, minutes) for name, size in sizes.items()]
        try:
            yield registry
        finally:
            master.close()
            for state in held:
                state.close()
            server.stop(None).wait()


@contextmanager
def served(registry: Registry) -> Iterator[str]:
    """The address of `ouzel ui` over them."""
    environment = {**os.environ, "OUZEL_HOME": str(registry.home)}
    command = [sys.executable, "-m", "ouzel", "ui", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield re.findall(r"http://\S+", server.stdout.readline())[0]
        server.send_signal(signal.SIGINT)


def ask(address: str, times: int) -> dict[str, float]:
    """How long answers take."""
    took = []
    with httpx2.Client(timeout=600) as client:
        for _ in range(times + 1):
            began = time.perf_counter()
            answer = client.get(address)
            took.append((time.perf_counter() - began) * 1e3)
            assert answer.status_code == 200, answer.text
    later = sorted(took[1:])
    shown = {"first_ms": took[0], "p50_ms": statistics.median(later), "p99_ms": later[int(0.99 * (len(later) - 1))]}
    return {name: round(value, 1) for name, value in shown.items()} | {"bytes": len(answer.content)}


def paint(address: str, times: int) -> dict[str, float]:
    """When a browser has painted it first, and how long its main thread is busy at once while the page is live."""
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder) / "browser")
        try:
            browser.look(1440, "light")
            visits = [visit(browser, f"{address}?visit={number}") for number in range(times)]
            longest = float(browser.value(LONG_TASKS % (LIVE_S * 1_000)))
            assert browser.said == [], browser.said
        finally:
            browser.close()
    painted, whole = zip(*visits, strict=True)
    shown = {"paint_ms": statistics.median(painted), "paint_max_ms": max(painted), "whole_ms": statistics.median(whole)}
    shown["long_ms"] = longest
    return {name: round(value, 1) for name, value in shown.items()}


def visit(browser: Browser, address: str) -> tuple[float, float]:
    """Milliseconds from when it was asked for to its first contentful paint, and until all of it is there."""
    browser.show(address)
    at = address.partition("?")[2]
    wait_until(lambda: browser.value(f"location.search === '?{at}' && {PAINT} !== undefined && {WHOLE} > 0"))
    return float(browser.value(PAINT)), float(browser.value(WHOLE))


def run() -> None:
    """Read the command line, and measure each page."""
    parser = argparse.ArgumentParser(prog="bench.pages")
    parser.add_argument("--topologies", type=int, default=100)
    parser.add_argument("--instances", type=int, default=1_000, help="of all together, and of `large` by itself")
    parser.add_argument("--minutes", type=int, default=30, help="of metrics")
    parser.add_argument("--times", type=int, default=20, help="answers that are timed, a page")
    options = parser.parse_args()
    with made_home(options.topologies, options.instances, options.minutes) as registry, served(registry) as address:
        names = registry.names()
        for page in ("", "pages/rows", f"topology/{names[-1]}", "topology/large", "topology/large/viz", "metrics"):
            figures: dict[str, object] = {
                "engine": "ouzel",
                "workload": "pages",
                "page": f"/{page}",
                **ask(address + page, options.times),
            }
            if CHROMIUM is not None and page not in ("pages/rows", "metrics"):
                figures |= paint(address + page, options.times)
            print(json.dumps({**figures, **vars(options)}), flush=True)


if __name__ == "__main__":
    run()
