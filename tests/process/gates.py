"""A sink that takes so many rows, and then none until the test says so: what is read for it is under way then, and cannot have ended."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

LINE = b'+{"pad":"' + 100 * b"x" + b'"}\n'

GATED = (("max.pending.rows", "5000"), ("high.watermark.bytes", "200000"), ("low.watermark.bytes", "50000"))
"""So few rows are on their way to it at most, of each task of a source; with or without acks."""


def through_gate(reads: str) -> str:
    """A statement by which each row of a table, or of a query in parentheses, goes through the gate as well."""
    return f"""
    CREATE TABLE gate (pad VARCHAR) WITH ('connector' = 'print', 'path' = 'gate');
    INSERT INTO gate SELECT REPEAT('x', 100) AS pad FROM {reads} AS read;
    """


class Gate:
    """A pipe in `directory` of which so many `rows` are read, and the others once it is open. Use as a context manager.

    A sleep would be too short on a busy machine and a limit of rows a second too: all is over before the test looks again.
    """

    def __init__(self, directory: Path, rows: int) -> None:
        self._left, self._opened, self._ended = rows * len(LINE), Event(), False
        os.mkfifo(directory / "gate")
        self._pipe = os.open(directory / "gate", os.O_RDWR)  # so that it has no end when a writer dies
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, 4_096)
        self._thread = Thread(target=self._read, name="gate")
        self._thread.start()

    def open(self) -> None:
        """Take all that comes."""
        self._opened.set()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self.open()
        with suppress(BlockingIOError):  # there is enough to wake it
            os.set_blocking(self._pipe, False)
            os.write(self._pipe, b"\n")
        self._thread.join()
        os.close(self._pipe)

    def _read(self) -> None:
        while not self._ended and self._left > 0:
            self._left -= self._take(self._left)
        self._opened.wait()
        while not self._ended:
            self._take(1 << 16)

    def _take(self, most: int) -> int:
        with suppress(BlockingIOError):
            return len(os.read(self._pipe, min(most, 1 << 16)))
        return 0
