"""Whoever dies over a batch tells his successor, who looks closer; no row is put aside for one death or two."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.runtime.protocol import quarantine
from ouzel.runtime.protocol.quarantine import MemoryNote, Note, Quarantine
from ouzel.runtime.tasks.hand import FileNote


def life(note: Note, batch: int, rows: int, killers: Collection[int]) -> list[int] | None:
    """Handle one batch; the rows handled, or None if that was the end."""
    handled: list[int] = []
    for start, end in Quarantine(note).parts(batch, rows):
        if any(start <= row < end for row in killers):
            return None
        handled += range(start, end)
    return handled


@settings(deadline=None)
@given(st.integers(1, 20_000), st.data())
def test_all_rows_that_kill_are_found_and_no_other(rows: int, data: st.DataObject) -> None:
    killers = data.draw(st.sets(st.integers(0, rows - 1), max_size=4))
    note, lives = MemoryNote(), 1
    while (handled := life(note, 7, rows, killers)) is None:
        lives += 1
        assert lives <= 1 + 5 * len(killers)
    assert handled == [row for row in range(rows) if row not in killers]
    assert life(note, 7, rows, killers) == handled, "a replay kills nobody any more"


def test_a_batch_of_one_row_is_put_aside_after_three_deaths() -> None:
    note = MemoryNote()
    assert [life(note, 7, 1, {0}) for _ in range(4)] == [None, None, None, []]
    assert Quarantine(note).killers(7) == {0: 3}


def test_of_batches_handled_together_each_is_handled_by_itself_after_a_death() -> None:
    note = MemoryNote()
    first = Quarantine(note)
    with first.together([1, 2, 3]):
        second = Quarantine(note)
    assert [batch in second for batch in (1, 2, 3, 4)] == [True, True, True, False]
    assert [list(second.parts(batch, 10_000))[:2] for batch in (1, 2, 3)] == [[(0, 100), (100, 200)]] * 3
    assert not any(batch in second for batch in (1, 2, 3))
    assert not any(batch in Quarantine(note) for batch in (1, 2, 3))


def test_who_is_killed_over_many_batches_suspects_none_for_long() -> None:
    note = MemoryNote()
    for batch in range(50):
        assert life(note, batch, 10, {3}) is None  # killed from outside, whatever it was
        assert life(note, batch, 10, ()) == list(range(10))
    assert note.suspects() == {}


def test_verdicts_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "VERDICTS_KEPT", limit := 16)
    note = MemoryNote()
    for batch in range(limit + 20):
        while life(note, batch, 2, {1}) is None:
            pass
    assert len(note.suspects()) == limit


@pytest.mark.parametrize("rows", [1, 10_000])
def test_a_note_in_a_file_outlives_the_process(tmp_path: Path, rows: int) -> None:
    lives = 1
    while life(FileNote(tmp_path / "hand-1"), 2**64 - 1, rows, {rows // 2}) is None:
        lives += 1
    assert lives == (4 if rows == 1 else 5)
    assert Quarantine(FileNote(tmp_path / "hand-1")).killers(2**64 - 1) == {rows // 2: lives - 1}
