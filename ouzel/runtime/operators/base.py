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
    """A row that an operator could not compute: why, the row as JSON, and for a message of several lines where that was asked."""

    reason: str
    row: str
    detail: str = ""


@dataclass(slots=True)
class Counters:
    """What an operator counts: `late` rows dropped, `answered` ones that a run before has answered for, `refused` rows."""

    late: int = 0
    answered: int = 0
    refused: int = 0


@dataclass
class Operator:
    """One fused step of a component. `refused` and `late_frames` gather until the shell takes them; `state` is all that it keeps."""

    stateful = False
    state: StateContext | None = field(default=None, init=False)
    counters: Counters = field(default_factory=Counters, init=False)
    refused: list[RefusedRow] = field(default_factory=list, init=False)
    late_frames: list[pl.DataFrame] = field(default_factory=list, init=False)

    def process(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        """Take a batch and return what comes of it now."""
        raise NotImplementedError

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Event time has reached `watermark_us`: what that lets out (windows that close), or None."""
        return None

    def tick(self, now_ms: int) -> pl.DataFrame | None:
        """Processing time is `now_ms`: what that lets out (EMIT AFTER DELAY), or None."""
        return None

    def settle(self) -> pl.DataFrame | None:
        """The topology pauses: what only waits to leave together with more (EMIT AFTER DELAY), or None."""
        return None

    def finish(self) -> pl.DataFrame | None:
        """The input has ended: what is still held back, or None."""
        return None

    def fresh(self) -> Operator:
        """The same operator with nothing kept yet, for state to be restored into."""
        raise NotImplementedError

    def restored(self) -> None:
        """The state has come from a snapshot: find again what is derived from it."""


class Chain:
    """The operators of one component, in order; itself used like an operator.

    After `process` of a chain with a Watermark, `sight` is what that batch showed of event time, or None. What comes out of a
    `consolidated` chain is ready for an upsert sink: of each key one row.
    """

    consolidated = False

    def __init__(self, operators: list[Operator]) -> None:
        self.operators = operators
        self.stateful = any(operator.stateful for operator in operators)
        self.is_timed = any(hasattr(operator, "sight") for operator in operators)

    @property
    def sight(self) -> Sight | None:
        """What the chain's watermark operator saw in the last batch."""
        return next((operator.sight for operator in self.operators if hasattr(operator, "sight")), None)

    def process(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        """Push a batch through all operators."""
        return self._push(frame, 0)

    def advance(self, watermark_us: int) -> list[pl.DataFrame]:
        """Tell each operator in turn; what one lets out passes through those after it."""
        return self._each(lambda operator: operator.advance(watermark_us))

    def tick(self, now_ms: int) -> list[pl.DataFrame]:
        """As `advance`, for processing time."""
        return self._each(lambda operator: operator.tick(now_ms))

    def settle(self) -> list[pl.DataFrame]:
        """As `advance`, when the topology pauses."""
        return self._each(lambda operator: operator.settle())

    def finish(self) -> list[pl.DataFrame]:
        """As `advance`, at the end of input."""
        return self._each(lambda operator: operator.finish())

    @property
    def states(self) -> list[StateContext]:
        """What the operators keep, in their order. A snapshot is taken after `settle`: what waits to leave is no state."""
        return [operator.state for operator in self.operators if operator.state is not None]

    def restored(self) -> None:
        """All `states` have been restored."""
        for operator in self.operators:
            operator.restored()

    def take_refused(self) -> list[RefusedRow]:
        """The rows refused since the last call."""
        taken = [row for operator in self.operators for row in operator.refused]
        for operator in self.operators:
            operator.refused.clear()
        return taken

    def take_late(self) -> list[pl.DataFrame]:
        """The rows dropped as late since the last call, as they reached the operator that dropped them."""
        taken = [frame for operator in self.operators for frame in operator.late_frames]
        for operator in self.operators:
            operator.late_frames.clear()
        return taken

    def leave_out(self, before_us: int, read_before: bool) -> None:
        """Drop what is older than that from now on: a run before has answered for it, or if it had not read it, it is late."""
        for operator in self.operators:
            if hasattr(operator, "sight"):
                operator.answered_us, operator.read_before = before_us, read_before  # type: ignore[attr-defined]

    @property
    def answered(self) -> int:
        """Rows so dropped."""
        return sum(operator.counters.answered for operator in self.operators)

    @property
    def late(self) -> int:
        """Rows dropped as late so far."""
        return sum(operator.counters.late for operator in self.operators)

    def _push(self, frame: pl.DataFrame | None, first: int) -> pl.DataFrame | None:
        for operator in self.operators[first:]:
            if frame is None:
                return None
            frame = operator.process(frame)
        return frame

    def _each(self, let_out) -> list[pl.DataFrame]:  # type: ignore[no-untyped-def]
        outs = []
        for number, operator in enumerate(self.operators):
            out = self._push(let_out(operator), number + 1)
            if out is not None and out.height:
                outs.append(out)
        return outs
