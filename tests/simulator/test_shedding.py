"""Load shedding: what is passed over is noted exactly, whatever dies, and everything else is counted once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors import CONNECTORS
from ouzel.connectors.base import Connector
from ouzel.connectors.reading import Committed, Partition, ReadBatch, ReadState, SourceRequest, before
from ouzel.connectors.shedding import Shedding
from ouzel.reconcile.explaining.shed import describe_shed, leave_out, read_shed
from ouzel.reconcile.recording.record import SHED
from ouzel.runtime.simulator.faults import kill_in_flight, kill_stateless_task, kill_stream_manager, lose_link, pause
from ouzel.runtime.simulator.simulation import simulate
from ouzel.runtime.simulator.world import World
from ouzel.session import load_text
from tests.effort import USUAL, seeds
from tests.extending import toy_connector

ROWS = 4_000
LIMITS = Shedding(500, 170)
QUERY = """CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'backlog');
SELECT n, COUNT(*) AS many FROM numbers GROUP BY n EMIT CHANGES;"""

assert toy_connector.CONNECTOR.reads is not None
CONNECTOR = Connector(
    "backlog",
    "Whole numbers that are written while they are read, in bursts.",
    (),
    replace(
        toy_connector.CONNECTOR.reads, source="tests.simulator.test_shedding:Backlog", sheds=lambda options: LIMITS
    ),
)


class Backlog:
    """A partition for each task. So many numbers are `written` when its reader has been asked so often, by whichever life of a task."""

    asked: ClassVar[Counter[str]] = Counter()

    def __init__(self, request: SourceRequest) -> None:
        self._tasks, self._columns = request.tasks, request.columns

    def partitions(self) -> Sequence[Partition]:
        return [Partition(f"p{task}", True) for task in range(self._tasks)]

    def reader(self, partition: Partition, offset: int | None) -> BacklogReader:
        return BacklogReader(int(partition.id[1:]), offset or 0)

    def commit(self, places: Mapping[str, Committed]) -> str:
        return ""

    def committed(self) -> Mapping[str, Committed]:
        return {}

    def close(self) -> None:
        pass


class BacklogReader:
    def __init__(self, task: int, start: int) -> None:
        self.task, self.position = task, start

    @property
    def written(self) -> int:
        return min(ROWS, 90 * Backlog.asked[f"p{self.task}"])

    def lag(self) -> int:
        return self.written - self.position

    def skip(self, end: int) -> None:
        self.position = end

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        Backlog.asked[f"p{self.task}"] += 1
        if self.position == ROWS:
            return ReadState.END
        start, self.position = self.position, before(until, min(self.position + rows, self.written))
        if start == self.position and until != start:
            return ReadState.WAIT
        numbers = [self.task * ROWS + number for number in range(start, self.position)]
        return ReadBatch(pl.DataFrame({"n": numbers}, {"n": pl.Int64()}), start, self.position)

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def backlog() -> Iterator[None]:
    CONNECTORS["backlog"] = CONNECTOR
    yield
    CONNECTORS.pop("backlog")


def kill_spout(world: World) -> None:
    """A task dies that reads."""
    world.restart(world.random.choice([task for task, host in world.hosts.items() if host.machine.is_spout]))


FAULTS = [kill_spout, kill_spout, kill_stateless_task, kill_in_flight, kill_stream_manager, lose_link, pause]


def test_what_was_shed_is_noted_and_all_else_is_counted_once(tmp_path: Path) -> None:
    shed_ever = 0
    for seed in seeds():
        Backlog.asked.clear()
        home = tmp_path / str(seed)
        sets = (("parallelism", "2"), ("containers", "2"), ("shed.path", str(home / SHED)))
        job = load_text(QUERY, home, "shedding", sets)
        done = simulate(job.topology, job.packing, home, seed=seed, faults=FAULTS)
        changes = pl.concat(done.frames.values()).group_by("n", "many").agg(pl.col(WEIGHT).sum())
        table = dict(changes.filter(pl.col(WEIGHT) != 0).select("n", "many").rows())
        shed = read_shed(home).get("numbers", {})
        passed = {int(name[1:]) * ROWS + at for name, spans in shed.items() for span in spans for at in range(*span)}
        shed_ever += len(passed)
        assert table == dict.fromkeys(set(range(2 * ROWS)) - passed, 1), f"{seed=}, faults: {done.faults}"
    assert shed_ever or len(seeds()) < USUAL, "no seed shed anything"


def test_the_batch_leaves_out_exactly_what_was_shed(tmp_path: Path) -> None:
    lines = [
        ["t", "p0", 10, 20],
        ["t", "p0", 10, 20],
        ["t", "p0", 20, 30],
        ["t", "p0", 50, 60],
        ["t", "p1", 0, 5],
        ["u", "p0", 0, 9],
    ]
    (tmp_path / SHED).write_text("".join(json.dumps(line) + "\n" for line in lines))
    shed = read_shed(tmp_path)
    assert shed == {"t": {"p0": [(10, 30), (50, 60)], "p1": [(0, 5)]}, "u": {"p0": [(0, 9)]}}
    ranges = {"t": {"p0": (0, 55), "p1": (5, 8), "p2": (1, 2)}}
    assert leave_out(ranges, shed) == {"t": {"p0": (0, 10, 30, 50, 55, 55), "p1": (5, 8), "p2": (1, 2)}}
    (told,) = describe_shed(ranges, shed)
    assert told == "Shed: 25 records of 't' were passed over for the lag, and the batch job has left out the same."
    assert leave_out(ranges, read_shed(tmp_path / "nowhere")) == ranges
