"""What a run may have lost, as its statuses tell: of which task, and between which times."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ouzel.planner.topology import Topology
from ouzel.reconcile.recording.record import Loss
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import LOSSES, ROWS_LOST, Status


@dataclass
class _Open:
    """A loss whose end is known only once all rows that had been read by then are acked; at most once the event comes when it is known."""

    loss: Loss
    rows_in: int
    ended: bool = False


class Losses:
    """Folds the statuses of a run, each later than the one before."""

    def __init__(self, topology: Topology) -> None:
        tasks = topology.tasks()
        numbers = Counter(task.component for task in tasks)
        self._places = {task.id: (task.component, task.index, numbers[task.component]) for task in tasks}
        self._tracked = topology.settings.delivery.tracks
        self._told: Counter[tuple[str, str, int | None]] = Counter()
        self._found: list[_Open] = []

    @property
    def found(self) -> tuple[Loss, ...]:
        """All so far."""
        return tuple(each.loss for each in self._found)

    def observe(self, status: Status) -> None:
        """Take in how the run stands."""
        told: Counter[tuple[str, str, int | None]] = Counter()
        for event in status.events:
            if event.kind in LOSSES:
                same = event.kind, event.text, event.task
                told[same] += 1
                if told[same] > self._told[same]:
                    self._found += [_Open(loss, status.rows_in) for loss in self._losses(event)]
        self._told |= told
        for each in self._found:
            if not each.ended and (status.rows_acked >= each.rows_in or not self._tracked):
                each.loss, each.ended = replace(each.loss, until_us=_latest(status)), True

    def _losses(self, event: Event) -> list[Loss]:
        """What the event says was lost: nothing that could be told if it does not say of which task."""
        if event.kind == ROWS_LOST:
            return [Loss(since_us=event.since_us)]
        places = [self._places[event.task]] if event.task in self._places else []
        return [Loss(component, index, tasks, event.since_us) for component, index, tasks in places]


def _latest(status: Status) -> int | None:
    """How far event time has come in rows that are completely acked."""
    return max((time_us for parts in status.times.values() for time_us in parts.values()), default=None)
