"""How long pages of `ouzel ui` take with many topologies: a generated OUZEL_HOME, in which nothing runs, with an hour of metrics each.

    python -m bench.pages [TOPOLOGIES [INSTANCES]]

Prints the milliseconds of the first answer and of later ones, of the list, of a topology's page, and of its dashboards.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fastapi.testclient import TestClient

from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.topology import Component, Grouping, GroupingKind, Input, Resources, Topology
from ouzel.runtime.cluster.submitted.folder import About
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import CPU_TIME, STREAM_MANAGER, MetricsSample
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.metrics_file import MetricsWriter
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.tracker.app import create_app

HOUR_S, SAMPLE_S, LATER = 3_600, 10, 5


def make_topology(registry: Registry, name: str, instances: int, now_s: int) -> None:
    """A stopped topology of two components in two containers, with metrics of the last hour."""
    shuffle = (Input("lines", Grouping(GroupingKind.SHUFFLE)),)
    components = (
        Component("lines", instances // 2, (), ()),
        Component("counts", instances - instances // 2, shuffle, ()),
    )
    topology = Topology(name, components)
    tasks = topology.tasks()
    packing = PackingPlan(
        tuple(Container(place + 1, tuple(tasks[place::2]), Resources(2, 2048)) for place in range(min(2, len(tasks))))
    )
    folder = registry.folder(name)
    folder.save(RunDescription(name, folder.path, Path.cwd(), topology, packing), [], About("", None, (), False), [])
    job = folder.begin_run(name, 1)
    for container in packing.containers:
        place = job.home / f"container-{container.id}"
        place.mkdir(exist_ok=True)
        MetricsWriter(place).write(make_samples(container, now_s), now_s)
    registry.put(Submitted(name, job.id, 1, Condition.STOPPED, 0, True))


def make_samples(container: Container, now_s: int) -> Iterator[MetricsSample]:
    """What the tasks and the stream manager of a container said in an hour."""
    for at in range(0, HOUR_S, SAMPLE_S):
        time_s = now_s - HOUR_S + at
        counts = {"__execute-count/default": at * 100, "__emit-count/default": at * 100, CPU_TIME: at * 10**8}
        for one in container.tasks:
            yield MetricsSample(time_s, one.component, one.id, 1, frozenset(), counts, {"__lag": 5.0})
        values = {"__waiting-bytes": 0.0, "__back-pressure-tasks": 0.0}
        yield MetricsSample(time_s, STREAM_MANAGER, container.id, 1, frozenset(), {"__bytes": at}, values)


def measure(client: TestClient, title: str, path: str) -> None:
    """The first answer, and the slowest of some later ones."""
    times = []
    for _ in range(LATER + 1):
        began = time.perf_counter()
        assert client.get(path).status_code == 200, path
        times.append((time.perf_counter() - began) * 1e3)
    print(
        f"{title:<12} first {times[0]:8,.0f} ms   later {min(times[1:]):6,.0f} to {max(times[1:]):6,.0f} ms", flush=True
    )


def main(topologies: int, instances: int) -> None:
    """Make them, and ask for pages."""
    with tempfile.TemporaryDirectory() as home:
        registry, now_s = Registry(Path(home)), int(time.time())
        for place in range(topologies):
            make_topology(registry, f"t{place}", instances, now_s)
        with TestClient(create_app(registry), base_url="http://localhost") as client:
            measure(client, "a topology", "/topology/t0")
            measure(client, "dashboards", "/topology/t0/viz")
            measure(client, "the list", "/pages/rows")
            measure(client, "Prometheus", "/metrics")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*given, *(100, 10)[len(given) :])
