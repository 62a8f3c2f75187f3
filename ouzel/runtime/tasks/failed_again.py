"""Whether a bolt fails the same batch again and again: what fails for its rows fails each time that it is sent again."""

from __future__ import annotations

TIMES, FOR_MS = 10, 2_000
"""So often, and for so long, one batch has failed when it is told: what is not there for a moment may be asked again."""

MOST = 1_024
"""So many failed batches are remembered."""


class FailedAgain:
    """How often batches have failed that have not been acked since."""

    def __init__(self) -> None:
        self._failed: dict[int, tuple[int, float]] = {}
        self._has_told = False

    def on_fail(self, batch_id: int, now_ms: float) -> bool:
        """Note that a batch has failed; True once, when one has failed too often."""
        times, since_ms = self._failed.get(batch_id, (0, now_ms))
        if not times and len(self._failed) >= MOST:
            self._failed.pop(next(iter(self._failed)))
        self._failed[batch_id] = (times + 1, since_ms)
        if self._has_told or times + 1 < TIMES or now_ms - since_ms < FOR_MS:
            return False
        self._has_told = True
        return True

    def on_ack(self, batch_id: int) -> None:
        """Note that it has been handled after all."""
        self._failed.pop(batch_id, None)
