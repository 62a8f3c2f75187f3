"""Waiting for what another process, a thread or a server does: looked at again and again, with one rule for the deadline.

No other place in tests sleeps for want of something better (see tests/house/test_waiting.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # servers are started from here too, and are not to import an engine
    import polars as pl

    from ouzel.runtime.run import Handle, Status

LIMIT_S = 120.0
"""What has not come after so long does not come: longer than anything takes on a busy machine, shorter than the limit of a test."""

LOOK_S = 0.01
"""Between two looks."""


def is_reached(reached: Callable[[], object], limit_s: float = LIMIT_S, look_s: float = LOOK_S) -> bool:
    """Wait for a condition; whether it came in time. It is looked at once more at the deadline, however late that is noticed."""
    deadline = time.monotonic() + limit_s
    while not reached():
        if time.monotonic() > deadline:
            return bool(reached())
        time.sleep(look_s)
    return True


def wait_until(
    reached: Callable[[], object],
    limit_s: float = LIMIT_S,
    told: Callable[[], object] = lambda: "it did not come to that",
    look_s: float = LOOK_S,
) -> None:
    """Wait for a condition.

    Raises:
        AssertionError: it did not come within the limit; `told` says what there is instead.
    """
    assert is_reached(reached, limit_s, look_s), f"after {limit_s:g} s: {told()}"


def wait_while_it_runs(
    handle: Handle, reached: Callable[[Status], bool], take: bool = False, told: Callable[[], object] = str
) -> Status:
    """Wait for a status of a run that goes on; the status. What results there are it may `take`, and drop.

    Raises:
        AssertionError: the run has ended before, or it did not come to that.
    """
    seen: list[Status] = []

    def look() -> bool:
        if take:
            handle.results()
        seen[:] = [handle.status()]
        if reached(seen[0]):
            return True
        assert seen[0].state.value in ("starting", "running"), f"it is over before that: {seen[0]}"
        return False

    wait_until(look, told=lambda: (seen, told()))
    return seen[0]


def wait_for_end(handle: Handle) -> Status:
    """Wait for the end of a run: its last status.

    Raises:
        AssertionError: it does not end.
    """
    wait_until(lambda: handle.wait(0.1), told=handle.status)
    return handle.status()


def collect(handle: Handle) -> tuple[list[pl.DataFrame], Status]:
    """Take the results of a run up to its end: they, and its last status.

    Raises:
        AssertionError: it does not end.
    """
    frames: list[pl.DataFrame] = []

    def has_ended() -> bool:
        ended = handle.wait(0.1)
        frames.extend(handle.results())
        return ended

    wait_until(has_ended, told=handle.status)
    return frames + handle.results(), handle.status()


def growth(size: Callable[[], float], seconds: float) -> float:
    """By how much a size grows in that time: what has no end other than time."""
    before = size()
    time.sleep(seconds)
    return size() - before
