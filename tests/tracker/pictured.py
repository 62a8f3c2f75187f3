"""What the pictures of docs/ui.md show: topologies of the planner, and figures and times of them that are the same in each run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path

from ouzel import session
from ouzel.compiler.types import BIGINT, TIMESTAMP, VARCHAR, Field, Schema
from ouzel.compiler.written import WrittenQuery
from ouzel.explain.written import find_written
from ouzel.job import Job
from ouzel.planner.packing import pack
from ouzel.planner.topology import Component, Topology
from ouzel.reconcile import Class, Reconciliation
from ouzel.reconcile.comparing.lineage import DAY_US, Lineage
from ouzel.reconcile.comparing.timeline import Timeline
from ouzel.reconcile.reconciliation import Difference
from ouzel.reconcile.recording.record import RunRecord
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.task_metrics import (
    COLLECTING,
    COLLECTIONS,
    COMPLETE_COUNT,
    COMPLETE_TIME,
    CONTAINER,
    COUNT_NAMES,
    CPU_TIME,
    MEMORY,
    STATE_BYTES,
    STATE_KEYS,
    STATE_ROWS,
    STREAM_MANAGER,
    UPTIME,
    MetricsSample,
)
from ouzel.runtime.process.job import MASTER_CONTAINER, RunDescription
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.runtime.protocol.cluster.submitted import ALIVE, Condition, Submitted
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import RunState, Status
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.metrics.rates import EMIT_COUNT
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

EXAMPLES = Path(__file__).parents[2] / "sql_examples"

NOW = datetime(2026, 3, 1, 14, 3, 20, tzinfo=UTC)
NOW_S = int(NOW.timestamp())
"""When the pictures are taken, whenever they are."""

BEGAN_S, STEP_S = NOW_S - 4_000, 10
"""From when on instances have said how they are, and how often."""

PAYMENTS = """
SET 'parallelism' = '2';
SET 'containers' = '3';
CREATE TABLE orders (id BIGINT, city VARCHAR, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');
CREATE TABLE payments (id BIGINT, ts TIMESTAMP(3), paid DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'payments', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');
SELECT o.city, COUNT(*) AS payments, SUM(p.paid) AS paid
FROM orders o JOIN payments p ON o.id = p.id AND p.ts BETWEEN o.ts AND o.ts + INTERVAL '1' HOUR
GROUP BY o.city;
"""


@dataclass(frozen=True)
class Pictured:
    """One topology, and how it stands.

    Attributes:
        name: by which it was submitted.
        topology: the planner's.
        condition: how it stands.
        since: how long it stands so.
        rate: rows that a task of it reads a second, about.
        epoch: its newest; 0 if it makes none.
        events: what has happened.
        text: of its query.
    """

    name: str
    topology: Topology
    condition: Condition
    since: timedelta
    rate: float
    epoch: int = 0
    events: tuple[Event, ...] = ()
    text: str = ""

    @property
    def snapshot(self) -> TopologySnapshot:
        """As the tracker sees it."""
        run = f"{self.name}-1"
        home = Path("/none") / run
        job = RunDescription(run, home, home, self.topology, pack(self.topology), detached=True)
        record = Submitted(self.name, run, 1, self.condition, micros(NOW - self.since), goes_on=True)
        is_alive = self.condition in ALIVE
        processes = {number: processes_of(job, number) for number in job.containers}
        running = {number: frozenset(entries if is_alive else ()) for number, entries in processes.items()}
        return TopologySnapshot(
            record, self.condition, job, home, "somebody", "here", self._status(), processes, running
        )

    def _status(self) -> Status:
        if self.condition not in ALIVE:
            return Status(RunState(self.condition.value), rows_in=9_120_544, lag=0, events=self.events)
        behind = timedelta(seconds=6) if self.condition is Condition.RUNNING else timedelta(minutes=25)
        return Status(
            RunState(self.condition.value), lag=214 if self.rate else 81_350, watermark_us=micros(NOW - behind), events=self.events
        )  # fmt: skip


def processes_of(job: RunDescription, container: int) -> dict[str, ProcessEntry]:
    """The processes of one container, by name."""
    own = "topology-master" if container == MASTER_CONTAINER else "stream-manager"
    names = [own, "metrics-manager", *(f"instance-{task.id}" for task in job.tasks_in(container))]
    return {name: ProcessEntry(70 + place, 1, 0) for place, name in enumerate(names)}


def micros(at: datetime) -> int:
    """The time in microseconds since 1970."""
    return int(at.timestamp()) * 1_000_000


def make_pictured() -> list[Pictured]:
    """All topologies of the pictures, by name; `payments` is the one whose page is shown."""
    late = Event("late", "a row for a window that is closed", 12, 12)
    payments = session.load_text(PAYMENTS, EXAMPLES, "payments")
    carriers, routes, words = (
        session.load(EXAMPLES / f"{name}.sql") for name in ("late_carriers", "worst_routes", "word_count")
    )
    day = timedelta(days=1)

    def pictured(
        job: Job, condition: Condition, since: timedelta, rate: float, epoch: int = 0, *events: Event
    ) -> Pictured:
        name = {"late_carriers": "carriers", "worst_routes": "routes", "word_count": "words"}.get(
            job.topology.name, "payments"
        )
        return Pictured(name, job.topology, condition, since, rate, epoch, events, job.program.text)

    return [
        pictured(carriers, Condition.PAUSED, timedelta(minutes=25), 0.0, 5_210),
        pictured(payments, Condition.RUNNING, 3 * day, 2_400.0, 25_921, late),
        pictured(routes, Condition.FINISHED, 2 * day, 0.0),
        pictured(words, Condition.RUNNING, day / 2, 61_000.0, 4_318),
    ]


class PicturedWatcher(TopologyWatcher):
    """Sees those topologies, which never change.

    Args:
        registry: of a folder that holds their epochs, and reconciliations.
    """

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self._all = {one.name: one for one in make_pictured()}
        self._made = {name: make_history(one) for name, one in self._all.items()}
        for one in self._all.values():
            keep_epochs(registry, one)

    def snapshots(self, *, with_processes: bool = True) -> Iterator[TopologySnapshot]:
        """All, by name."""
        return (one.snapshot for one in self._all.values())

    def snapshot(self, name: str, *, with_processes: bool = True) -> TopologySnapshot:
        """One of them."""
        return self._all[name].snapshot

    def read_written(self, snapshot: TopologySnapshot) -> WrittenQuery:
        """Its query."""
        one = self._all[snapshot.name]
        return find_written(one.topology, one.text)

    def history(self, snapshot: TopologySnapshot) -> History:
        """What its instances have said."""
        return self._made[snapshot.name]


def keep_epochs(registry: Registry, one: Pictured) -> None:
    """Its newest epochs, one each ten seconds; none while it is paused."""
    run = registry.folder(one.name).run(f"{one.name}-1")
    place = replace(one.snapshot.job, home=run).checkpoints
    tasks = tuple(TaskFiles(task.component, task.index, ()) for task in one.topology.tasks())
    last = NOW if one.condition is Condition.RUNNING else NOW - one.since
    for age in range(min(5, one.epoch)):
        made_us = micros(last - timedelta(seconds=4 + 10 * age))
        CheckpointStore(place).complete(Manifest(one.epoch - age, one.name, 0, made_us, tasks))


def make_history(one: Pictured) -> History:
    """Of a topology: what it reads swells and falls, and lag with it."""
    history, snapshot = History(), one.snapshot
    tasks = [
        (part, task.id)
        for part in one.topology.components
        for task in one.topology.tasks()
        if task.component == part.name
    ]
    containers = [each.id for each in snapshot.job.packing.containers]
    for time_s in range(BEGAN_S, NOW_S + 1, STEP_S):
        history.add(sample_of(part, task, one.rate, time_s) for part, task in tasks)
        history.add(sample for number in containers for sample in samples_of_container(number, one.rate, time_s))
    return history


def tide(time_s: int, place: int) -> float:
    """Between 0.6 and 1.4: how much comes at a time, at one of several places."""
    return 1 + 0.3 * math.sin(time_s / 500 + place) + 0.1 * math.sin(time_s / 47 + 2 * place)


@cache
def tides(place: int) -> dict[int, float]:
    """By time, the sum of a place's tides up to then, times their seconds."""
    times = range(BEGAN_S, NOW_S + 1, STEP_S)
    return dict(zip(times, accumulate(STEP_S * tide(at, place) for at in times), strict=True))


def total(rate: float, time_s: int, place: int) -> int:
    """What has come by then; it grows by `rate`, more or less, a second."""
    return int(rate * tides(place)[time_s])


def sample_of(part: Component, task: int, rate: float, time_s: int) -> MetricsSample:
    """What a task says."""
    rows, cost = total(rate, time_s, task), 1_000_000_000 // 7_000 if part.is_spout else 1_000_000_000 // 4_800
    counts = dict.fromkeys(COUNT_NAMES.values(), 0)
    counts |= {EXECUTE_COUNT: rows, EMIT_COUNT: rows, CPU_TIME: rows * cost if rate < 10_000 else rows * 9_000}
    counts |= {COLLECTIONS: time_s // 30, COLLECTING: 4 * time_s // 30}
    values: dict[str, float] = {
        MEMORY: (88 << 20) + (3 << 20) * tide(time_s, task + 5),
        UPTIME: float(time_s - BEGAN_S),
    }
    if not part.is_spout:
        keys = int(rate * (time_s - BEGAN_S) / 100)
        values |= {f"{STATE_KEYS}1 Join": keys, f"{STATE_ROWS}1 Join": 3 * keys, f"{STATE_BYTES}1 Join": 260 * keys}
        return MetricsSample(time_s, part.name, task, 1, frozenset(), counts, values)
    counts |= {COMPLETE_COUNT: rows, COMPLETE_TIME: sum_of_times(rows, task)}
    lag = max(0.0, 900 * (tide(time_s, task) - 1))
    values |= {"__lag": round(lag), "__watermark-ms": 1_000.0 * (time_s - 6) - 1_500 * tide(time_s, task + 3)}
    return MetricsSample(time_s, part.name, task, 1, frozenset(), counts, values)


def sum_of_times(rows: int, place: int) -> int:
    """Microseconds from emit to ack, of all rows together."""
    return rows * (14_000 + 900 * place)


def samples_of_container(number: int, rate: float, time_s: int) -> list[MetricsSample]:
    """What a stream manager, and all processes of its container, say."""
    frames = total(rate / 500, time_s, number)
    counts = {"__frames": frames, "__bytes": frames * 41_000, "__dropped-frames": 0}
    waiting = {"__waiting-bytes": 64_000 * tide(time_s, number), "__back-pressure-tasks": 0.0}
    memory = (310 << 20) + (24 << 20) * tide(time_s, number)
    return [
        MetricsSample(time_s, STREAM_MANAGER, number, 1, frozenset(), counts, waiting),
        MetricsSample(
            time_s, CONTAINER, number, 1, frozenset(), {CPU_TIME: total(1.1e9, time_s, number)}, {MEMORY: memory}
        ),
    ]


CARRIERS = Schema(
    (
        Field("week_start", TIMESTAMP),
        Field("carrier", VARCHAR),
        Field("arrivals", BIGINT),
        Field("late_over_an_hour", BIGINT),
        Field("miles", BIGINT),
    )
)


def make_reconciliation() -> Reconciliation:
    """Two weeks of two carriers lack rows that came late; all others agree."""
    first = datetime(2013, 1, 1)
    late = tuple(
        Difference(
            Class.LATE, ("arrivals", "miles"), (week, carrier, arrivals, 61, 900_410), (week, carrier, arrivals + 1, 61, 901_115)
        )
        for week, carrier, arrivals in ((first + timedelta(days=70), "UA", 1_131), (first + timedelta(days=168), "B6", 1_046))
    )  # fmt: skip
    slices = tuple(int(place in (10, 24)) for place in range(53))
    since_us = (first - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    return Reconciliation(
        RunRecord("late_carriers", "", "", "heron", "at-least-once", {}),
        "late_carriers",
        Lineage(CARRIERS, ("week_start", "carrier"), "week_start"),
        matched=836,
        stream_rows=838,
        batch_rows=838,
        counts={Class.LATE: len(late)},
        differences=None,  # type: ignore[arg-type]  # rows in Spark, which the page does not ask for
        samples={Class.LATE: late},
        timeline=Timeline(since_us, 7 * DAY_US, 53, {Class.LATE: slices}),
        topology="",
        job="",
    )
