"""The descriptors of a process: how many it may have, and the three standard ones, which a parent may have closed, or connected to what
takes nothing."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STANDARD = ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY))


def allow_files(number: int) -> int:
    """Have this process allow itself so many open files, if it may; how many it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= number:
        return number
    raised = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return raised


def open_standard_descriptors() -> list[int]:
    """Have 0, 1 and 2 open, as after `>&-` they are not; those that were closed.

    The next file opened would get such a number, and what is said or answered would go into it. Nothing is read from the first, writing
    to the second is an error, and what is written to the third goes nowhere.
    """
    closed = []
    for number, flags in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # the lowest number that is free
            os.set_inheritable(number, True)
            closed.append(number)
    return closed


def open_standard_streams() -> None:
    """As `open_standard_descriptors`, and Python's streams with them; no write to stderr fails any more.

    Whoever cannot be told what is said beside an answer still gets the answer: the disk may be full, or the reader gone.
    """
    for number in open_standard_descriptors():
        if number < 2:
            stream = os.fdopen(number, "rw"[number], closefd=False)
            setattr(sys, ("stdin", "stdout")[number], stream)
    sys.stderr = open_log(2)


def open_log(descriptor: int) -> io.TextIOWrapper:
    """A text stream that drops what cannot be written: a full disk or a closed terminal ends no process."""
    return io.TextIOWrapper(
        io.BufferedWriter(_Log(descriptor, "w", closefd=False)), "utf-8", "backslashreplace", line_buffering=True
    )


class _Log(io.FileIO):
    def write(self, text: ReadableBuffer, /) -> int:
        with contextlib.suppress(OSError):
            return super().write(text)
        return memoryview(text).nbytes
