"""An update, step by step: which way it goes, and how it stands whatever fails."""

from __future__ import annotations

import pytest

from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.protocol.cluster.updating import UpdateMachine, UpdateOutcome, UpdateStep

FORTH = [UpdateStep.REPLACE, UpdateStep.START, UpdateStep.AWAIT]
BACK = [UpdateStep.END, UpdateStep.RESTORE, UpdateStep.START_FORMER]


def stopped(condition: Condition = Condition.STOPPED, why_not_kept: str = "") -> UpdateMachine:
    machine = UpdateMachine()
    assert machine.to_do is UpdateStep.STOP
    machine.on_stopped(condition, why_not_kept)
    return machine


def steps_of(machine: UpdateMachine, *failing: UpdateStep) -> list[UpdateStep]:
    """What it does, when these steps fail."""
    done: list[UpdateStep] = []
    while (step := machine.to_do) is not None:
        done.append(step)
        if step in failing:
            machine.on_failed(f"{step.name} failed")
        else:
            machine.on_done()
    return done


def test_what_goes_well_is_updated() -> None:
    machine = stopped()
    assert steps_of(machine) == FORTH
    assert (machine.outcome, machine.why) == (UpdateOutcome.UPDATED, "")


@pytest.mark.parametrize("step", FORTH)
def test_what_fails_after_the_stop_leads_back(step: UpdateStep) -> None:
    machine = stopped()
    assert steps_of(machine, step) == [*FORTH[: FORTH.index(step) + 1], *BACK]
    assert (machine.outcome, machine.why) == (UpdateOutcome.AS_IT_WAS, f"{step.name} failed")


@pytest.mark.parametrize("step", BACK)
def test_what_fails_on_the_way_back_leaves_it_down(step: UpdateStep) -> None:
    machine = stopped()
    steps_of(machine, UpdateStep.AWAIT, step)
    assert machine.outcome is UpdateOutcome.DOWN
    assert (machine.why, machine.why_down) == ("AWAIT failed", f"{step.name} failed")


def test_without_a_last_epoch_nothing_is_replaced() -> None:
    machine = stopped(why_not_kept="the disk is full")
    assert steps_of(machine) == BACK
    assert (machine.outcome, machine.why) == (UpdateOutcome.AS_IT_WAS, "the disk is full")


@pytest.mark.parametrize("condition", [Condition.FINISHED, Condition.FAILED])
def test_what_ends_by_itself_is_not_updated(condition: Condition) -> None:
    machine = stopped(condition)
    assert (machine.to_do, machine.outcome) == (None, UpdateOutcome.REFUSED)
    assert machine.why == f"it has {condition.value} before it could be updated"


def down() -> UpdateMachine:
    machine = UpdateMachine()
    machine.on_down()
    return machine


def test_what_is_down_is_not_stopped() -> None:
    machine = down()
    assert steps_of(machine) == FORTH
    assert (machine.outcome, machine.why) == (UpdateOutcome.UPDATED, "")


@pytest.mark.parametrize("step", FORTH)
def test_what_is_down_and_cannot_be_updated_stays_down(step: UpdateStep) -> None:
    machine = down()
    assert steps_of(machine, step) == [*FORTH[: FORTH.index(step) + 1], UpdateStep.END, UpdateStep.RESTORE]
    assert (machine.outcome, machine.why) == (UpdateOutcome.AS_IT_WAS, f"{step.name} failed")
