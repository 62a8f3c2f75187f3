"""Standard output, blocking: a slow reader slows the run down instead of filling the memory."""

from __future__ import annotations

import fcntl
import os
import select
import stat
import sys
from collections.abc import Callable

from ouzel.errors import OuzelError

WAIT_MS = 100

PATIENCE_MS = 5_000
"""Once the run is interrupted, a reader that does not read is waited for so long in total."""


class StandardOutput:
    """Writes text to what is standard output when this is made; `interrupted` says whether the user wants the run to stop.

    A live display that is started later puts a stream of its own in the place of `sys.stdout`, which is for what is printed beside it.
    """

    def __init__(self, interrupted: Callable[[], bool] = lambda: False) -> None:
        self._interrupted = interrupted
        self._waited_ms = 0
        self._stream = sys.stdout

    def check(self) -> None:
        """Make sure that it can be written to, before anything runs.

        Raises:
            OuzelError: it is closed, or open for reading alone.
        """
        try:
            flags = fcntl.fcntl(self._stream.fileno(), fcntl.F_GETFL)
        except (OSError, ValueError):  # no file stands behind it, as in a test
            return
        if flags & os.O_ACCMODE == os.O_RDONLY:
            raise OuzelError(
                "standard output is closed, and the answer would go there; write > FILE, or INSERT INTO a table"
            )

    def write(self, text: str) -> None:
        """Write all of the text.

        Raises:
            BrokenPipeError: the reader is gone.
            OuzelError: it cannot be written; the disk is full, say.
            KeyboardInterrupt: the run is interrupted, and the reader does not read.
        """
        try:
            self._write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OuzelError(f"the answer cannot be written to standard output: {error.strerror}") from error

    def _write(self, text: str) -> None:
        self._stream.flush()
        try:
            descriptor = self._stream.fileno()
        except (OSError, ValueError):  # no file stands behind it, as in a test
            self._stream.write(text)
            return
        left = memoryview(text.encode(self._stream.encoding, "backslashreplace"))
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


def is_pipe() -> bool:
    """Whether standard output is a pipe: another process reads it, which Ctrl-C ends together with this one."""
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # no file stands behind it, as in a test
        return False


def _most(descriptor: int) -> int:
    """The most bytes that one write can pass on without blocking, once the descriptor is writable."""
    return sys.maxsize if stat.S_ISREG(os.fstat(descriptor).st_mode) else select.PIPE_BUF
