"""Whoever dies over a batch tells his successor, who looks closer; no row is put aside for one death or two."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.runtime.protocol import quarantine
from ouzel.runtime.protocol.quarantine import InFlight, InFlightNote, MemoryNote, Quarantine
from ouzel.runtime.tasks.in_flight import FileNote

Part = tuple[int, int]


class Killed(Exception):
    """The process is gone: no code of it runs any more."""


def life(
    note: InFlightNote, batch: int, rows: int, poison: Collection[int], order: Callable[[list[Part]], list[Part]] = list
) -> list[int] | None:
    """Handle one batch; the rows handled, or None if that was the end."""
    quarantine, handled = Quarantine(note), list[int]()
    with suppress(Killed):
        for start, end in order(quarantine.parts(batch, rows)):
            with quarantine.in_flight([batch], start, end):
                if any(start <= row < end for row in poison):
                    raise Killed
                handled += range(start, end)
        quarantine.on_handled(batch)
        return handled
    return None


@settings(deadline=None)
@given(st.integers(1, 20_000), st.data())
def test_all_poison_records_are_found_and_no_other_row(rows: int, data: st.DataObject) -> None:
    poison = data.draw(st.sets(st.integers(0, rows - 1), max_size=4))
    order = data.draw(st.sampled_from([list[Part], lambda parts: parts[::-1]]))
    note, lives = MemoryNote(), 1
    while (handled := life(note, 7, rows, poison, order)) is None:
        lives += 1
        assert lives <= 1 + 5 * len(poison)
    assert sorted(handled) == [row for row in range(rows) if row not in poison]
    assert life(note, 7, rows, poison, order) == handled, "a replay kills nobody any more"


@pytest.mark.parametrize(("order", "deadly"), [(list, 12), (lambda parts: parts[::-1], 5_000)], ids=["first", "last"])
def test_the_note_names_the_rows_that_are_handled_in_whatever_order(
    order: Callable[[list[Part]], list[Part]], deadly: int
) -> None:
    """The parts were once a lazy generator that noted each as it was taken: of a list of them the last one was blamed."""
    note = MemoryNote()
    assert [life(note, 7, 10_000, {12, 5_000}, order) for _ in range(2)] == [None, None]
    left = note.read()
    assert (left.ids, left.end - left.start) == ((7,), 100), "a part, not the whole batch"
    assert left.start <= deadly < left.end
    assert life(note, 7, 10_000, (), order) is not None
    assert note.read() == InFlight(), "nothing is in flight between two batches"


def test_a_batch_of_one_row_is_put_aside_after_three_deaths() -> None:
    note = MemoryNote()
    assert [life(note, 7, 1, {0}) for _ in range(4)] == [None, None, None, []]
    assert Quarantine(note).poison_of(7) == {0: 3}


def test_of_batches_handled_together_each_is_handled_by_itself_after_a_death() -> None:
    note = MemoryNote()
    first = Quarantine(note)
    with first.in_flight([1, 2, 3]):
        second = Quarantine(note)
    assert [second.is_suspected(batch) for batch in (1, 2, 3, 4)] == [True, True, True, False]
    assert [second.parts(batch, 10_000)[:2] for batch in (1, 2, 3)] == [[(0, 100), (100, 200)]] * 3
    for batch in (1, 2, 3):
        second.on_handled(batch)
    assert not any(second.is_suspected(batch) for batch in (1, 2, 3))
    assert not any(Quarantine(note).is_suspected(batch) for batch in (1, 2, 3))


def test_who_is_killed_over_many_batches_suspects_none_for_long() -> None:
    note = MemoryNote()
    for batch in range(50):
        assert life(note, batch, 10, {3}) is None  # killed from outside, whatever it was
        assert life(note, batch, 10, ()) == list(range(10))
    assert note.searches() == {}


def test_verdicts_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "VERDICTS_KEPT", limit := 16)
    note = MemoryNote()
    for batch in range(limit + 20):
        while life(note, batch, 2, {1}) is None:
            pass
    assert len(note.searches()) == limit


@pytest.mark.parametrize("rows", [1, 10_000])
def test_a_note_in_a_file_outlives_the_process(tmp_path: Path, rows: int) -> None:
    lives = 1
    while life(FileNote(tmp_path / "in-flight-1"), 2**64 - 1, rows, {rows // 2}) is None:
        lives += 1
    assert lives == (4 if rows == 1 else 5)
    assert Quarantine(FileNote(tmp_path / "in-flight-1")).poison_of(2**64 - 1) == {rows // 2: lives - 1}
