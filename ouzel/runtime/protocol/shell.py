"""What a task's machine may ask of the shell that runs it, while a call lasts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.runtime.protocol.messages import Instruction

if TYPE_CHECKING:
    import polars as pl

TakesFrames = Callable[[str, "pl.DataFrame"], None]
"""Takes a frame that passes, with the name of what has made it."""


def _nothing(*_: object) -> None:
    """A shell that looks for no hangs needs to be told nothing."""


@dataclass(frozen=True, slots=True)
class Shell:
    """What a machine may ask of its shell; the machine gets it when it is made.

    Attributes:
        wall_zero_us: what the wall clock shows, in microseconds UTC, when the `now_ms` of the calls is 0. It may be corrected any time.
        outside: entered around a call that may wait for something outside the process, so that the wait is not taken for a hang.
        interject: called with instructions that are carried out at once, although the call goes on; it also reports.
        progress: called now and then in a call that takes long, so that it is not taken for a hang.
        monotonic_ms: the time now, in milliseconds, on the clock of `now_ms`. For user code, and for the ends of spans; otherwise the
            machine is told the time.
    """

    wall_zero_us: Callable[[], int] = lambda: 0
    outside: Callable[[], AbstractContextManager[object]] = nullcontext
    interject: Callable[[Sequence[Instruction]], object] = _nothing
    progress: Callable[[], None] = _nothing
    monotonic_ms: Callable[[], float] = lambda: 0.0
