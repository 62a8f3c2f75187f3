"""What a run may have lost, as its statuses tell: whose state, since when, and until when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ouzel.reconcile.explaining.losses import Losses
from ouzel.reconcile.recording.record import Loss
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import RunState, Status
from ouzel.session import load_text
from tests.reconcile.planting import DAYS, TABLE


def losses(settings: str = "") -> Losses:
    """Of a run whose aggregate has tasks 2 and 3."""
    return Losses(load_text(settings + "SET 'parallelism' = '2';" + TABLE + DAYS, Path(), "q").topology)


def status(rows_in: int, acked: int, time_us: int, *events: Event) -> Status:
    """How a run stands."""
    return Status(RunState.RUNNING, rows_in=rows_in, rows_acked=acked, events=events, times={"flights": {"p": time_us}})


def test_what_died_with_a_task_ends_with_all_that_had_been_read_by_then() -> None:
    found = losses()
    tasks = {
        task.id: task for task in load_text("SET 'parallelism' = '2';" + TABLE + DAYS, Path(), "q").topology.tasks()
    }
    number = next(
        number for number, task in tasks.items() if task.component.startswith("aggregate") and task.index == 1
    )
    died = Event("state-lost", "x", 1, number, 40)
    found.observe(status(90, 80, 45))
    assert found.found == ()
    found.observe(status(100, 80, 50, died))
    component = tasks[number].component
    assert found.found == (Loss(component, 1, 2, 40, None),)
    found.observe(status(200, 100, 70, died))
    found.observe(status(300, 300, 90, died))
    assert found.found == (Loss(component, 1, 2, 40, 70),)
    found.observe(status(300, 300, 95, died, died))
    assert len(found.found) == 2, "it died again"


def test_state_of_no_known_task_is_no_loss_that_explains_anything() -> None:
    found = losses()
    found.observe(status(1, 1, 1, Event("state-lost", "x"), Event("replayed", "x"), Event("restarted", "x")))
    assert found.found == ()


def test_at_most_once_a_connection_that_broke_lost_what_was_on_its_way() -> None:
    found = losses("SET 'delivery' = 'at-most-once';")
    found.observe(status(100, 0, 50, Event("rows-lost", "x", 1, 1, 30)))
    assert found.found == (Loss("", 0, 1, 30, 50),)


def test_what_was_lost_ends_with_the_partition_that_had_come_furthest() -> None:
    found = losses("SET 'delivery' = 'at-most-once';")
    lost = status(100, 0, 50, Event("rows-lost", "x", 1, 1, 30))
    found.observe(replace(lost, times={"flights": {"p": 50, "q": 70}, "others": {"r": 60}}))
    assert found.found == (Loss("", 0, 1, 30, 70),)
