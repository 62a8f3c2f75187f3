"""Ctrl-C: on the command line at once and with a word, except where something is to be cleared away; and while a thread is awaited.

Ctrl-Z, where the cursor is hidden; and whose turn it is to draw on a terminal.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread, current_thread, main_thread
from types import FrameType

INTERRUPTED = 130
"""The exit code."""

_SHOW_CURSOR, _HIDE_CURSOR = b"\x1b[?25h", b"\x1b[?25l"


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


@contextmanager
def suspendable(terminal: int) -> Iterator[None]:
    """Inside, the cursor of this terminal is hidden, and Ctrl-Z shows it for as long as the process is stopped.

    Elsewhere than in the main thread, and where Ctrl-Z is ignored or somebody's own, nothing is changed.
    """

    def suspend(number: int, frame: FrameType | None) -> None:
        _write(terminal, _SHOW_CURSOR)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # goes on when the process does
        signal.signal(number, suspend)
        if is_foreground(terminal):  # not after `bg`, where the shell has it
            _write(terminal, _HIDE_CURSOR)

    mine = current_thread() is main_thread() and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
    if mine:
        signal.signal(signal.SIGTSTP, suspend)
    try:
        yield
    finally:
        if mine:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)


def is_foreground(terminal: int) -> bool:
    """Whether this process may draw on the terminal: a job behind `&`, or after `bg`, leaves it to its shell."""
    with suppress(OSError):  # it is not the terminal of this session, so no shell waits there
        return os.tcgetpgrp(terminal) == os.getpgrp()
    return True


def _write(file: int, text: bytes) -> None:
    with suppress(OSError):
        os.write(file, text)


def _end(number: int, frame: FrameType | None) -> None:
    for file in (1, 2):
        if os.isatty(file):
            _write(file, _SHOW_CURSOR)
    _write(2, b"error: interrupted\n")
    os._exit(INTERRUPTED)
