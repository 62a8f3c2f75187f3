"""Runs that go on when the program that started them ends, and end with it: nobody would know that rows are missing."""

from __future__ import annotations

import atexit
import sys
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ouzel.runtime.run import Handle


def tell_if_left(handle: Handle, name: str) -> None:
    """Say on standard error when the program ends, if this run has not ended by then."""
    atexit.register(_tell, weakref.ref(handle), name)


def _tell(held: weakref.ref[Handle], name: str) -> None:
    from ouzel.runtime.run import ENDED

    handle = held()
    if handle is not None and handle.status().state not in ENDED:
        print(
            f"the run of '{name}' goes on while the program ends, and ends with it: rows may be missing; "
            "write `with stream.start() as run: run.wait()`, or stream.run(), or `ouzel submit` for one that stays",
            file=sys.stderr,
        )
