"""The topology master's service goes on while what it stores things in is slow."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import pytest

from ouzel.planner.settings import Settings
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.topology_master import TopologyMaster, make_machine
from ouzel.runtime.protocol.cluster.epochs import RESULT_ROWS_MAX, Generation
from ouzel.runtime.protocol.cluster.placement import Placement
from ouzel.runtime.protocol.cluster.topology_master import ClientRequest, TopologyMasterMachine
from ouzel.runtime.wire.wire_pb2 import ContainerReport, PlanRequest, TaskReport
from tests.process.topologies import numbers, packed


class SlowStore:
    """Keeps the last text; the first call waits until it may go on."""

    def __init__(self) -> None:
        self.asked, self.goes_on = Event(), Event()
        self.text = b""

    def __call__(self, text: bytes) -> None:
        self.asked.set()
        assert self.goes_on.wait(60)
        self.text = text


def served(store: SlowStore) -> TopologyMaster:
    topology = numbers(Path())
    machine = TopologyMasterMachine(Placement(topology, packed(topology, 2)), 1)
    return TopologyMaster(machine, store, ContainerReport, lambda: 0.0)


def test_reports_are_taken_while_a_request_waits_for_the_state_manager() -> None:
    """It was stored under the lock of all calls, and under that of the process's sign of life: the master was killed as one that hangs."""
    master = served(store := SlowStore())
    pause = Thread(target=lambda: master.Deactivate(PlanRequest(), cast(Any, None)), daemon=True)
    pause.start()
    assert store.asked.wait(60)
    master.Publish(ContainerReport(container=1, restarts=3), cast(Any, None))
    assert master.status().restarts == 3
    store.goes_on.set()
    pause.join()
    assert store.text == b"paused 2"


def test_what_was_asked_last_is_what_is_stored_last() -> None:
    master = served(store := SlowStore())
    calls = [
        Thread(target=lambda: master.Deactivate(PlanRequest(), cast(Any, None)), daemon=True),
        Thread(target=lambda: master.Activate(PlanRequest(), cast(Any, None)), daemon=True),
    ]
    calls[0].start()
    assert store.asked.wait(60)
    calls[1].start()
    store.goes_on.set()
    for call in calls:
        call.join()
    assert store.text == b"running"


def test_the_machine_of_a_run_knows_who_takes_its_rows_and_that_nobody_goes_on_from_its_epochs(tmp_path: Path) -> None:
    topology = replace(numbers(tmp_path), settings=Settings(checkpoint_interval_ms=10**9))
    last = topology.components[-1].name
    job = RunDescription("run", tmp_path, tmp_path, topology, packed(topology, 2), returning=last)
    machine = make_machine(job, b"", Generation(), 0, 1)

    def say(rows_out: int) -> None:
        for container in job.placement.containers:
            reports = [
                TaskReport(task=task.id, component=task.component, rows_out=rows_out)
                for task in job.placement.tasks_in(container)
            ]
            machine.on_report(ContainerReport(container=container, tasks=reports), 0.0)

    say(0)
    machine.on_tick(0)
    assert machine.plan.epoch == 0
    say(RESULT_ROWS_MAX)
    machine.on_tick(1)
    assert machine.plan.epoch == 1, "whoever takes the rows keeps them until the next epoch"
    assert not job.leaves_epochs
    assert replace(job, detached=True).leaves_epochs


def test_plans_of_a_later_leader_are_later_though_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = numbers(tmp_path)
    job = RunDescription("run", tmp_path, tmp_path, topology, packed(topology, 2))
    former = make_machine(job, b"", Generation(), 0, 1)
    former.on_request(ClientRequest.DEACTIVATE, 0.0)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    later = make_machine(job, b"", Generation(), 0, 2)
    assert later.version > former.version, "who waits for a plan would take the former leader's for it"
    later.on_request(ClientRequest.DEACTIVATE, 0.0)
    assert later.plan.pause > former.plan.pause, (
        "a sink that rests in the former pause would count as resting in the later one"
    )
