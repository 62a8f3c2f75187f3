"""A spout that comes up anew cuts its batches where it cut them before, however its source gives the rows."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.connectors.reading import Partition, ReadBatch, ReadState, before
from ouzel.errors import ConnectorError
from ouzel.planner.topology import Task
from ouzel.runtime.protocol.lag import Lag
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, Place
from ouzel.runtime.tasks.journal import BatchBoundaries, FileJournal, Journal, MemoryJournal
from ouzel.runtime.tasks.partitions import PartitionProgress, Partitions, TurnQueue, Ways, join_batches

ROWS = 100


class Fitful:
    """A source of one partition that gives as many rows at a time as it likes, or none."""

    def __init__(self, moods: list[int]) -> None:
        self.moods = moods

    def partitions(self) -> list[Partition]:
        return [Partition("p", False)]

    def committed(self) -> dict[str, int]:
        return {}

    def reader(self, partition: Partition, offset: int | None) -> Fitful:
        self.at = offset or 0
        return self

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        if self.at == ROWS:
            return ReadState.END
        count = min(rows, self.moods.pop(0) if self.moods else ROWS, before(until, ROWS) - self.at)
        if not count:
            return ReadState.WAIT
        start, self.at = self.at, self.at + count
        return ReadBatch(pl.DataFrame({"n": range(start, self.at)}), start, self.at)


def batches(
    moods: list[int], journal: Journal, places: dict[str, Place], most: int = 1_000, replays: bool = True
) -> list[list[int]]:
    """What one life of a task emits, noting each cut first."""
    source = Fitful(list(moods))
    (progress,) = Partitions(Task(1, "s", 0), 1, source, places, journal, replays=replays).fresh()
    emitted = []
    while len(emitted) < most and (batch := progress.read(17)) is not ReadState.END:
        if isinstance(batch, ReadBatch):
            emitted.append(batch.frame["n"].to_list())
    return emitted


moods = st.lists(st.integers(0, 30), max_size=40)


@given(moods, moods, st.integers(0, 12), st.integers(0, 12))
def test_what_was_emitted_is_cut_the_same_again(first: list[int], second: list[int], life: int, acked: int) -> None:
    journal = MemoryJournal()
    before = batches(first, journal, {}, most=life)
    known = before[: min(acked, len(before))]
    places = {"p": Place(known[-1][-1] + 1, 0)} if known else {}
    after = batches(second, journal, places)
    again = before[len(known) :]
    assert after[: len(again)] == again
    assert [n for batch in known + after for n in batch] == list(range(ROWS))


@given(moods, st.integers(0, 6), st.integers(0, 6))
def test_at_most_once_what_was_cut_is_not_read_again(moods: list[int], life: int, acked: int) -> None:
    journal = MemoryJournal()
    before = batches(moods, journal, {}, most=life)
    known = before[: min(acked, len(before))]
    places = {"p": Place(known[-1][-1] + 1, 0)} if known else {}
    after = batches([], journal, places, replays=False)
    assert [n for batch in before + after for n in batch] == list(range(ROWS))


def test_cuts_outlive_the_process_in_a_file(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "cuts-1")
    for cut in (BatchBoundaries("a b", 0, 10, 4), BatchBoundaries("c", 0, 5, 5), BatchBoundaries("a b", 10, 12, 0)):
        journal.note(cut)
    journal.forget({"a b": 10})
    journal.note(BatchBoundaries("c", 5, 9, 4))
    (tmp_path / "cuts-1").open("ab").write(b"9 12")  # the process died in the middle of a line
    journal.tell(1_577_836_800_000_000)
    assert FileJournal(tmp_path / "cuts-1").time_us == 1_577_836_800_000_000
    assert FileJournal(tmp_path / "cuts-2").time_us == BEGINNING_OF_TIME
    assert FileJournal(tmp_path / "cuts-1").cuts() == [("c", 0, 5, 5), ("a b", 10, 12, 0), ("c", 5, 9, 4)]


def dying_after(count: int) -> tuple[Journal, Partitions]:
    """What the successor of a task starts from that has sent `count` batches of 17 rows."""
    journal = MemoryJournal()
    batches([], journal, {}, most=count)
    return journal, Partitions(Task(1, "s", 0), 1, Fitful([]), {}, journal)


def test_a_batch_that_was_replayed_is_noted_once() -> None:
    journal, _ = dying_after(3)
    batches([], journal, {}, most=2)
    assert [cut.start for cut in journal.cuts()] == [0, 17, 34]


def test_what_is_read_again_in_parts_keeps_its_places_and_notes() -> None:
    parts = [
        ReadBatch(
            pl.DataFrame({"n": [row]}), row, row + 1, place=lambda _, row=row: f"line {row}", notes=[f"note {row}"]
        )  # type: ignore[misc]
        for row in range(3)
    ]
    whole = join_batches(join_batches(parts[0], parts[1]), parts[2])
    assert whole.place is not None
    assert [whole.place(row) for row in range(3)] == ["line 0", "line 1", "line 2"]
    assert whole.notes == ["note 0", "note 1", "note 2"]


class Latest(Fitful):
    """It begins at its newest record, which is another one tomorrow."""

    def __init__(self, newest: int) -> None:
        super().__init__([])
        self.newest = newest
        self.pinned: int | None = None

    def reader(self, partition: Partition, offset: int | None) -> Latest:
        self.at = self.newest if offset is None else offset
        self.pinned = self.at if offset is None else None
        return self

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        if until is not None and self.at >= until:
            return ReadBatch(pl.DataFrame({"n": []}, {"n": pl.Int64()}), self.at, self.at)
        return super().read(rows, until)


@pytest.mark.parametrize("acked", [None, 45])
def test_a_task_that_dies_before_it_has_read_anything_begins_where_it_began(acked: int | None) -> None:
    journal = MemoryJournal()
    Partitions(Task(1, "s", 0), 1, Latest(40), {}, journal).fresh()
    places = {} if acked is None else {"p": Place(acked, 0)}
    (progress,) = Partitions(Task(1, "s", 0), 1, Latest(90), places, journal).fresh()
    rows: list[int] = []
    while isinstance(batch := progress.read(ROWS), ReadBatch):
        rows += batch.frame["n"].to_list()
    assert rows == list(range(acked or 40, ROWS))


class Growing(Fitful):
    """So many partitions, and each says whose turn it is."""

    count = 4

    def partitions(self) -> list[Partition]:
        return [Partition(f"p-{number}", False, 7 + number) for number in range(self.count)]


@pytest.mark.parametrize("task", range(3))
def test_partitions_are_dealt_by_their_turn_whenever_they_are_found(task: int) -> None:
    source, ways = Growing([]), Ways(grows=True, resumes=False, changelog=False)
    partitions = Partitions(Task(1, "s", task), 3, source, {}, MemoryJournal(), ways=ways)
    found = [progress.partition.id for progress in partitions.fresh()]
    source.count = 8
    found += [progress.partition.id for progress in partitions.fresh()]
    assert found == [f"p-{number}" for number in range(8) if (7 + number) % 3 == task]


def test_a_source_that_has_become_shorter_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _, partitions = dying_after(2)
    monkeypatch.setattr("tests.tasks.test_partitions.ROWS", 33)
    (progress,) = partitions.fresh()
    assert isinstance(progress.read(17), ReadBatch)
    assert progress.read(17) is ReadState.WAIT
    with pytest.raises(
        ConnectorError, match=r"p: offsets 17 to 34 held 17 records .* and now 16 up to 33: the source has"
    ):
        progress.read(17)


def test_a_source_that_gives_other_rows_is_an_error() -> None:
    journal = MemoryJournal()
    journal.note(BatchBoundaries("p", 0, 17, 12))
    (progress,) = Partitions(Task(1, "s", 0), 1, Fitful([]), {}, journal).fresh()
    with pytest.raises(ConnectorError, match=r"p: offsets 0 to 17 held 12 records .* and now 17 up to 17"):
        progress.read(17)


def test_a_partition_that_is_gone_is_an_error_while_it_is_not_wholly_acked() -> None:
    journal = MemoryJournal()
    journal.note(BatchBoundaries("rotated.csv", 30, 40, 10))
    with pytest.raises(ConnectorError, match=r"rotated\.csv is gone, and what it held from offset 30 on"):
        Partitions(Task(1, "s", 0), 1, Fitful([]), {}, journal).fresh()
    assert Partitions(Task(1, "s", 0), 1, Fitful([]), {"rotated.csv": Place(40, 0)}, journal).fresh()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=30))
def test_the_partition_furthest_behind_is_first_in_turn(reads: list[tuple[int, int, bool]]) -> None:
    """Against a sort of all of them before each read."""
    source = Fitful([])
    all_of_them = [
        PartitionProgress(Partition(str(n), True), source, n, MemoryJournal(), Lag(0), watermark_us=n % 2)
        for n in range(4)
    ]
    alive = TurnQueue()
    alive.add(all_of_them)
    for skip, step, ends in reads:
        left = sorted((one for one in all_of_them if not one.ended), key=lambda one: one.watermark_us)
        assert alive.first is (left[0] if left else None)
        with closing(alive.in_turn()) as in_turn:
            for number, one in enumerate(islice(in_turn, skip)):
                assert one is left[number]
                one.watermark_us += step
                one.ended = ends
