"""A topology master knows who is there, how the topology stands and when it ends: in whatever order that comes, and after a death."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from ouzel.planner.settings import Delivery, Settings
from ouzel.runtime.protocol.cluster.epochs import IN_VAIN_MAX, Generation, GoBack
from ouzel.runtime.protocol.cluster.membership import Member
from ouzel.runtime.protocol.cluster.placement import Placement
from ouzel.runtime.protocol.cluster.topology_master import (
    ClientRequest,
    Refuse,
    SendPlan,
    StoreRequest,
    TellClients,
    TopologyMasterMachine,
)
from ouzel.runtime.run import ROWS_LOST, RunState
from ouzel.runtime.wire.wire_pb2 import ContainerReport, EpochFile, EpochFiles, Event, StreamManagerReport, TaskReport
from tests.process.topologies import numbers, packed

TASKS, SPOUTS, SINK = (1, 2, 3, 4, 5), (1, 2), 5
"""Spouts 1 and 2, bolts 3 and 4, sink 5; the odd ones in container 1, the even ones in container 2."""


def master(version: int = 100, stored: bytes = b"", settings: Settings = Settings()) -> TopologyMasterMachine:
    topology = numbers(Path(), settings=settings)
    return TopologyMasterMachine(Placement(topology, packed(topology, 2)), version, stored)


def member(container: int, incarnation: int = 1) -> Member:
    return Member(container, incarnation, "host", 0, f"/{container}/{incarnation}")


def report(container: int, **counts: object) -> ContainerReport:
    """What the tasks of a container report, all alike."""
    tasks = [TaskReport(task=task, **counts) for task in TASKS if task % 2 == container % 2]  # type: ignore[arg-type]
    return ContainerReport(container=container, tasks=tasks)


def state_after(machine: TopologyMasterMachine, *reports: ContainerReport) -> RunState:
    for one in reports:
        machine.on_report(one, 0.0)
    return machine.state


def test_it_runs_when_every_container_has_reported() -> None:
    machine = master()
    assert machine.on_report(report(1), 0) == []
    assert machine.state is RunState.STARTING
    assert machine.on_report(report(2), 0) == [TellClients()]
    assert machine.state is RunState.RUNNING
    assert machine.on_report(report(2), 0) == [], "clients are told of it once"


def test_members_are_in_the_plan_as_long_as_they_are_there() -> None:
    machine = master()
    assert machine.on_register(member(2)) == machine.on_register(member(1)) == [SendPlan()]
    assert [one.container for one in machine.plan.stream_managers] == [1, 2]
    machine.on_leave(member(1))
    assert [one.container for one in machine.plan.stream_managers] == [2]
    assert machine.version == 103


def test_a_stream_manager_that_took_the_place_of_another_stays_when_that_ones_end_is_noticed() -> None:
    machine = master()
    for event in (machine.on_register(member(1, 7)), machine.on_register(member(1, 8)), machine.on_leave(member(1, 7))):
        assert event == [SendPlan()]
    assert [one.incarnation for one in machine.plan.stream_managers] == [8]


def test_who_is_of_no_container_is_refused() -> None:
    assert master().on_register(member(3)) == [Refuse("there is no container 3 in this topology")]


def test_a_request_is_stored_before_it_is_answered_and_told_to_all() -> None:
    machine = master()
    assert machine.on_request(ClientRequest.DEACTIVATE, 0) == [StoreRequest(), SendPlan(), TellClients()]
    assert (machine.plan.pause, machine.execution_state) == (101, b"paused 101")
    machine.on_request(ClientRequest.DEACTIVATE, 0)
    assert machine.plan.pause == 101, "a pause that is asked for twice is one"
    assert machine.on_request(ClientRequest.LOOK, 0) == [SendPlan(), TellClients()], (
        "nothing that the next one must know"
    )
    machine.on_request(ClientRequest.ACTIVATE, 0)
    assert (machine.plan.pause, machine.execution_state) == (0, b"running")


def test_a_pause_is_over_when_all_have_come_to_rest_in_it_and_in_no_other() -> None:
    machine = master()
    machine.on_request(ClientRequest.DEACTIVATE, 0)
    pause = machine.plan.pause
    assert state_after(machine, report(1, pause=pause), report(2, pause=pause - 1)) is RunState.RUNNING
    assert state_after(machine, report(2, pause=pause)) is RunState.PAUSED
    machine.on_request(ClientRequest.ACTIVATE, 0)
    assert state_after(machine, report(1)) is RunState.RUNNING


def test_who_drains_does_not_go_on() -> None:
    machine = master()
    machine.on_request(ClientRequest.STOP, 0)
    machine.on_request(ClientRequest.ACTIVATE, 0)
    pause = machine.plan.pause
    assert pause
    assert machine.execution_state == b"draining %d" % pause
    assert state_after(machine, report(1, pause=pause), report(2, pause=pause)) is RunState.STOPPED
    assert machine.execution_state == b"stopped"


@pytest.mark.parametrize("order", permutations(range(4)))
def test_a_topology_master_that_is_new_learns_all_again_in_any_order(order: tuple[int, ...]) -> None:
    """The one before died while the topology drained. Stream and metrics managers find the new one whenever they look."""
    first = master(version=100)
    for one in (1, 2):
        first.on_register(member(one))
        first.on_report(report(one, rows_in=10, rows_out=4), 0)
    first.on_request(ClientRequest.STOP, 0)
    second = master(version=1_000, stored=first.execution_state)
    pause = second.plan.pause
    assert pause == first.plan.pause
    assert second.version > first.version
    events = [
        lambda: second.on_register(member(1)),
        lambda: second.on_register(member(2)),
        lambda: second.on_report(report(1, rows_in=10, rows_out=4, pause=pause), 0),
        lambda: second.on_report(report(2, rows_in=10, rows_out=4, pause=pause), 0),
    ]
    done = set[int]()
    for place in order:
        events[place]()
        done.add(place)
        assert (second.state is RunState.STOPPED) == (done >= {2, 3})
    assert second.status(0).rows_in == first.status(0).rows_in == 20
    assert second.status(0).rows_out == 4


def test_it_ends_when_all_have_finished_and_an_end_is_final() -> None:
    machine = master()
    assert state_after(machine, report(1, finished=True)) is RunState.STARTING
    assert state_after(machine, report(2, finished=True)) is RunState.FINISHED
    machine.on_report(ContainerReport(container=1, failed="too late"), 0)
    assert (machine.state, machine.status(0).reason) == (RunState.FINISHED, "")


def test_it_fails_with_a_task_or_a_process_that_cannot_be_kept_running() -> None:
    machine = master()
    machine.on_report(ContainerReport(container=1, tasks=[TaskReport(task=1, failed="no such file")]), 0)
    assert (machine.state, machine.reason) == (RunState.FAILED, "no such file")
    machine = master()
    machine.on_report(ContainerReport(container=2, failed="'same': died 13 times in a row"), 0)
    assert (machine.state, machine.execution_state) == (RunState.FAILED, b"failed")


def test_a_loss_is_told_when_all_spouts_have_reported_behind_it() -> None:
    machine = master(settings=Settings(delivery=Delivery.AT_MOST_ONCE))
    state_after(machine, report(1), report(2))
    lost = TaskReport(task=3, incarnation=1, events=[Event(sequence=1, kind=ROWS_LOST, text="lost", count=1)])
    assert SendPlan() in machine.on_report(ContainerReport(container=1, tasks=[lost]), 0)
    asked = machine.version
    assert not machine.status(0).events
    machine.on_report(report(1, plan=asked, batches_in=1), 0)
    assert not machine.status(0).events, "the spout in container 2 may have read more before the loss"
    machine.on_report(report(2, plan=asked, batches_in=1), 0)
    assert [event.text for event in machine.status(0).events] == ["lost"]


def test_the_status_adds_up_containers_with_the_masters_own_first() -> None:
    machine = master()
    slow = StreamManagerReport(container=2, slow=[4])
    machine.on_report(ContainerReport(container=2, restarts=2, deaths=["b"], stream_managers=[slow]), 0)
    machine.on_own_report(ContainerReport(container=0, restarts=1, deaths=["a"]))
    status = machine.status(0)
    assert (status.restarts, list(status.deaths), status.back_pressure) == (3, ["a", "b"], True)
    assert machine.state is RunState.STARTING, "container 1 has not reported"


def with_epochs(
    stored: bytes = b"", delivery: Delivery = Delivery.AT_LEAST_ONCE, **given: object
) -> TopologyMasterMachine:
    topology = replace(numbers(Path()), settings=Settings(delivery, checkpoint_interval_ms=1_000))
    return TopologyMasterMachine(Placement(topology, packed(topology, 2)), 100, stored, **given)  # type: ignore[arg-type]


def say(machine: TopologyMasterMachine, **counts: object) -> None:
    for container in (1, 2):
        machine.on_report(report(container, **counts), 0.0)


def saved(epoch: int) -> EpochFiles:
    return EpochFiles(epoch=epoch, files=[EpochFile(name="f", size=1, digest="d")])


def test_an_epoch_is_a_pause_in_the_plan_and_no_pause_to_users() -> None:
    machine = with_epochs()
    say(machine)
    machine.on_tick(0)
    assert SendPlan() in machine.on_tick(1_000)
    plan = machine.plan
    assert (plan.epoch, plan.pause, plan.kept) == (1, plan.version, 0)
    say(machine, pause=plan.pause, taken=1)
    assert machine.state is RunState.RUNNING
    assert SendPlan() in machine.on_tick(1_050)
    assert (machine.plan.epoch, machine.plan.pause) == (0, 0)
    say(machine, taken=1, saved=saved(1))
    assert machine.epochs.to_do is not None
    assert SendPlan() in machine.on_epoch_kept(1, 1_100), "sources may commit from the first one on"
    assert machine.plan.kept == 1


def test_a_pause_that_is_asked_for_while_an_epoch_drains_goes_on_behind_it() -> None:
    machine = with_epochs()
    say(machine)
    machine.on_tick(0)
    machine.on_tick(1_000)
    pause = machine.plan.pause
    machine.on_request(ClientRequest.DEACTIVATE, 1_010)
    say(machine, pause=pause, taken=1)
    machine.on_tick(1_020)
    assert machine.plan.pause == pause
    assert machine.state is RunState.PAUSED
    machine.on_request(ClientRequest.ACTIVATE, 1_030)
    assert machine.plan.pause == 0


def test_one_that_is_stopped_ends_when_its_last_epoch_is_kept() -> None:
    machine = with_epochs()
    say(machine)
    machine.on_tick(0)
    machine.on_request(ClientRequest.STOP, 10)
    machine.on_tick(20)
    plan = machine.plan
    assert (plan.epoch, plan.pause > 0) == (1, True)
    say(machine, pause=plan.pause, taken=1, saved=saved(1))
    machine.on_tick(30)
    assert machine.state is RunState.RUNNING
    machine.on_epoch_kept(1, 40)
    assert machine.state is RunState.STOPPED


def test_one_whose_last_epoch_is_not_kept_has_said_why_when_it_ends() -> None:
    """The end could be told before the reason was: a command that waited for the epoch had none to show."""
    machine = with_epochs()
    say(machine)
    machine.on_tick(0)
    machine.on_request(ClientRequest.STOP, 10)
    machine.on_tick(20)
    say(machine, pause=machine.plan.pause, taken=1)
    machine.on_tick(30)
    say(machine, pause=machine.plan.pause, taken=1, saved=EpochFiles(epoch=1), epoch_failed="no room")
    assert machine.state is RunState.STOPPED
    assert [event.text for event in machine.status(40).events] == ["epoch 1 is not kept: no room"]


def test_one_whose_epochs_nobody_goes_on_from_ends_without_a_last_one() -> None:
    machine = with_epochs(leaves_epochs=False)
    say(machine)
    machine.on_tick(0)
    machine.on_request(ClientRequest.STOP, 10)
    machine.on_tick(20)
    plan = machine.plan
    assert (plan.epoch, plan.pause > 0) == (0, True)
    say(machine, pause=plan.pause)
    assert machine.state is RunState.STOPPED


def test_one_that_publishes_has_finished_when_a_last_epoch_is_published() -> None:
    machine = with_epochs(delivery=Delivery.EFFECTIVELY_ONCE)
    say(machine)
    machine.on_tick(0)
    say(machine, finished=True)
    assert machine.state is RunState.RUNNING, "its last rows are not visible yet"
    machine.on_tick(20)
    assert machine.plan.epoch == 1
    say(machine, finished=True, taken=1, saved=saved(1))
    machine.on_tick(30)
    assert SendPlan() in machine.on_epoch_kept(1, 40)
    assert (machine.state, machine.plan.kept) == (RunState.RUNNING, 1)
    say(machine, finished=True, taken=1, published=1)
    assert machine.state is RunState.FINISHED


def test_one_that_publishes_and_goes_back_at_its_end_has_not_finished() -> None:
    machine = with_epochs(delivery=Delivery.EFFECTIVELY_ONCE)
    say(machine)
    machine.on_tick(0)
    say(machine, finished=True)
    say(machine, incarnation=1, needs_restore=True)
    machine.on_gone_back(Generation(1, 0), [], 10)
    say(machine, incarnation=2, generation=1)
    machine.on_tick(20)
    assert (machine.state, machine.plan.epoch) == (RunState.RUNNING, 0)


def test_sinks_that_publish_hear_of_each_epoch_at_once() -> None:
    machine = with_epochs(delivery=Delivery.EFFECTIVELY_ONCE, kept=3)
    assert SendPlan() in machine.on_epoch_kept(4, 0)
    assert SendPlan() not in with_epochs(kept=3).on_epoch_kept(4, 0)


def test_all_go_back_in_a_plan_of_the_next_generation() -> None:
    machine = with_epochs(started_from=Generation(2, 5), kept=6)
    say(machine, generation=2)
    machine.on_report(report(1, generation=2, incarnation=1, needs_restore=True), 0)
    assert machine.epochs.to_do == GoBack(3, machine.epochs.kept)
    assert SendPlan() in machine.on_gone_back(Generation(3, 6), ["epoch 7 cannot be used: torn"], 10)
    assert (machine.plan.generation, machine.plan.restore) == (3, 6)
    told = {event.kind: event.text for event in machine.status(20).events}
    assert told["rolled-back"].startswith("all tasks went back to epoch 6: task ")
    assert told["epoch-failed"] == "epoch 7 cannot be used: torn"


def test_where_no_epoch_can_be_read_it_fails() -> None:
    machine = with_epochs()
    machine.on_nothing_to_go_back_to(["epoch 1 cannot be used: torn"])
    assert (machine.state, machine.reason) == (RunState.FAILED, "no epoch can be read: epoch 1 cannot be used: torn")


def test_after_many_times_in_vain_it_fails() -> None:
    machine = with_epochs(kept=1)
    for generation in range(1, IN_VAIN_MAX + 2):
        assert machine.state is not RunState.FAILED
        machine.on_report(report(1, generation=generation - 1, incarnation=generation, needs_restore=True), 0)
        machine.on_gone_back(Generation(generation, 1), [], 0)
    assert machine.state is RunState.FAILED
    assert "went back to epoch 1 12 times" in machine.reason
