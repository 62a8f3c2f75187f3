"""Offsets are not dense, and sources die: a replayed batch holds what it held, so that its id is known and no row counts twice."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors import memory
from ouzel.connectors.reading import ReadBatch, ReadState
from ouzel.runtime.protocol import pieces
from ouzel.runtime.simulator.faults import kill_stateless_task, lose_link
from ouzel.runtime.simulator.simulation import simulate
from ouzel.runtime.simulator.world import World
from ouzel.session import Job, load_text
from tests.effort import seeds

ROWS = 3_000
SETTINGS = (("parallelism", "2"), ("containers", "2"))
COUNTS = "SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM rows_read GROUP BY n % 7 EMIT CHANGES;"
LINES = f"""
CREATE TABLE rows_read (n BIGINT, note VARCHAR)
WITH ('connector' = 'file', 'path' = 'rows-*.csv', 'format' = 'csv', 'bad.record' = 'skip');
{COUNTS}"""
MEMORY = f"CREATE TABLE rows_read (n BIGINT) WITH ('connector' = 'memory', 'name' = 'sparse');\n{COUNTS}"


def kill_source(world: World) -> None:
    """A spout dies, and again as soon as it has begun to replay."""
    spouts = [task for task, host in world.hosts.items() if host.machine.is_spout]
    world.restart(world.random.choice(spouts))
    world.happened.append("a source killed")


FAULTS = [kill_source, kill_source, kill_source, lose_link, kill_stateless_task]


def write_rows(directory: Path) -> None:
    """Every third row is two lines long, every fiftieth cannot be read."""
    for part in range(2):
        lines = []
        for number in range(part, ROWS, 2):
            note = '"a\nb"' if number % 3 == 0 else "ab"
            lines.append(f"{number},{note}\n" if number % 50 else f"x{number},ab\n")
        (directory / f"rows-{part}.csv").write_text("n,note\n" + "".join(lines))


def totals(
    job: Job, directory: Path, seed: int, bad: int = 0, rows: int = ROWS
) -> tuple[list[tuple[int, int, int]], str]:
    run = simulate(job.topology, job.packing, directory, seed=seed, faults=FAULTS)
    story = f"seed {seed}, faults: {run.faults}"
    assert run.sources == (rows, rows - bad, bad), f"counts of sources that died do not add up: {story}"
    frame = pl.concat(run.frames.values())
    folded = frame.group_by("k", "many", "total").agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0)
    return sorted(folded.select("k", "many", "total").rows()), story


def expected(numbers: list[int]) -> list[tuple[int, int, int]]:
    groups = ([number for number in numbers if number % 7 == k] for k in range(7))
    return [(k, len(group), sum(group)) for k, group in enumerate(groups)]


def test_rows_of_several_lines_are_counted_once(tmp_path: Path) -> None:
    write_rows(tmp_path)
    job = load_text(LINES, tmp_path, "lines", SETTINGS)
    right = expected([number for number in range(ROWS) if number % 50])
    for seed in seeds():
        found, story = totals(job, tmp_path, seed, bad=ROWS // 50)
        assert found == right, story


def test_frames_that_are_cut_into_pieces_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE_BYTES", 400)
    write_rows(tmp_path)
    job = load_text(LINES, tmp_path, "lines", (*SETTINGS, ("batch.rows", "100")))
    right = expected([number for number in range(ROWS) if number % 50])
    for seed in seeds():
        found, story = totals(job, tmp_path, seed, bad=ROWS // 50)
        assert found == right, story


class SparseReader:
    """Rows of a topic that was compacted, with control records: row n has an offset of its own, and gaps lie before, between and behind.

    A fresh read ends at the last row given, or behind the gap that follows it, as it happens; what was there once is not there at once.
    """

    lives = 0

    def __init__(self, frame: pl.DataFrame, offset: int) -> None:
        self.frame, self.at = frame, offset
        SparseReader.lives += 1
        self.asked = SparseReader.lives

    @staticmethod
    def offset_of(row: int) -> int:
        return 5 * row + row * row % 3 + 2

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        self.asked += 1
        if self.asked % 3 == 0:
            return ReadState.WAIT
        offsets = [self.offset_of(row) for row in range(self.frame.height)]
        here = [row for row, at in enumerate(offsets) if at >= self.at and (until is None or at < until)]
        some = here[: max(1, rows - self.asked % 5)]
        start = self.at
        if some == here and until is not None:
            self.at = max(start, until)
        elif some:
            self.at = offsets[some[-1]] + 1 + (self.asked % 2 if len(some) < len(here) else 0)
        elif until is None:
            return ReadState.END
        return ReadBatch(self.frame[some[0] : some[-1] + 1] if some else self.frame.clear(), start, self.at)

    def close(self) -> None:
        pass


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setattr(memory, "FrameReader", SparseReader)
    monkeypatch.setitem(memory.TABLES, "sparse", memory.MemoryTable(pl.DataFrame({"n": range(600)})))
    monkeypatch.setattr(SparseReader, "lives", 0)
    return load_text(MEMORY, Path(), "sparse", SETTINGS)


def test_offsets_with_gaps_are_replayed_as_they_were_cut(sparse: Job) -> None:
    for seed in seeds():
        SparseReader.lives = seed
        found, story = totals(sparse, Path(), seed, rows=600)
        assert found == expected(list(range(600))), story
