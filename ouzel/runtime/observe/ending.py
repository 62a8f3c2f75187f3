"""When a topology has ended, and which of its tasks did not send a last report."""

from __future__ import annotations

from ouzel.runtime.observe.totals import Totals
from ouzel.runtime.protocol.standstill import Standstill

UNREPORTED = "unreported"
"""Kind of an event: a run has ended, and what a task has read is known only up to some report before its last."""


class Ending:
    """Its sinks have finished; all others have said that they have too, or none of those has for `patience_ms` in which somebody looked.

    On a busy machine the last report of a source may come seconds after the answer, and of hundreds of sources one after the other;
    without it the run's record would name fewer rows than the answer is of, and what is compared with it would differ.
    """

    def __init__(self, sinks: frozenset[int], everyone: frozenset[int], patience_ms: float) -> None:
        self._sinks, self._everyone, self._patience_ms = sinks, everyone, patience_ms
        self._still: Standstill | None = None

    def is_over(self, totals: Totals, now_ms: float) -> bool:
        """Whether the topology has ended; each task that has not reported its end by then gets an event."""
        if not totals.have_finished(self._sinks):
            return False
        self._still = self._still or Standstill(self._patience_ms, now_ms)
        silent = totals.find_unfinished(self._everyone)
        if silent and not self._still.look(silent, now_ms):
            return False
        for task in sorted(silent):
            totals.note(
                task,
                UNREPORTED,
                f"task {task} has not said within {self._patience_ms / 1e3:g} s of the end how far it had read: the record may name fewer "
                "rows than the answer is of",
            )
        return True
