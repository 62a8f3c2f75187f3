"""Event time in spouts and bolts of one's own: a window that a watermark closes has all of its rows, whatever breaks; ticks."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import polars as pl
import pytest

import ouzel
from ouzel.errors import TopologyError
from ouzel.planner.api import Batch, Bolt, Collector, Context, Spout, TopologyBuilder
from ouzel.planner.packing import pack
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.faults import lose_link, stall_task
from tests.effort import seeds
from tests.tasks.test_open_batches import task_of

START, MINUTE = datetime(2026, 1, 1), timedelta(minutes=1)
SPOUTS, ROWS, SIZE = 2, 120, 10
LATEST = 5
"""By so many minutes a row may come behind a later one."""


def minutes(index: int) -> list[int]:
    """When the rows of a spout's task happened."""
    random = Random(index)
    return [number - random.randint(0, LATEST) for number in range(ROWS)]


class Readings(Spout):
    """Rows out of order, some at a time, and now and then nothing."""

    def open(self, context: Context) -> None:
        self.index, self.place, self.asked = context.index, 0, 0

    def next_batch(self, collector: Collector) -> bool | None:
        self.asked += 1
        if self.asked % 3 == 0:
            return None
        part = minutes(self.index)[self.place : self.place + 7]
        rows = {
            "id": [self.index * ROWS + self.place + n for n in range(len(part))],
            "at": [START + n * MINUTE for n in part],
        }
        collector.emit(pl.DataFrame(rows), message_id=self.place)
        self.place += len(part)
        return self.place < ROWS

    def watermark(self) -> datetime | None:
        return START + (self.place - LATEST) * MINUTE


class Windows(Bolt):
    """Counts by window, and lets each out when its time has passed. A row that comes again counts once."""

    def open(self, context: Context) -> None:
        self.rows: dict[datetime, set[int]] = {}
        self.passed = datetime.min

    def execute(self, batch: Batch, collector: Collector) -> None:
        for row, at in batch.frame.iter_rows():
            window = START + (at - START) // (SIZE * MINUTE) * (SIZE * MINUTE)
            assert window + SIZE * MINUTE > self.passed, "late"
            self.rows.setdefault(window, set()).add(row)
        collector.ack(batch)

    def advance(self, time: datetime, collector: Collector) -> None:
        assert time > self.passed
        self.passed = time
        self.close_before(time, collector)

    def close_before(self, time: datetime, collector: Collector) -> None:
        for window in sorted(one for one in self.rows if one + SIZE * MINUTE <= time):
            collector.emit(pl.DataFrame({"window": [window], "n": [len(self.rows.pop(window))]}))

    def finish(self, collector: Collector) -> None:
        self.close_before(datetime.max, collector)


class Later(Bolt):
    """Sees what the windows have let out, and time only behind it."""

    def execute(self, batch: Batch, collector: Collector) -> None:
        SEEN.update(dict(batch.frame.iter_rows()))
        collector.ack(batch)

    def advance(self, time: datetime, collector: Collector) -> None:
        TIMES.append(time)
        assert all(window in SEEN for window in EXACT if window + SIZE * MINUTE <= time), "a window behind its time"


EXACT = Counter(
    START + n // SIZE * SIZE * MINUTE for index in range(SPOUTS) for n in minutes(index)
)  # whole minutes, so that // is that of windows
SEEN: dict[datetime, int] = {}
TIMES: list[datetime] = []


def windows(settings: Settings) -> Topology:
    builder = TopologyBuilder("windows", settings)
    builder.set_spout("readings", Readings(), schema(id=int, at=datetime), parallelism=SPOUTS)
    builder.set_bolt("windows", Windows(), schema(window=datetime, n=int)).global_grouping("readings")
    builder.set_bolt("later", Later(), schema()).global_grouping("windows")
    return builder.build()


def test_a_window_that_a_watermark_closes_has_all_of_its_rows(tmp_path: Path) -> None:
    for seed in seeds():
        SEEN.clear()
        TIMES.clear()
        topology = windows(Settings(ack_timeout_ms=1_000))
        run = simulate(topology, pack(topology), tmp_path, seed=seed, faults=[lose_link, stall_task] * (seed % 3))
        assert SEEN == EXACT, f"seed {seed}"
        lost = any("lost" in fault and "lost 0" not in fault for fault in run.faults)
        assert TIMES or lost, (
            f"seed {seed}: time passes while the spouts run, unless what they wait for comes again only at their end"
        )
        assert sorted(TIMES) == TIMES


class Keeper(Bolt):
    """Has what it keeps from its making, not from `open`."""

    def __init__(self) -> None:
        self.counts = Counter[str]()

    def execute(self, batch: Batch, collector: Collector) -> None:
        self.counts.update(batch.frame["id"].cast(pl.String))
        collector.ack(batch)

    def finish(self, collector: Collector) -> None:
        collector.emit(pl.DataFrame({"n": [self.counts.total()]}))


def test_tasks_of_one_process_share_no_attribute() -> None:
    builder = TopologyBuilder("kept")
    builder.set_spout("readings", Readings(), schema(id=int, at=datetime), parallelism=SPOUTS)
    builder.set_bolt("keeper", Keeper(), schema(n=int), parallelism=3).fields_grouping("readings", "id")
    counts = ouzel.table(builder.build(), "memory", of="keeper")["n"]
    assert len(counts) == 3
    assert counts.sum() == SPOUTS * ROWS


class Ticking(Bolt):
    """Counts its ticks."""

    tick_ms = 1_000
    ticks = 0

    def execute(self, batch: Batch, collector: Collector) -> None:
        collector.ack(batch)

    def tick(self, collector: Collector) -> None:
        self.ticks += 1


def test_ticks_come_as_often_as_the_bolt_says() -> None:
    bolt = task_of(Ticking())
    for now in range(0, 5_000, 70):
        bolt.tick(float(now))
    assert bolt.bolt.ticks == 5  # type: ignore[attr-defined]


class Wrong(Readings):
    def watermark(self) -> datetime | None:
        return 5  # type: ignore[return-value]


def test_a_watermark_that_is_no_time_names_the_spout(tmp_path: Path) -> None:
    builder = TopologyBuilder("wrong")
    builder.set_spout("readings", Wrong(), schema(id=int, at=datetime))
    topology = builder.build()
    with pytest.raises(
        TopologyError, match=r"'readings' .* watermark returned .*, which is no datetime; return a datetime, or None"
    ):
        simulate(topology, pack(topology), tmp_path)
