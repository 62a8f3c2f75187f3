"""Follows a running topology until its input ends or the user stops it."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from ouzel.cli.answer import Answer
from ouzel.cli.screen import Screen
from ouzel.runtime.protocol.messages import ADVICE, RESUMED, UNKNOWN_FIELD
from ouzel.runtime.run import Handle, Status

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that stop a run: Ctrl-C, `kill`, a terminal that closes."""

STOPPING = "stopping: what is on its way is handled first; Ctrl-C once more drops it"

AT_ONCE = frozenset({UNKNOWN_FIELD, RESUMED, ADVICE})
"""Kinds of events that users are told of while the run goes on."""

TELL_SECONDS = 3.0
"""After so long without an end, users are told why nothing is printed."""

WAIT_SECONDS = 0.1
"""Longest time between two polls of the run: how fast Ctrl-C and the status line respond."""


def follow(handle: Handle, answer: Answer, screen: Screen, interrupted: Callable[[], bool]) -> Status:
    """Feed what comes to the answer and the screen until the run has ended; it is stopped once `interrupted` says so. The final status,
    without the columns that the user has been told of; how much a start has read again is told again, with its count.

    Raises:
        KeyboardInterrupt: it was interrupted for the second time.
    """
    draining = ended = False
    told_ms = time.monotonic() + TELL_SECONDS if answer.waits else math.inf
    said: set[str] = set()
    while not ended:
        if time.monotonic() > told_ms:
            told_ms = math.inf
            screen.say(answer.waits)
        if interrupted() and not draining:
            draining = True
            screen.say(STOPPING)
            handle.drain()
        ended = handle.wait_for_results(WAIT_SECONDS)
        _take(handle, answer)
        status = handle.status()
        news = {event.text for event in status.events if event.kind in AT_ONCE} - said
        for text in sorted(news):
            screen.say(text)
        said |= news
        screen.show(status)
    _take(handle, answer)
    status = handle.status()
    return replace(
        status, events=tuple(event for event in status.events if event.kind == RESUMED or event.text not in said)
    )


def _take(handle: Handle, answer: Answer) -> None:
    for frame in handle.results():
        answer.add(frame)


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Inside, the first signal of STOPS is only remembered, the second raises KeyboardInterrupt, the third has its usual effect.

    A SIGHUP that is ignored (nohup) stays ignored.
    """
    seen: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            restore()
            raise KeyboardInterrupt

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.getsignal(number) for number in STOPS}
    if before[signal.SIGHUP] is signal.SIG_IGN:
        del before[signal.SIGHUP]
    for number in before:
        signal.signal(number, remember)
    try:
        yield lambda: bool(seen)
    finally:
        restore()
