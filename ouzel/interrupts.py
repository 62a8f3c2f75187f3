"""Ctrl-C on the command line: at once and with a word, except where something is there to be cleared away."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130
"""The exit code."""

_SHOW_CURSOR = b"\x1b[?25h"


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
