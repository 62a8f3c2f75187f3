"""From the first look at a run to its last."""

from __future__ import annotations

import os
import signal

import polars as pl

from ouzel.cli.answer import Nothing
from ouzel.cli.follow import follow, interrupts
from ouzel.cli.screen import Dark
from ouzel.runtime.run import RunState
from tests.cli.fakes import FakeHandle


class Rows(Nothing):
    """An answer that keeps what it is given."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Keep it."""
        self.seen += frame["n"].to_list()


def looks(*counts: int) -> list[list[pl.DataFrame]]:
    """One frame with one number for each look."""
    return [[pl.DataFrame({"n": [count]})] for count in counts]


def test_everything_is_taken_before_the_end() -> None:
    rows = Rows()
    status = follow(FakeHandle([*looks(1, 2), [], *looks(3)]), rows, Dark(), lambda: False)
    assert rows.seen == [1, 2, 3]
    assert status.state is RunState.FINISHED


def test_an_interrupt_stops_the_run_and_takes_what_it_flushes() -> None:
    rows, handle = Rows(), FakeHandle(looks(1, 2, 3, 4))
    status = follow(handle, rows, Dark(), lambda: len(rows.seen) == 2)
    assert handle.stops == 1
    assert rows.seen == [1, 2, 3]
    assert status.state is RunState.STOPPED


def test_signals_are_remembered_and_handlers_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interrupts() as interrupted:
        assert not interrupted()
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupted()
        assert signal.getsignal(signal.SIGTERM) == before[1]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
