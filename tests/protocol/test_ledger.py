"""The ledger: a frame is remembered until all its roots are settled, and no longer."""

from __future__ import annotations

import polars as pl

from ouzel.runtime.protocol.ledger import EPOCH_MEMORY, Ledger
from ouzel.runtime.protocol.messages import Data, Root

FRAME = pl.DataFrame({"word": ["a"]})


def frame(number: int, *roots: Root) -> Data:
    return Data(0, 1, 2, number, roots, FRAME)


def test_a_replay_is_recalled_with_what_was_emitted_for_it() -> None:
    ledger = Ledger()
    output = frame(99)
    ledger.note([frame(7, Root(1, 1, 0, 1))], [output])
    entry = ledger.recall(frame(7, Root(1, 1, 1, 1)))
    assert entry is not None
    assert entry.outputs == [output]
    assert ledger.recall(frame(8, Root(1, 1, 1, 1))) is None


def test_it_forgets_what_is_settled() -> None:
    ledger = Ledger()
    for number in range(1, 10_001):
        ledger.note([frame(number, Root(1, number, 0, max(1, number - 10)))], [])
    assert len(ledger) <= 75
    assert ledger.recall(frame(9_995, Root(1, 9_995, 1, 9_990))) is not None
    assert ledger.recall(frame(5, Root(1, 5, 1, 9_990))) is None


def test_forgetting_keeps_pace_with_notes_of_many_frames() -> None:
    ledger = Ledger()
    for note in range(1, 201):
        numbers = range(200 * note, 200 * note + 200)
        ledger.note([frame(number, Root(1, number, 0, max(1, number - 300))) for number in numbers], [])
    assert len(ledger) <= 300 + 200


def test_a_holder_that_fell_silent_stops_nobody_else_from_being_forgotten() -> None:
    ledger = Ledger()
    for number in range(1, 5):
        ledger.note([frame(number, Root(2, number, 0, 1))], [])
    for number in range(1, 10_001):
        ledger.note([frame(1_000 + number, Root(1, number, 0, max(1, number - 10)))], [])
    assert len(ledger) <= 150
    assert ledger.recall(frame(2, Root(2, 2, 1, 1))) is not None


def test_what_came_before_a_holders_crash_is_remembered_for_a_while() -> None:
    ledger = Ledger()
    ledger.note([frame(7, Root(1, 5, 0, 5))], [])
    first = 1 << 32
    ledger.note([frame(8, Root(1, first + 1, 0, first + 1))], [])
    assert ledger.recall(frame(7, Root(1, first + 2, 0, first + 1))) is not None, "its new root is not settled yet"
    for number in range(3, EPOCH_MEMORY + 200):
        ledger.note([frame(1_000 + number, Root(1, first + number, 0, first + number))], [])
    assert len(ledger) < 100
