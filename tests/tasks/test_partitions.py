"""A spout that comes up anew cuts its batches where it cut them before, however its source gives the rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ouzel.connectors.base import Partition, ReadBatch, ReadState
from ouzel.planner.topology import Task
from ouzel.runtime.tasks.journal import FileJournal, Journal, MemoryJournal
from ouzel.runtime.tasks.partitions import Partitions

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

    def read(self, rows: int) -> ReadBatch | ReadState:
        if self.at == ROWS:
            return ReadState.END
        count = min(rows, self.moods.pop(0) if self.moods else ROWS, ROWS - self.at)
        if not count:
            return ReadState.WAIT
        start, self.at = self.at, self.at + count
        return ReadBatch(pl.DataFrame({"n": range(start, self.at)}), start, self.at)


def batches(moods: list[int], journal: Journal, offsets: dict[str, int], most: int = 1_000) -> list[list[int]]:
    """What one life of a task emits, noting each cut first."""
    (progress,) = Partitions(Task(1, "s", 0), 1, Fitful(list(moods)), offsets, journal).fresh()
    emitted = []
    while len(emitted) < most and (batch := progress.read(17)) is not ReadState.END:
        if isinstance(batch, ReadBatch):
            journal.note(("p", batch.start, batch.end))
            emitted.append(batch.frame["n"].to_list())
    return emitted


moods = st.lists(st.integers(0, 30), max_size=40)


@given(moods, moods, st.integers(0, 12), st.integers(0, 12))
def test_what_was_emitted_is_cut_the_same_again(first: list[int], second: list[int], life: int, acked: int) -> None:
    journal = MemoryJournal()
    before = batches(first, journal, {}, most=life)
    known = before[: min(acked, len(before))]
    offsets = {"p": known[-1][-1] + 1} if known else {}
    after = batches(second, journal, offsets)
    again = before[len(known) :]
    assert after[: len(again)] == again
    assert [n for batch in known + after for n in batch] == list(range(ROWS))


def test_cuts_outlive_the_process_in_a_file(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "cuts-1")
    for cut in (("a b", 0, 10), ("c", 0, 5), ("a b", 10, 12)):
        journal.note(cut)
    journal.forget({"a b": 10})
    journal.note(("c", 5, 9))
    (tmp_path / "cuts-1").open("ab").write(b"9 12")  # the process died in the middle of a line
    assert FileJournal(tmp_path / "cuts-1").cuts() == [("c", 0, 5), ("a b", 10, 12), ("c", 5, 9)]
