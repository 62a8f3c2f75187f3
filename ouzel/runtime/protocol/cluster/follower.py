"""What one task makes of the physical plans that it is sent: which it obeys, when it goes back, which snapshot it owes, what it publishes.

Invariants:

- No plan of a leadership before the newest one that was heard of is obeyed (`Fence`).
- Generations only grow. A task that kept state, and was started again in the generation in which it had run, has lost that state: it does
  nothing until the next generation.
- A snapshot is taken once an epoch, in the pause of the same plan, and says for which leadership it was taken.
- A sink hears once in a generation that an epoch is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from ouzel.runtime.protocol.cluster.epochs import Generation
from ouzel.runtime.protocol.cluster.leadership import Fence
from ouzel.runtime.wire import wire_pb2


class LastRun(NamedTuple):
    """The generation that a task has last run in, -1 if it has not run, and whether it kept state."""

    generation: int = -1
    keeps: bool = False


class EpochPart:
    """A task's part in epochs.

    Attributes:
        generation: in which its machine runs, or is to run.
        taken: the newest epoch that it has taken a snapshot for; `taken_by` is the leadership that asked for it.
        published: the newest epoch up to which all that its sink was given is visible; without a sink, the newest that it knows to be kept.
        needs_restore: whether it must wait until all go back.
    """

    def __init__(self, generation: Generation, last: LastRun) -> None:
        self.generation = generation
        self._begun = last.generation == generation.number
        self.needs_restore = last.keeps and self._begun
        self.taken = self.taken_by = self.published = 0

    def go_to(self, generation: Generation) -> None:
        """All go back."""
        self.generation, self.needs_restore, self._begun = generation, False, False
        self.published = 0

    def on_begun(self, keeps: bool) -> LastRun:
        """Its machine is made and begins to run: what is to be noted for the next process of the task."""
        self._begun = True
        return LastRun(self.generation.number, keeps)

    @property
    def is_at_beginning(self) -> bool:
        """Whether all have gone back to the beginning."""
        return self.generation.number > 0 and not self.generation.restore

    @property
    def begins_anew(self) -> bool:
        """Whether all have gone back to the beginning, and this task has not begun there yet: what it had counted was never."""
        return self.is_at_beginning and not self._begun

    @property
    def restores(self) -> int:
        """The epoch that its machine is made from; 0 if it begins anew, or has begun in this generation and keeps no state."""
        return 0 if self._begun else self.generation.restore


class PlanEffect(Enum):
    """What a plan means to the task: nothing; that all go back; that it is to do what the plan asks."""

    NOTHING = auto()
    GOES_BACK = auto()
    FOLLOWS = auto()


class PlanFollower:
    """The plans that one task is sent.

    Args:
        part: the task's part in epochs; None where there are none.
        may_read: whether a spout may read before it knows a plan. One that is started again may not, lest it reads in a pause.

    Attributes:
        plan: the one that is followed.
        may_read: whether a spout may be polled.
    """

    def __init__(self, part: EpochPart | None, may_read: bool) -> None:
        self._part, self.may_read = part, may_read
        self._fence = Fence()
        self.plan = wire_pb2.PhysicalPlan()
        self._told_of = -1

    @property
    def is_waiting(self) -> bool:
        """Whether the task does nothing until all go back."""
        return self._part is not None and self._part.needs_restore

    def on_plan(self, plan: wire_pb2.PhysicalPlan, *, has_machine: bool) -> PlanEffect:
        """A plan has come, be it a new one or not. Without a machine the task can follow none, and its turn comes when it is sent again."""
        if not self._fence.admit(plan.leadership):
            return PlanEffect.NOTHING
        if self._part is not None and plan.generation > self._part.generation.number:
            self._part.go_to(Generation(plan.generation, plan.restore))
            self.may_read, self._told_of = False, -1
            return PlanEffect.GOES_BACK
        if not has_machine:
            return PlanEffect.NOTHING
        self.plan, self.may_read = plan, True
        return PlanEffect.FOLLOWS

    def take_kept(self) -> int | None:
        """The newest epoch that is kept, if a sink has not heard of it."""
        if self.plan.kept <= self._told_of:
            return None
        self._told_of = self.plan.kept
        return self._told_of

    def is_snapshot_due(self, is_at_rest_in: Callable[[int], bool]) -> bool:
        """Whether a snapshot is to be taken now; `is_at_rest_in` says whether the task rests in a pause."""
        part, plan = self._part, self.plan
        return part is not None and plan.epoch > part.taken and is_at_rest_in(plan.pause)

    def on_snapshot(self) -> None:
        """The snapshot for the plan's epoch has been taken."""
        if self._part is not None:
            self._part.taken, self._part.taken_by = self.plan.epoch, self.plan.leadership

    def on_published(self, epoch: int | None) -> bool:
        """So far the task's sink has published, None if it has none; whether that is news."""
        epoch = self.plan.kept if epoch is None else max(epoch, 0)
        if self._part is None or epoch <= self._part.published:
            return False
        self._part.published = epoch
        return True
