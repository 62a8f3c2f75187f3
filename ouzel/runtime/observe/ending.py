"""When a topology has ended, and which of its tasks have not said to the last what they have done."""

from __future__ import annotations

from ouzel.runtime.observe.totals import Totals

UNREPORTED = "unreported"
"""Kind of an event: a run has ended, and what a task has read is known only up to some report before its last."""


class Ending:
    """Its sinks have finished; all others have said that they have too, or have said nothing of it for `patience_ms`.

    On a busy machine the last report of a source may come seconds after the answer; without it the run's record would name fewer rows than
    the answer is of, and what is compared with it would differ.
    """

    def __init__(self, sinks: frozenset[int], everyone: frozenset[int], patience_ms: float) -> None:
        self._sinks, self._everyone, self._patience_ms = sinks, everyone, patience_ms
        self._answered_ms: float | None = None

    def is_over(self, totals: Totals, now_ms: float) -> bool:
        """Whether it has ended; tasks that have not said so by then are told of."""
        if not totals.have_finished(self._sinks):
            return False
        if self._answered_ms is None:
            self._answered_ms = now_ms
        silent = [task for task in sorted(self._everyone) if not totals.have_finished(frozenset({task}))]
        if silent and now_ms - self._answered_ms <= self._patience_ms:
            return False
        for task in silent:
            totals.note(
                task,
                UNREPORTED,
                f"task {task} has not said within {self._patience_ms / 1e3:g} s of the end how far it had read: the record may name fewer "
                "rows than the answer is of",
            )
        return True
