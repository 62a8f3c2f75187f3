"""Partitions that an epoch does not know: when all go back to it they are read from where they began, not from what is committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

from ouzel.connectors import CONNECTORS, memory
from ouzel.connectors.base import always
from ouzel.connectors.reading import Committed, Partition, ReadBatch, ReadState, SourceRequest
from ouzel.runtime.simulator.faults import kill_stateful_task
from ouzel.runtime.simulator.world import World
from ouzel.session import load_text
from tests.simulator.test_epochs import EPOCHS, walk, walk_steps

ROWS, PARTITIONS = 1_200, 4
QUERY = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'memory', 'name' = 'grown', 'partitions' = '4');
CREATE TABLE others (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '10');
CREATE TABLE counts (k BIGINT, many BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO counts SELECT n % 7 AS k, COUNT(*) AS many FROM others GROUP BY n % 7;
SELECT n FROM ticks;"""
"""What is read of ticks is kept nowhere, so how far it was read is committed; what counts the others is there to die."""


class GrowingReader:
    """Reads a share whose rows, up to where it `ends`, may still come."""

    def __init__(self, share: pl.DataFrame, name: str, offset: int, pinned: int | None) -> None:
        self._share, self._name, self._at, self.pinned = share, name, offset, pinned

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """What is there now."""
        there = GrowingSource.ends.get(self._name, self._share.height)
        start, end = self._at, min(self._at + rows, there, there if until is None else until)
        if start >= end:
            return ReadState.END if start == self._share.height else ReadState.WAIT
        self._at = end
        return ReadBatch(self._share[start:end], start, end)

    def close(self) -> None:
        """Nothing is open."""


class GrowingSource(memory.MemorySource):
    """A topic: it has as many partitions as are `there`, keeps what is committed, and begins each as `start` says, as Kafka's group does.

    `ends` are how many rows of a partition have come, `opened` where each was last opened.
    """

    there: ClassVar[int] = PARTITIONS
    start: ClassVar[str] = "committed-or-earliest"
    kept: ClassVar[dict[str, Committed]] = {}
    ends: ClassVar[dict[str, int]] = {}
    opened: ClassVar[dict[str, int]] = {}

    def __init__(self, request: SourceRequest) -> None:
        super().__init__(request)
        self._anew, self._again = request.anew, request.again
        self._first = GrowingSource.there

    def partitions(self) -> Sequence[Partition]:
        """Those that are there now."""
        return super().partitions()[: self.there]

    def reader(self, partition: Partition, offset: int | None) -> GrowingReader:
        """Begin where the group or the options say."""
        share, name = self._share(partition), partition.id
        committed = None if self._anew or "committed" not in self.start else self.kept.get(name)
        begin = committed.offset if committed else self._begin(name, share.height)
        self.opened[name] = begin if offset is None else offset
        return GrowingReader(share, name, self.opened[name], begin if offset is None else None)

    def _begin(self, name: str, height: int) -> int:
        is_new = self._again or int(name) >= self._first
        return self.ends.get(name, height) if self.start.endswith("latest") and not is_new else 0

    def commit(self, places: Mapping[str, Committed]) -> str:
        """Keep them."""
        GrowingSource.kept |= places
        return ""

    def committed(self) -> Mapping[str, Committed]:
        """What is kept of those that are there."""
        kept = self.kept if "committed" in self.start else {}
        return {one.id: kept[one.id] for one in self.partitions() if one.id in kept}


@pytest.fixture(autouse=True)
def _grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MemorySource", GrowingSource)
    assert memory.CONNECTOR.reads
    reads = replace(memory.CONNECTOR.reads, resumes=always, grows=always, at_rest=False, bounded=lambda options: False)
    monkeypatch.setitem(CONNECTORS, memory.CONNECTOR.name, replace(memory.CONNECTOR, reads=reads))
    monkeypatch.setitem(memory.TABLES, "grown", memory.MemoryTable(pl.DataFrame({"n": range(ROWS)})))
    GrowingSource.there, GrowingSource.kept, GrowingSource.ends = PARTITIONS, {}, {}


def world_of(seed: int, start: str) -> World:
    GrowingSource.start = start
    job = load_text(QUERY, Path(), "ticks", EPOCHS)
    return World(job.topology, job.packing, Path(), seed)


def found(world: World) -> list[int]:
    """The rows that the result has."""
    return sorted(n for frame in world.frames.values() for n in frame["n"])


def expected(begins: Mapping[int, int]) -> list[int]:
    """The rows of the partitions from these offsets on."""
    return sorted(n for part, begin in begins.items() for n in range(part, ROWS, PARTITIONS)[begin:])


def take_epoch(world: World) -> None:
    newest = world.epochs.newest.number
    assert world.take_epoch()
    walk(world, lambda world: world.epochs.newest.number > newest)


def lose_state(world: World) -> None:
    """What keeps state dies; all go back to the newest epoch, and open all that there is."""
    generation = world.generation
    GrowingSource.opened.clear()
    kill_stateful_task(world)
    walk(world, lambda world: world.generation > generation and len(GrowingSource.opened) == PARTITIONS)


def read_all(world: World, begins: Mapping[int, int]) -> None:
    GrowingSource.ends = {}
    walk(world, lambda world: len(found(world)) >= len(expected(begins)) or world.failed != "")
    walk_steps(world, 300)
    assert found(world) == expected(begins), world.happened


@pytest.mark.parametrize("start", ["committed-or-earliest", "committed-or-latest", "latest", "earliest"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_partition_that_comes_after_the_last_epoch_is_read_from_its_beginning_when_all_go_back(
    start: str, seed: int
) -> None:
    GrowingSource.there, GrowingSource.ends = 2, {"0": 100, "1": 100, "2": 150, "3": 150}
    begins = {0: 100, 1: 100, 2: 0, 3: 0} if start.endswith("latest") else dict.fromkeys(range(PARTITIONS), 0)
    world = world_of(seed, start)
    walk_steps(world, 100)
    take_epoch(world)
    GrowingSource.there = PARTITIONS
    walk(world, lambda world: GrowingSource.kept.keys() >= {"2", "3"} and GrowingSource.kept["2"].offset == 150)
    lose_state(world)
    assert GrowingSource.opened == {"0": 100, "1": 100, "2": 0, "3": 0}
    read_all(world, begins)


@pytest.mark.parametrize("start", ["committed-or-earliest", "committed-or-latest"])
def test_a_partition_that_had_given_nothing_before_the_epoch_is_read_from_where_the_run_began(start: str) -> None:
    """An earlier run had committed how far it was; nothing came until the epoch."""
    GrowingSource.kept = {str(part): Committed(50) for part in range(PARTITIONS)}
    GrowingSource.ends = dict.fromkeys("0123", 50)
    world = world_of(1, start)
    walk_steps(world, 100)
    take_epoch(world)
    GrowingSource.ends = dict.fromkeys("0123", 150)
    walk(world, lambda world: GrowingSource.kept["0"].offset == 150)
    lose_state(world)
    assert GrowingSource.opened == dict.fromkeys("0123", 50)
    read_all(world, dict.fromkeys(range(PARTITIONS), 50))


def test_a_savepoint_knows_where_a_partition_began_that_had_given_nothing() -> None:
    GrowingSource.kept = {str(part): Committed(50) for part in range(PARTITIONS)}
    GrowingSource.ends = dict.fromkeys("0123", 50)
    world = world_of(1, "committed-or-latest")
    walk_steps(world, 100)
    take_epoch(world)
    kept = [one[-1] for one in world.epochs.newest.chains.values() if one[-1].component == "ticks"]
    offsets = {name: place.offset for one in kept for name, place in one.places.items()}
    assert offsets == dict.fromkeys("0123", 50)
