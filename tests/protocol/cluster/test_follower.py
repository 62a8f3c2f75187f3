"""A task follows plans of the newest leadership, goes back when they say so, owes one snapshot an epoch, and tells its sink once."""

from __future__ import annotations

from ouzel.runtime.protocol.cluster.epochs import Generation
from ouzel.runtime.protocol.cluster.follower import EpochPart, LastRun, PlanEffect, PlanFollower
from ouzel.runtime.wire.wire_pb2 import PhysicalPlan


def follower(part: EpochPart | None = None, may_read: bool = True) -> PlanFollower:
    return PlanFollower(part, may_read)


def hear(follower: PlanFollower, **plan: int) -> PlanEffect:
    return follower.on_plan(PhysicalPlan(**plan), has_machine=True)


def test_a_plan_of_a_leader_before_the_newest_is_not_followed() -> None:
    task = follower()
    assert hear(task, version=1, leadership=2) is PlanEffect.FOLLOWS
    assert hear(task, version=9, leadership=1, pause=9) is PlanEffect.NOTHING
    assert task.plan.version == 1


def test_nor_does_a_task_go_back_for_one() -> None:
    part = EpochPart(Generation(), LastRun())
    task = follower(part)
    hear(task, version=1, leadership=2)
    assert hear(task, version=2, leadership=1, generation=1) is PlanEffect.NOTHING
    assert part.generation == Generation()


def test_a_spout_that_is_started_again_reads_when_it_knows_a_plan_also_after_going_back() -> None:
    task = follower(EpochPart(Generation(), LastRun()), may_read=False)
    hear(task, version=1)
    assert task.may_read
    assert hear(task, version=2, generation=1, restore=3) is PlanEffect.GOES_BACK
    assert not task.may_read
    assert hear(task, version=2, generation=1, restore=3) is PlanEffect.FOLLOWS
    assert task.may_read


def test_a_task_that_has_lost_what_it_kept_follows_nothing_until_all_go_back() -> None:
    part = EpochPart(Generation(1, 4), LastRun(1, keeps=True))
    task = follower(part, may_read=False)
    assert task.is_waiting
    assert task.on_plan(PhysicalPlan(version=1, generation=1, restore=4), has_machine=False) is PlanEffect.NOTHING
    assert not task.may_read
    assert task.on_plan(PhysicalPlan(version=2, generation=2, restore=4), has_machine=False) is PlanEffect.GOES_BACK
    assert not task.is_waiting
    assert part.restores == 4


def test_one_that_kept_nothing_goes_on_in_its_generation_without_the_epoch() -> None:
    part = EpochPart(Generation(1, 4), LastRun(1, keeps=False))
    assert not follower(part).is_waiting
    assert part.restores == 0


def test_one_that_has_not_begun_in_this_generation_begins_at_its_epoch() -> None:
    part = EpochPart(Generation(2, 4), LastRun(1, keeps=True))
    assert (part.restores, part.needs_restore) == (4, False)
    assert part.on_begun(keeps=True) == LastRun(2, True)
    assert part.restores == 0


def test_a_snapshot_is_owed_once_an_epoch_and_in_its_pause() -> None:
    part = EpochPart(Generation(), LastRun())
    task = follower(part)
    hear(task, version=5, epoch=1, pause=5, leadership=3)
    assert not task.is_snapshot_due(lambda pause: pause == 4)
    assert task.is_snapshot_due(lambda pause: pause == 5)
    task.on_snapshot()
    assert not task.is_snapshot_due(lambda pause: True)
    assert (part.taken, part.taken_by) == (1, 3)


def test_a_sink_hears_of_a_kept_epoch_once_a_generation() -> None:
    task = follower(EpochPart(Generation(), LastRun()))
    heard = []
    for kept in (0, 0, 2, 2):
        hear(task, version=1, kept=kept)
        heard.append(task.take_kept())
    assert heard == [0, None, 2, None]
    hear(task, version=2, generation=1, restore=2, kept=2)
    hear(task, version=2, generation=1, restore=2, kept=2)
    assert task.take_kept() == 2


def test_what_is_published_is_news_once_and_without_a_sink_it_is_what_is_kept() -> None:
    part = EpochPart(Generation(), LastRun())
    task = follower(part)
    assert not task.on_published(-1)
    assert task.on_published(2)
    assert not task.on_published(2)
    hear(task, version=1, kept=3)
    assert task.on_published(None)
    assert part.published == 3
