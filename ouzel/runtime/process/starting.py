"""Where a process is in its code: a task that does not start, for it imports modules, connects or reads state; one that is killed.

A stack is taken by another thread, or written by a signal handler in C, for the main thread may be in a call that does not return.
"""

from __future__ import annotations

import faulthandler
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable

from ouzel.callers import NOT_THEIRS

START_MS = 30_000.0
"""A task that takes longer to start says what it waits for."""

STACK_SIGNAL = signal.SIGRTMAX - 3
"""The signal at which a process writes into its log where it is."""

CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
"""Signals at which it does so, too, before it ends by them."""

_FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')


class StartWatch:
    """Watches, from another thread, how long the main thread takes to start its task; `tell` is called once if it takes too long."""

    def __init__(self, name: str, now_ms: float, tell: Callable[[str], None]) -> None:
        self._name, self._since_ms, self._tell = name, now_ms, tell
        self._started = self._told = False

    def on_started(self) -> None:
        """The task has started."""
        self._started = True

    def is_late(self, now_ms: float) -> bool:
        """Whether the task is late; when it is so first, say what it waits for: the whole stack into the log, and the line to the user."""
        late = not self._started and now_ms - self._since_ms >= START_MS
        if late and not self._told:
            self._told = True
            self._say()
        return late

    def _say(self) -> None:
        ident = threading.main_thread().ident
        frame = None if ident is None else sys._current_frames().get(ident)
        stack = traceback.extract_stack(frame)
        where = place_in([(one.filename, one.lineno or 0, one.name) for one in reversed(stack)])
        print("not started yet:", *stack.format(), sep="\n", file=sys.stderr, flush=True)
        seconds = f"{START_MS / 1e3:g} s"
        self._tell(f"{self._name} has not started within {seconds}: it waits {where}; the whole stack is in its log")


def place_in(stack: list[tuple[str, int, str]]) -> str:
    """Where a stack, the innermost call first, is in the user's code, and if it is not, where it is."""
    theirs = [one for one in stack if not one[0].startswith(NOT_THEIRS)]
    file, line, name = [*theirs, *stack, ("somewhere", 0, "?")][0]
    return f"in {name} ({file}:{line})"


def write_stack_when_asked() -> None:
    """From now on this process writes its stack into its log at a crash, and when it is sent STACK_SIGNAL, whatever it is doing."""
    log = os.dup(2)  # which a function may close, or take for something else
    faulthandler.enable(log, all_threads=False)
    faulthandler.register(STACK_SIGNAL, log, all_threads=True)


def parse_place(log: str) -> str:
    """Where the process was that wrote its stack into this text; empty if it did not."""
    _, _, stack = log.rpartition("(most recent call first):\n")
    frames = [(found[1], int(found[2]), found[3]) for found in map(_FRAME.fullmatch, stack.splitlines()) if found]
    return place_in(frames) if frames else ""
