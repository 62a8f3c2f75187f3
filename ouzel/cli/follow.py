"""Follows a running topology to its end, or to the user's."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ouzel.cli.answer import Answer
from ouzel.cli.screen import Screen
from ouzel.runtime.run import Handle, Status

WAIT_SECONDS = 0.1
"""Longest time between two looks at the run: how fast Ctrl-C and the status line answer."""


def follow(handle: Handle, answer: Answer, screen: Screen, interrupted: Callable[[], bool]) -> Status:
    """Feed what comes to the answer and the screen until the run has ended, or stop it once `interrupted` says so; the final status."""
    ended = False
    while not ended and not interrupted():
        ended = handle.wait(WAIT_SECONDS)
        _take(handle, answer)
        screen.show(handle.status())
    status = handle.status() if ended else handle.stop()
    _take(handle, answer)
    return status


def _take(handle: Handle, answer: Answer) -> None:
    for frame in handle.results():
        answer.add(frame)


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Inside, Ctrl-C and SIGTERM raise nothing but are remembered; a second one does what it always does."""
    seen: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, remember)
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
