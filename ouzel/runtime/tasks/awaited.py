"""Why event time of a source does not go on: which of its partitions are waited for, and what for. Told to the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, Waiting
from ouzel.runtime.tasks.partitions import PartitionProgress

SILENT_MS = 2_000
"""Shorter silences are not reported."""

HISTORICAL = "its rows are historical: its event time goes on with its next row, or at its end"
NOTHING_YET = "no row so far: its event time begins with its first row, or at its end"


class Awaited:
    """Looks at the partitions of one source task that have not ended. `timed` says that they have event time; times as in `TaskMachine`."""

    def __init__(self, component: str, idle_after_ms: int | None, timed: bool) -> None:
        self._component, self._idle_after_ms, self._timed = component, idle_after_ms, timed

    def of(self, alive: Sequence[PartitionProgress], now_ms: float, wall_zero_us: int) -> tuple[Waiting, ...]:
        """What they wait for, the unreachable ones first; nothing while rows flow."""
        lost = [progress for progress in alive if progress.silence.unreachable]
        reasons = sorted({progress.silence.unreachable for progress in lost})
        told = [
            self._waiting(reason, (one for one in lost if one.silence.unreachable == reason), wall_zero_us)
            for reason in reasons
        ]
        return (*told, *(self._silent(alive, now_ms, wall_zero_us) if self._timed else ()))

    def _silent(self, alive: Sequence[PartitionProgress], now_ms: float, wall_zero_us: int) -> list[Waiting]:
        active = [one for one in alive if not one.silence.is_idle(now_ms, self._idle_after_ms)]
        if not active:
            return self._idle(alive)
        least = min(one.watermark_us for one in active)
        holding = [one for one in active if one.watermark_us == least and one.silence.is_known(now_ms)]
        if not holding or now_ms - _since(holding[0]) < SILENT_MS:
            return []
        idle_after_ms = self._idle_after_ms
        if idle_after_ms is None:
            return [self._waiting("silent (IDLE AFTER NEVER)", holding, wall_zero_us)]
        until_us = wall_zero_us + int(1000 * (max(map(_since, holding)) + idle_after_ms))
        return [self._waiting("silent", holding, wall_zero_us, until_us)]

    def _idle(self, alive: Sequence[PartitionProgress]) -> list[Waiting]:
        """All are idle: what is said of time now, the wall clock says, or nobody."""
        if any(one.lag.is_following for one in alive):
            return []
        read = [one for one in alive if one.watermark_us > BEGINNING_OF_TIME]
        return [self._waiting(HISTORICAL if read else NOTHING_YET, read or alive)]

    def _waiting(
        self, reason: str, partitions: Iterable[PartitionProgress], wall_zero_us: int | None = None, until_us: int = 0
    ) -> Waiting:
        longest, *others = sorted(partitions, key=_since)
        since_us = 0 if wall_zero_us is None else wall_zero_us + int(1000 * _since(longest))
        return Waiting(
            self._component, longest.partition.called or longest.partition.id, len(others), reason, since_us, until_us
        )


def _since(progress: PartitionProgress) -> float:
    return progress.silence.since_ms or 0.0
