"""Ctrl-C: on the command line at once and with a word, except where something is to be cleared away; and while a thread is awaited."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from types import FrameType

INTERRUPTED = 130
"""The exit code."""

_SHOW_CURSOR = b"\x1b[?25h"


class AwaitedThread(Thread):
    """A daemon whose end is awaited by a thread that Ctrl-C may interrupt.

    After a KeyboardInterrupt in `Thread.join` Python (before 3.13) takes the thread for ended, so whoever then stops what it does would
    not wait for it.
    """

    def __init__(self, target: Callable[[], None], name: str) -> None:
        super().__init__(target=target, name=name, daemon=True)
        self._over = Event()

    def run(self) -> None:
        """See Thread."""
        try:
            super().run()
        finally:
            self._over.set()

    def join(self, timeout: float | None = None) -> None:
        """See Thread; it has been started."""
        self._over.wait(timeout)

    def is_alive(self) -> bool:
        """See Thread."""
        return self.ident is not None and not self._over.is_set()


def end_at_once() -> None:
    """From now on Ctrl-C ends this process at once: what is imported and compiled leaves nothing behind. Where it is ignored, it stays so.

    An exception would be raised wherever Python is, also where only a traceback can come of it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, Ctrl-C is a KeyboardInterrupt: what was begun is cleared away."""
    ends = signal.getsignal(signal.SIGINT) is _end
    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    for file in (1, 2):
        if os.isatty(file):
            with suppress(OSError):
                os.write(file, _SHOW_CURSOR)
    with suppress(OSError):
        os.write(2, b"error: interrupted\n")
    os._exit(INTERRUPTED)
