"""An update of a submitted topology, step by step. Without I/O or clock.

One that is down, for it was stopped, has failed or was interrupted, is replaced, and starts from its newest epoch. What goes wrong leads
back to where it was. One that runs stops with a last epoch, is replaced, and starts from that epoch. What goes wrong after the stop leads
back: its processes end, it is what it was, and starts. Whoever carries out the steps may die between any two of them: the description of
the run, which REPLACE and RESTORE replace at once, says what the next start starts.
"""

from __future__ import annotations

from enum import Enum

from ouzel.runtime.protocol.cluster.submitted import Condition


class UpdateStep(Enum):
    """What is to be done."""

    STOP = "it stops"
    REPLACE = "its next revision takes its place"
    START = "it starts"
    AWAIT = "its tasks begin"
    END = "its processes end"
    RESTORE = "its former revision takes its place"
    START_FORMER = "it starts as it was"


class UpdateOutcome(Enum):
    """How an update ends: it is what it was to be; it has ended by itself; it is what it was, and stands as it did; it does not run."""

    UPDATED = "updated"
    REFUSED = "refused"
    AS_IT_WAS = "as it was"
    DOWN = "down"


_NEXT = {
    UpdateStep.REPLACE: UpdateStep.START,
    UpdateStep.START: UpdateStep.AWAIT,
    UpdateStep.END: UpdateStep.RESTORE,
    UpdateStep.RESTORE: UpdateStep.START_FORMER,
}
_LAST = {UpdateStep.AWAIT: UpdateOutcome.UPDATED, UpdateStep.START_FORMER: UpdateOutcome.AS_IT_WAS}
_LEADS_BACK = (UpdateStep.REPLACE, UpdateStep.START, UpdateStep.AWAIT)


class UpdateMachine:
    """One update.

    Attributes:
        to_do: the present step; None when all is done.
        outcome: how it has ended; None before.
        why: why it is not updated; empty if it is.
        why_down: why it could not be started as it was; empty if it was.
    """

    def __init__(self) -> None:
        self.to_do: UpdateStep | None = UpdateStep.STOP
        self.outcome: UpdateOutcome | None = None
        self.why = self.why_down = ""
        self._was_down = False

    def on_down(self) -> None:
        """Instead of STOP: it does not run, and what it is to go on from is there."""
        assert self.to_do is UpdateStep.STOP, self.to_do
        self._was_down, self.to_do = True, UpdateStep.REPLACE

    def on_stopped(self, condition: Condition, why_not_kept: str) -> None:
        """STOP is done: how it stands now, and why no last epoch was kept, or an empty text."""
        assert self.to_do is UpdateStep.STOP, self.to_do
        if condition in (Condition.FINISHED, Condition.FAILED):
            self.why = f"it has {condition.value} before it could be updated"
            self._end(UpdateOutcome.REFUSED)
        elif why_not_kept:
            self.why, self.to_do = why_not_kept, UpdateStep.END
        else:
            self.to_do = UpdateStep.REPLACE

    def on_done(self) -> None:
        """The present step, any but STOP, is done."""
        step = self.to_do
        assert step not in (None, UpdateStep.STOP), step
        if step is UpdateStep.RESTORE and self._was_down:
            self._end(UpdateOutcome.AS_IT_WAS)
        elif step in _LAST:
            self._end(_LAST[step])
        else:
            self.to_do = _NEXT[step]

    def on_failed(self, why: str) -> None:
        """The present step, any but STOP, cannot be done."""
        assert self.to_do not in (None, UpdateStep.STOP), self.to_do
        if self.to_do in _LEADS_BACK:
            self.why, self.to_do = why, UpdateStep.END
        else:
            self.why_down = why
            self._end(UpdateOutcome.DOWN)

    def _end(self, outcome: UpdateOutcome) -> None:
        self.to_do, self.outcome = None, outcome
