"""What is done about health by itself: what is tried, when, how it is judged, undone and left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ouzel.planner.settings import HealthPolicy
from ouzel.tracker.health.detectors import Symptom
from ouzel.tracker.health.diagnosers import DIAGNOSERS, Verdict
from ouzel.tracker.health.regulator import DAY_S, REFUSALS, Patience, Regulator
from ouzel.tracker.health.resolvers import LEFT_TO_PEOPLE, RESOLVERS, Bounds, Shortage, Sighting
from ouzel.tracker.health.treatments import (
    KEPT,
    Treatment,
    TreatmentMemory,
    TreatmentOutcome,
    read_memory,
    write_memory,
)

PATIENCE = Patience(lasts_s=60.0, settle_s=300.0)
ALL = Bounds(HealthPolicy.ALL, 1, 8)


def verdict(kind: str, place: str = "count", tasks: int = 0) -> Verdict:
    """One, with evidence."""
    component = "" if kind == "data-skew" else place.partition("[")[0]
    return Verdict(
        kind, place, "do something", (Symptom("back-pressure", place, None, "too much waited"),), component, tasks
    )


def seen(*verdicts: Verdict, tasks: int = 2, read_s: float = 1_000.0) -> Sighting:
    """A source, and a bolt that gets as many rows."""
    return Sighting(verdicts, {"lines": 1, "count": tasks}, {"lines": read_s, "count": read_s}, frozenset({"lines"}))


SHORT, SPARE = verdict("under-provisioned", tasks=4), verdict("over-provisioned", tasks=1)
SLOW = verdict("slow-instance", "count[1]")


def begun(now_s: float, first: Sighting, bounds: Bounds = ALL) -> tuple[Regulator, Treatment]:
    """A regulator that has carried something out, and what."""
    regulator = Regulator(bounds, PATIENCE)
    assert regulator.look(first, now_s - PATIENCE.lasts_s) is None  # a verdict of a moment
    treatment = regulator.look(first, now_s)
    assert treatment is not None
    regulator.on_carried_out(now_s)
    return regulator, treatment


def judged(regulator: Regulator, now: Sighting, at_s: float) -> tuple[TreatmentOutcome, Treatment | None]:
    """What became of the latest treatment, and what is done about that."""
    number = regulator.memory.count
    following = regulator.look(now, at_s)
    (outcome,) = [one.outcome for one in regulator.memory.treatments if one.number == number]
    return outcome, following


def test_a_verdict_must_last_before_anything_is_done() -> None:
    regulator = Regulator(ALL, PATIENCE)
    assert regulator.look(seen(SHORT), 0.0) is None
    assert regulator.look(seen(), 30.0) is None
    assert regulator.look(seen(SHORT), 60.0) is None
    assert regulator.look(None, 90.0) is None
    assert regulator.look(seen(SHORT), 120.0) is None
    assert regulator.look(seen(SHORT), 180.0) is not None


@pytest.mark.parametrize(
    ("first", "title"),
    [
        (seen(SHORT), "count from 2 to 4 tasks"),
        (seen(SPARE), "count from 2 to 1 tasks"),
        (seen(SLOW), "restart count[1]"),
        (seen(SHORT, tasks=5), "count from 5 to 8 tasks"),
    ],
)
def test_each_resolver_does_what_its_row_says(first: Sighting, title: str) -> None:
    assert begun(1_000.0, first)[1].title == title


@pytest.mark.parametrize("policy", list(HealthPolicy))
def test_nothing_is_done_that_the_policy_does_not_allow(policy: HealthPolicy) -> None:
    for first, is_allowed in ((SHORT, policy.rescales), (SPARE, policy.rescales), (SLOW, policy.restarts)):
        regulator = Regulator(Bounds(policy), PATIENCE)
        regulator.look(seen(first), 0.0)
        found = regulator.look(seen(first), 60.0)
        if first is SLOW and policy is HealthPolicy.RESCALE:
            assert found is not None
            assert found.resolver == "scale-up"
        else:
            assert (found is not None) == is_allowed
        if found is None:
            assert f"'health.policy' is {policy.value}" in regulator.held[first.title]


def test_what_no_resolver_answers_is_left_to_people_with_the_reason() -> None:
    skew = verdict("data-skew", "count[1]")
    regulator = Regulator(ALL, PATIENCE)
    assert [regulator.look(seen(skew), time_s) for time_s in (0.0, 60.0, 9_000.0)] == [None] * 3
    assert "one key" in regulator.held[skew.title]
    answered = {kind for row in RESOLVERS for kind in row.cures}
    assert answered | set(LEFT_TO_PEOPLE) == {row.kind for row in DIAGNOSERS}
    assert not answered & set(LEFT_TO_PEOPLE)


def test_sources_are_not_rescaled_and_bounds_are_kept() -> None:
    source = verdict("under-provisioned", "lines", 2)
    regulator = Regulator(ALL, PATIENCE)
    for first, why in (
        (seen(source), "only bolts"),
        (seen(SHORT, tasks=8), "'health.tasks.max' is 8"),
        (seen(verdict("over-provisioned", "lines", 1)), "only bolts"),
    ):
        assert regulator.look(first, 0.0) is None
        assert regulator.look(first, 60.0) is None
        assert why in regulator.held[first.verdicts[0].title]
    least = Regulator(Bounds(HealthPolicy.ALL, 2, 8), PATIENCE)
    assert [least.look(seen(SPARE), time_s) for time_s in (0.0, 60.0)] == [None, None]


def test_nothing_is_judged_and_nothing_else_is_done_before_it_has_settled() -> None:
    regulator, _ = begun(1_000.0, seen(SHORT))
    assert regulator.look(seen(SHORT, SLOW, tasks=4), 1_299.0) is None
    assert judged(regulator, seen(tasks=4), 1_300.0) == (TreatmentOutcome.HELPED, None)


def test_more_tasks_that_helped_some_are_doubled_at_once() -> None:
    regulator, _ = begun(1_000.0, seen(SHORT))
    more = verdict("under-provisioned", tasks=8)
    assert judged(regulator, seen(more, tasks=4, read_s=1_900.0), 1_300.0) == (TreatmentOutcome.HELPED_SOME, None)
    again = regulator.look(seen(more, tasks=4, read_s=1_900.0), 1_310.0)
    assert again is not None
    assert (again.had, again.tasks) == (4, 8)


def test_more_tasks_that_did_not_help_are_not_tried_again_for_a_day() -> None:
    regulator, _ = begun(1_000.0, seen(SHORT))
    still = seen(verdict("under-provisioned", tasks=8), tasks=4)
    assert judged(regulator, still, 1_300.0) == (TreatmentOutcome.DID_NOT_HELP, None)
    assert [regulator.look(still, time_s) for time_s in (1_400.0, 20_000.0, 1_299.0 + DAY_S)] == [None] * 3
    assert "did not help" in regulator.held["under-provisioned: count"]
    assert regulator.look(still, 1_301.0 + DAY_S) is not None


def test_what_made_it_worse_is_undone_and_not_tried_again() -> None:
    regulator, treatment = begun(1_000.0, seen(SHORT))
    still = seen(verdict("under-provisioned", tasks=8), tasks=4, read_s=500.0)
    outcome, undoing = judged(regulator, still, 1_300.0)
    assert outcome is TreatmentOutcome.MADE_WORSE
    assert undoing is not None
    assert (undoing.had, undoing.tasks, undoing.undoes) == (4, 2, treatment.number)
    regulator.on_carried_out(1_310.0)
    assert judged(regulator, seen(SHORT), 1_610.0) == (TreatmentOutcome.DONE, None)
    assert [regulator.look(seen(SHORT), time_s) for time_s in (1_700.0, 30_000.0)] == [None, None]


def test_fewer_tasks_that_were_too_few_are_undone_and_remembered() -> None:
    regulator, _ = begun(1_000.0, seen(SPARE))
    short = seen(verdict("under-provisioned", tasks=2), tasks=1, read_s=900.0)
    outcome, undoing = judged(regulator, short, 1_300.0)
    assert outcome is TreatmentOutcome.MADE_WORSE
    assert undoing is not None
    assert undoing.tasks == 2
    regulator.on_carried_out(1_310.0)
    regulator.look(seen(), 1_610.0)
    regulator.memory.rests.clear()  # what it has learned of the number holds by itself
    assert [regulator.look(seen(SPARE), time_s) for time_s in (20_000.0, 20_100.0)] == [None, None]
    assert "fewer were not enough for 900 rows/s" in regulator.held["over-provisioned: count"]
    assert regulator.look(seen(SPARE, read_s=300.0), 20_200.0) is not None


def test_a_load_that_grew_meanwhile_is_not_blamed_on_fewer_tasks() -> None:
    regulator, _ = begun(1_000.0, seen(SPARE))
    grown = seen(verdict("under-provisioned", tasks=2), tasks=1, read_s=3_000.0)
    assert judged(regulator, grown, 1_300.0) == (TreatmentOutcome.OVERTAKEN, None)
    again = regulator.look(grown, 1_360.0)
    assert again is not None
    assert again.tasks == 2


def test_a_restart_that_did_not_help_gives_way_to_more_tasks() -> None:
    regulator, _ = begun(1_000.0, seen(SLOW))
    assert judged(regulator, seen(SLOW), 1_300.0) == (TreatmentOutcome.DID_NOT_HELP, None)
    following = regulator.look(seen(SLOW), 1_310.0)
    assert following is not None
    assert (following.resolver, following.tasks) == ("scale-up", 4)


def test_a_restart_that_helped_is_done_again_after_longer_and_longer() -> None:
    regulator, _ = begun(1_000.0, seen(SLOW))
    waits, at_s = [], 1_000.0
    for _ in range(3):
        assert judged(regulator, seen(), at_s + 300.0)[0] is TreatmentOutcome.HELPED
        begin_s, at_s = at_s + 300.0, at_s + 300.0
        while (again := regulator.look(seen(SLOW), at_s)) is None:
            at_s += 60.0
        assert again.is_restart
        regulator.on_carried_out(at_s)
        waits.append(at_s - begin_s)
    assert waits == sorted(waits)
    assert waits[-1] > 3 * waits[0]


def test_what_is_refused_is_tried_some_times_and_then_left() -> None:
    regulator = Regulator(ALL, PATIENCE)
    tries, time_s = 0, 0.0
    while time_s < DAY_S / 2:
        if regulator.look(seen(SHORT), time_s) is not None:
            tries += 1
            regulator.on_carried_out(time_s, "another command changes it")
        time_s += 60.0
    assert tries == REFUSALS
    assert "refused" in regulator.held["under-provisioned: count"]


def test_an_undoing_that_is_refused_is_tried_again() -> None:
    regulator, _ = begun(1_000.0, seen(SHORT))
    worse = seen(SHORT, tasks=4, read_s=100.0)
    regulator.look(worse, 1_300.0)
    regulator.on_carried_out(1_300.0, "another command changes it")
    assert regulator.look(worse, 1_310.0) is None
    again = regulator.look(worse, 1_400.0)
    assert again is not None
    assert (again.undoes, again.tasks) == (1, 2)
    regulator.on_carried_out(1_401.0)
    assert judged(regulator, seen(SHORT), 1_801.0)[0] is TreatmentOutcome.DONE


def test_what_somebody_else_has_changed_is_not_judged_and_what_was_learned_is_forgotten() -> None:
    regulator, _ = begun(1_000.0, seen(SHORT))
    assert regulator.memory.shortages
    assert judged(regulator, seen(SHORT, tasks=3), 1_300.0) == (TreatmentOutcome.CHANGED_BY_OTHERS, None)
    assert not regulator.memory.shortages


def test_what_has_nothing_to_do_with_load_is_not_blamed_on_a_rescale() -> None:
    for kind, outcome in (("growing-state", TreatmentOutcome.HELPED), ("growing-lag", TreatmentOutcome.MADE_WORSE)):
        for first, tasks in ((SHORT, 4), (SPARE, 1)):
            regulator, _ = begun(1_000.0, seen(first))
            assert judged(regulator, seen(verdict(kind, ""), tasks=tasks, read_s=700.0), 1_300.0)[0] is outcome


def test_a_policy_that_was_turned_off_meanwhile_undoes_nothing() -> None:
    regulator, _ = begun(1_000.0, seen(SHORT))
    regulator.bounds = replace(ALL, policy=HealthPolicy.OFF)
    assert judged(regulator, seen(SHORT, tasks=4, read_s=1.0), 1_300.0) == (TreatmentOutcome.MADE_WORSE, None)


@pytest.mark.parametrize(("tasks", "outcome"), [(4, TreatmentOutcome.HELPED), (2, TreatmentOutcome.CHANGED_BY_OTHERS)])
def test_after_a_death_in_the_middle_the_number_of_tasks_tells_whether_it_was_done(
    tasks: int, outcome: TreatmentOutcome
) -> None:
    first = Regulator(ALL, PATIENCE)
    first.look(seen(SHORT), 0.0)
    assert first.look(seen(SHORT), 60.0) is not None
    second = Regulator(ALL, PATIENCE, read_memory(write_memory(first.memory)))
    second.resume(100.0)
    assert second.look(seen(SHORT, tasks=tasks), 200.0) is None
    assert judged(second, seen(tasks=tasks), 400.0) == (outcome, None)


def test_all_that_is_remembered_is_read_as_it_was_written() -> None:
    regulator, treatment = begun(1_000.0, seen(SHORT))
    judged(regulator, seen(SHORT, tasks=4), 1_300.0)
    memory = read_memory(write_memory(regulator.memory))
    assert memory == regulator.memory
    assert (memory.treatments[0].title, memory.count) == (treatment.title, 1)
    assert memory.rests
    assert memory.shortages == {"count": Shortage(2, 1_000.0, 1_000.0)}
    for wrong in (
        "",
        "[]",
        "{}",
        '{"treatments": [{}]}',
        '{"treatments": 1, "rests": [], "shortages": {}, "count": 0}',
    ):
        with pytest.raises(ValueError, match=r"."):
            read_memory(wrong)


def test_only_the_latest_are_remembered() -> None:
    memory, one = TreatmentMemory(), begun(1_000.0, seen(SHORT))[1]
    for number in range(1, KEPT + 11):
        memory.add(replace(one, number=number))
    assert (len(memory.treatments), memory.treatments[0].number, memory.count) == (KEPT, 11, KEPT + 10)


def test_how_many_tasks_so_many_rows_need() -> None:
    short = Shortage(tasks=2, rows_s=1_000.0, at_s=0.0)
    assert [short.need(rows_s) for rows_s in (1.0, 400.0, 1_000.0, 4_000.0)] == [1, 1, 3, 10]
    assert Shortage(2, 0.0, 0.0).need(10.0) == 3
