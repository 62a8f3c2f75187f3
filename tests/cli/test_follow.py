"""From the first look at a run to its last."""

from __future__ import annotations

import os
import signal

import polars as pl
import pytest

from ouzel.cli.answer import NoAnswer
from ouzel.cli.follow import STOPS, follow, interrupts
from ouzel.cli.run import describe_events
from ouzel.cli.screen import Dark
from ouzel.runtime.protocol.messages import RESUMED, UNKNOWN_FIELD, Event
from ouzel.runtime.run import RunState, Status
from tests.cli.fakes import FakeHandle


class Rows(NoAnswer):
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


class Said(Dark):
    """A screen that keeps what is said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Keep it."""
        self.said.append(text)


def test_a_column_that_no_record_has_is_told_once_and_at_once() -> None:
    event, other = Event(UNKNOWN_FIELD, "none has 'origni'"), Event("late-rows", "late")
    handle, screen = FakeHandle(looks(1, 2, 3), Status(RunState.FINISHED, events=(event, event, other))), Said()
    assert follow(handle, Rows(), screen, lambda: False).events == (other,)
    assert screen.said == ["none has 'origni'"]


def test_where_a_start_goes_on_is_told_at_once_and_counted_at_the_end() -> None:
    events = tuple(
        Event(RESUMED, "the rows of windows that were open are read again", count, task)
        for task, count in enumerate((40, 2))
    )
    handle, screen = FakeHandle(looks(1, 2, 3), Status(RunState.FINISHED, events=events)), Said()
    status = follow(handle, Rows(), screen, lambda: False)
    assert screen.said == ["the rows of windows that were open are read again"]
    assert describe_events(status.events) == ["resumed: the rows of windows that were open are read again (42 in all)"]


def test_an_interrupt_stops_the_run_and_takes_what_it_flushes() -> None:
    rows, handle = Rows(), FakeHandle(looks(1, 2, 3, 4))
    status = follow(handle, rows, Dark(), lambda: len(rows.seen) == 2)
    assert handle.stops == 1
    assert rows.seen == [1, 2, 3, 4]
    assert status.state is RunState.STOPPED


def test_signals_are_remembered_and_handlers_put_back() -> None:
    before = [signal.getsignal(number) for number in STOPS]
    for number in (number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN):
        with interrupts() as interrupted:
            assert not interrupted()
            os.kill(os.getpid(), number)
            assert interrupted()
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
            assert [signal.getsignal(number) for number in STOPS] == before, "the third does what it always does"
        assert [signal.getsignal(number) for number in STOPS] == before


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupts() as interrupted:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not interrupted()
    finally:
        signal.signal(signal.SIGHUP, before)
