"""What an operator is: a pure step on batches. No I/O, no clock, no sockets; time comes as an argument.

A frame has the node's columns and, if its stream retracts, plan.WEIGHT last. An operator may return None for "no rows".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from ouzel.runtime.protocol.lag import Sight
    from ouzel.runtime.state.context import StateContext


@dataclass(frozen=True)
class RefusedRow:
    """A row that an operator could not compute: why, the row as JSON, and for a message of several lines where that was asked.

    `in_python` says that a program asked for it, and not a query.
    """

    reason: str
    row: str
    detail: str = ""
    in_python: bool = False


@dataclass(slots=True)
class Counters:
    """What an operator counts: `late` rows dropped, `answered` ones that a run before has answered for, `refused` rows; `own` are the
    user's, by name."""

    late: int = 0
    answered: int = 0
    refused: int = 0
    own: dict[str, int] = field(default_factory=dict)


@dataclass
class Operator:
    """One fused step of a component. `refused` and `late_frames` gather until the shell takes them; `state` is all that it keeps.

    The node's inputs are the operator's ports, numbered as they are; an operator of one input need not look at the number.
    Its rows may be as much as `delay_us` older than the watermark of its inputs, so that is what its own watermark is behind.
    """

    stateful = False
    is_timed = False
    """Whether it assigns event time: then `sight` says what it saw, and it can leave out rows."""
    delay_us = 0
    state: StateContext | None = field(default=None, init=False)
    counters: Counters = field(default_factory=Counters, init=False)
    refused: list[RefusedRow] = field(default_factory=list, init=False)
    late_frames: list[pl.DataFrame] = field(default_factory=list, init=False)
    notes: list[str] = field(default_factory=list, init=False)
    """What its rows show that is likely a mistake of the program."""
    sight: Sight | None = field(default=None, init=False)
    """What the last batch showed of event time, in microseconds since 1970; None if it showed nothing."""
    calls: tuple[str, ...] = field(default=(), init=False)
    """What it calls of the user's, and where that was written."""
    answers: int = field(default=0, init=False)
    """A digest of what has been asked of others since a frame left; what depends on its input alone asks nobody."""

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """Process a batch of one input and return the rows that it yields now."""
        raise NotImplementedError

    def advance_port(self, port: int, watermark_us: int) -> pl.DataFrame | None:
        """Event time of one input, whatever the others, has reached `watermark_us`: the rows that are final now, or None."""
        return None

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Event time of all inputs has reached `watermark_us`: the rows that are final now (windows that close), or None."""
        return None

    def tick(self, now_ms: int) -> pl.DataFrame | None:
        """Processing time is `now_ms`: the rows that are due now (EMIT AFTER DELAY), or None."""
        return None

    def flush_on_pause(self) -> pl.DataFrame | None:
        """The topology pauses: rows that were held back only to be emitted together with later ones (EMIT AFTER DELAY), or None."""
        return None

    def drop_late(self, rows: pl.DataFrame, count: int) -> None:
        """Rows that came behind the watermark leave here: they wait to be shown, and so many are counted."""
        self.late_frames.append(rows)
        self.counters.late += count

    def leave_out(self, before_us: int, read_before: bool) -> None:
        """Rows older than that (microseconds since 1970) were answered by a run before, or if it had not read them, are late."""

    def finish(self) -> pl.DataFrame | None:
        """The input has ended: what is still held back, or None."""
        return None

    def fresh(self) -> Operator:
        """The same operator with nothing kept yet, for state to be restored into."""
        raise NotImplementedError

    def on_restored(self) -> None:
        """The state has come from a snapshot: find again what is derived from it."""
