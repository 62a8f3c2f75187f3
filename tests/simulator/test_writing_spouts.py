"""A spout that writes what it reads, under faults: whatever dies, every row is written, none twice, and none is committed before that."""

from __future__ import annotations

import itertools
from random import Random

import polars as pl
import pytest

from ouzel.connectors.writing import SinkRequest
from ouzel.runtime.protocol.messages import END_OF_TIME
from ouzel.runtime.simulator.faults import (
    fail_sink,
    kill_in_flight,
    kill_stateless_task,
    kill_stream_manager,
    stall_sink,
)
from ouzel.runtime.simulator.world import WALL_ZERO_US, World
from ouzel.runtime.tasks import compiled
from tests.effort import seeds
from tests.simulator.test_pauses import (
    ROWS,
    TICKS,
    assert_nothing_is_on_its_way,
    read,
    resume,
    walk,
    world_of,
)

TEXT = f"""{TICKS}
CREATE TABLE kept (n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO kept SELECT n FROM ticks WHERE n % 3 > 0;
"""
FAULTS = (kill_stateless_task, kill_in_flight, stall_sink, kill_stream_manager)
WHOLE = [n for n in range(ROWS) if n % 3]


class Disk:
    """What is flushed stays, by batch; what a writer has gathered dies with it."""

    flush_rows = 1_000

    def __init__(self, seed: int) -> None:
        self.flush_interval_ms = Random(seed).choice([0, 200])
        self.kept: dict[int, pl.DataFrame] = {}

    def open(self, connector: str, request: SinkRequest) -> Writer:
        return Writer(self)

    @property
    def rows(self) -> list[int]:
        return sorted(n for frame in self.kept.values() for n in frame["n"])


class Writer:
    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.flush_interval_ms, self.flush_rows = disk.flush_interval_ms, disk.flush_rows
        self.waiting: list[tuple[int, pl.DataFrame]] = []

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        self.waiting.append((batch_id, frame))

    def flush(self) -> None:
        for batch_id, frame in self.waiting:
            assert self.disk.kept.setdefault(batch_id, frame).equals(frame), "what comes again is not what it was"
        self.waiting.clear()

    def close(self) -> None:
        pass


@pytest.fixture(params=seeds())
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def disk(seed: int, monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk(seed)
    monkeypatch.setattr(compiled, "open_sink", made.open)
    return made


def committed(world: World) -> int:
    """So many rows are before the offsets that are kept."""
    return sum(place.offset for host in world.hosts.values() for place in host.places.values())


def assert_covers(disk: Disk, rows: int) -> None:
    """What came of so many rows is flushed: two of three, of each of two partitions, and perhaps more."""
    assert len(disk.rows) * 3 >= rows * 2 - 4


@pytest.mark.parametrize("delivery", ["at-least-once", "at-most-once"])
def test_every_row_is_written_once(seed: int, delivery: str, disk: Disk) -> None:
    _, world = world_of(TEXT, seed, delivery)
    world.commit_ms = Random(seed).choice([0.0, 500.0])
    assert {host.task.component for host in world.hosts.values()} == {"ticks"}
    for fault in FAULTS * 2 if delivery == "at-least-once" else (stall_sink, kill_stream_manager):
        walk(world, world.random.randint(1, 60))
        fault(world)
        if delivery == "at-least-once":
            assert_covers(disk, committed(world))
    resume(world)
    assert disk.rows == WHOLE, f"seed={seed}: {world.happened}"
    assert sum(host.machine.metrics().rows_failed for host in world.hosts.values()) == 0
    assert delivery == "at-most-once" or read(world) == ROWS


def test_at_rest_all_that_was_read_is_written(seed: int, disk: Disk) -> None:
    _, world = world_of(TEXT, seed)
    for _ in range(2):
        walk(world, world.random.randint(10, 80))
        stall_sink(world)
        world.deactivate()
        while not world.at_rest:
            walk(world, 1)
        assert_nothing_is_on_its_way(world)
        assert_covers(disk, read(world))
        kill_stateless_task(world)
        world.activate()
    resume(world)
    assert disk.rows == WHOLE


def test_nothing_is_committed_that_a_failing_sink_did_not_flush(seed: int, disk: Disk) -> None:
    _, world = world_of(TEXT, seed)
    walk(world, world.random.randint(1, 60))
    fail_sink(world)
    for _ in itertools.takewhile(lambda _: not world.failed, range(20_000)):
        walk(world, 1)
    assert "no space left" in world.failed
    assert_covers(disk, committed(world))


def test_time_is_told_when_all_before_it_is_flushed(seed: int, disk: Disk) -> None:
    _, world = world_of(TEXT, seed)
    while not world.done:
        walk(world, 1)
        told = [world.hosts[task].machine.metrics().watermark_us for task in world.sinks]
        if None not in told and (passed := min(told)) < END_OF_TIME:
            assert_covers(disk, max(0, (passed - WALL_ZERO_US) // 10_000))
