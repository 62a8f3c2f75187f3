"""Standard output, blocking: a slow reader slows the run down instead of filling the memory."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable

WAIT_MS = 100

PATIENCE_MS = 5_000
"""Once the run is interrupted, a reader that does not read is waited for so long in total."""


class StandardOutput:
    """Writes text to standard output; `interrupted` says whether the user wants the run to stop."""

    def __init__(self, interrupted: Callable[[], bool] = lambda: False) -> None:
        self._interrupted = interrupted
        self._waited_ms = 0

    def write(self, text: str) -> None:
        """Write all of the text.

        Raises:
            BrokenPipeError: the reader is gone.
            KeyboardInterrupt: the run is interrupted, and the reader does not read.
        """
        sys.stdout.flush()
        try:
            descriptor = sys.stdout.fileno()
        except (OSError, ValueError):  # no file stands behind it, as in a test
            sys.stdout.write(text)
            return
        left = memoryview(text.encode(sys.stdout.encoding, "backslashreplace"))
        while left:
            self._wait(descriptor)
            left = left[os.write(descriptor, left[: _most(descriptor)]) :]

    def _wait(self, descriptor: int) -> None:
        """Return when something can be written without being blocked."""
        poller = select.poll()
        poller.register(descriptor, select.POLLOUT)
        while not poller.poll(WAIT_MS):
            self._waited_ms += WAIT_MS if self._interrupted() else 0
            if self._waited_ms >= PATIENCE_MS:
                raise KeyboardInterrupt


def _most(descriptor: int) -> int:
    """The most bytes that one write can pass on without blocking, once the descriptor is writable."""
    return sys.maxsize if stat.S_ISREG(os.fstat(descriptor).st_mode) else select.PIPE_BUF
