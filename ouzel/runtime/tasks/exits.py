"""os._exit in a function of the user's: it would end a process that belongs to others too, without a word of the record or the line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import NoReturn

leave = os._exit
"""What ends the process at once, wherever it is called."""

_guarded = Counter[tuple[int, int]]()


@contextmanager
def exit_raises() -> Iterator[None]:
    """Inside, in this thread of this process, os._exit raises SystemExit, as sys.exit does."""
    os._exit = _raise_or_leave
    here = os.getpid(), get_ident()
    _guarded[here] += 1
    try:
        yield
    finally:
        _guarded[here] -= 1


def _raise_or_leave(status: int) -> NoReturn:
    if _guarded[os.getpid(), get_ident()]:  # what it has forked is another process
        raise SystemExit(f"os._exit({status})")
    leave(status)
