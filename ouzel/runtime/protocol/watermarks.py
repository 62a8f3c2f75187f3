"""Event time of a task: the watermarks of its inputs, and when its own may be sent downstream.

Statuses ACTIVE, IDLE and FINISHED from the start (Flink lacked them: FLINK-38477, FLINK-5017).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME, TimeStatus


@dataclass(frozen=True, slots=True)
class WatermarkStatus:
    """A watermark, whether its holder holds time back, and if it is PAUSED the number of the pause."""

    time_us: int = BEGINNING_OF_TIME
    status: TimeStatus = TimeStatus.ACTIVE
    pause: int = 0


FINISHED = WatermarkStatus(END_OF_TIME, TimeStatus.FINISHED)


class InputClock:
    """The least of the active inputs' watermarks; FINISHED when all are. It never goes back.

    When none is active, the least of those that follow the wall clock; when there is none of these either, time stands where the last one
    left it that became idle, for it had stopped waiting for the others.

    PAUSED inputs hold time as active ones do; when no other is left but finished ones, this is PAUSED too, in the pause that all have
    reached. So a pause passes through a topology as the end of its input would, but can be taken back.
    """

    def __init__(self, sources: Iterable[int]) -> None:
        self._inputs = {source: WatermarkStatus() for source in sources}
        self._now = WatermarkStatus()

    def observe(self, source: int, moment: WatermarkStatus) -> None:
        """One input's watermark; an older one than is known changes nothing but the status."""
        known = self._inputs.get(source)
        if known is None or known.status is TimeStatus.FINISHED:
            return
        self._inputs[source] = replace(moment, time_us=max(known.time_us, moment.time_us))
        self._now = self._combine()

    @property
    def now(self) -> WatermarkStatus:
        """The combined status of all inputs."""
        return self._now

    def _combine(self) -> WatermarkStatus:
        statuses = {moment.status for moment in self._inputs.values()} - {TimeStatus.FINISHED}
        if not statuses:
            return FINISHED
        if statuses == {TimeStatus.PAUSED}:
            pause = min(moment.pause for moment in self._inputs.values() if moment.status is TimeStatus.PAUSED)
            return WatermarkStatus(self._least(TimeStatus.PAUSED), TimeStatus.PAUSED, pause)
        if statuses & {TimeStatus.ACTIVE, TimeStatus.PAUSED}:
            return WatermarkStatus(self._least(TimeStatus.ACTIVE, TimeStatus.PAUSED))
        if TimeStatus.FOLLOWING in statuses:
            return WatermarkStatus(self._least(TimeStatus.FOLLOWING), TimeStatus.FOLLOWING)
        latest = max(moment.time_us for moment in self._inputs.values() if moment.status is TimeStatus.IDLE)
        return WatermarkStatus(max(latest, self._now.time_us), TimeStatus.IDLE)

    def _least(self, *statuses: TimeStatus) -> int:
        least = min(moment.time_us for moment in self._inputs.values() if moment.status in statuses)
        return max(least, self._now.time_us)


class Gate:
    """Holds a watermark back until every batch that was emitted before it is wholly acked.

    So whoever hears of a time can rely on it: nothing older is on its way, not even a replay.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, WatermarkStatus]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, newest: int, moment: WatermarkStatus) -> None:
        """`moment` may pass once sequence `newest` and all before it are settled."""
        if self._waiting and self._waiting[-1][0] == newest:
            self._waiting.pop()
        self._waiting.append((newest, moment))

    def release(self, settled: int) -> WatermarkStatus | None:
        """The last moment that may pass now that all below `settled` is done, or None."""
        passed = None
        while self._waiting and self._waiting[0][0] < settled:
            passed = self._waiting.popleft()[1]
        return passed
