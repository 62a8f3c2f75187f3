"""A metrics manager tells a topology master all it does not know, and one that is new everything."""

from __future__ import annotations

from ouzel.runtime.protocol.cluster.metrics_manager import MetricsManagerMachine
from ouzel.runtime.protocol.cluster.processes import ProcessEntry, Processes
from ouzel.runtime.protocol.pace import REST_REPORT_MS
from ouzel.runtime.wire.wire_pb2 import Report, StreamManagerReport, TaskReport


def task(number: int, **counts: object) -> Report:
    return Report(task=TaskReport(task=number, **counts))  # type: ignore[arg-type]


def rows(machine: MetricsManagerMachine, now_ms: float = 0.0) -> list[dict[int, int]]:
    """By task how many rows it has read, of each message."""
    return [{one.task: one.rows_in for one in message.tasks} for message in machine.messages(Processes(), now_ms)]


def test_what_has_changed_is_told_once_and_how_the_container_stands_again_and_again() -> None:
    machine = MetricsManagerMachine(1)
    machine.on_report(task(1, rows_in=5))
    machine.on_report(task(2, rows_in=7))
    assert rows(machine) == [{1: 5, 2: 7}]
    assert rows(machine, REST_REPORT_MS - 1) == []
    machine.on_report(task(2, rows_in=8))
    assert rows(machine, REST_REPORT_MS - 1) == [{2: 8}]
    assert rows(machine, 2 * REST_REPORT_MS) == [{}]


def test_a_topology_master_that_is_new_hears_of_all_lives_of_every_task() -> None:
    machine = MetricsManagerMachine(1)
    machine.on_report(task(1, rows_in=5))
    machine.on_report(task(1, incarnation=1, rows_in=2))
    rows(machine)
    machine.on_new_master()
    (message,) = machine.messages(Processes(), 1.0)
    assert [(one.incarnation, one.rows_in) for one in message.tasks] == [(0, 5), (1, 2)]


def test_what_was_not_taken_is_told_again() -> None:
    machine = MetricsManagerMachine(1)
    machine.on_report(task(1, rows_in=5))
    next(machine.messages(Processes(), 0.0))  # the call fails
    machine.on_new_master()
    assert rows(machine) == [{1: 5}]


def test_what_a_client_waits_for_is_told_at_once() -> None:
    machine = MetricsManagerMachine(1)
    assert not machine.on_report(task(1, rows_in=5))
    assert machine.on_report(task(1, rows_in=6, finished=True))
    assert machine.on_report(task(2, failed="no such file"))
    assert not machine.on_report(Report(stream_manager=StreamManagerReport(container=1, slow=[2])))


def test_a_stream_manager_that_is_gone_does_not_speak_for_the_one_after_it() -> None:
    machine = MetricsManagerMachine(1)
    machine.on_report(Report(stream_manager=StreamManagerReport(container=1, incarnation=2)))
    machine.on_report(Report(stream_manager=StreamManagerReport(container=1, incarnation=1, slow=[3])))
    (message,) = machine.messages(Processes(), 0.0)
    assert [one.incarnation for one in message.stream_managers] == [2]


def test_the_table_of_processes_is_told_when_it_changes() -> None:
    machine, processes = MetricsManagerMachine(1), Processes()
    assert len(list(machine.messages(processes, 0.0))) == 1
    processes.note("instance-1", ProcessEntry(7, 7, 2))
    processes.add_death("it died")
    (message,) = machine.messages(processes, 1.0)
    assert (message.container, message.restarts, list(message.deaths)) == (1, 2, ["it died"])
