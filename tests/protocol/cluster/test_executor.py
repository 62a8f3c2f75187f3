"""An executor starts what has died, stores what runs before it works, and says how a process ended that cannot be kept running."""

from __future__ import annotations

import pytest

from ouzel.runtime.protocol.cluster.executor import (
    ExecutorInstruction,
    ExecutorMachine,
    FailContainer,
    StoreProcesses,
)
from ouzel.runtime.protocol.cluster.processes import DEATHS_TOLD, ProcessEntry, Processes
from ouzel.runtime.protocol.cluster.supervision import DEATHS_IN_A_ROW_MAX, Kill, Start

NAMES = ("stream-manager", "metrics-manager", "instance-4")
HANG_MS = 1_000


def executor(processes: Processes) -> ExecutorMachine:
    return ExecutorMachine(1, NAMES, {"instance-4": "count"}, HANG_MS, "/logs", processes)


def entry(incarnation: int) -> ProcessEntry:
    return ProcessEntry(100 + incarnation, 7, incarnation)


def start_all(machine: ExecutorMachine, now_ms: float) -> list[Start]:
    """Carry out what is due, as a shell does."""
    starts = [one for one in machine.on_tick(now_ms) if isinstance(one, Start)]
    for start in starts:
        assert machine.on_started(start.name, entry(start.incarnation)) == [StoreProcesses()]
    return starts


def dies_for_good(machine: ExecutorMachine, name: str) -> list[ExecutorInstruction]:
    """A process ends as often as it is started; what is said when that is enough."""
    now = 0.0
    for _ in range(DEATHS_IN_A_ROW_MAX):
        machine.on_exited(name, "exit code 1", now)
        now += 5_000
        start_all(machine, now)
    machine.on_exited(name, "exit code 1, no room", now)
    return machine.on_tick(now + 60_000)


def test_what_is_started_stands_in_the_table_with_its_deaths() -> None:
    machine = executor(processes := Processes())
    assert machine.on_adopted((), 0) == [StoreProcesses()]
    assert [one.name for one in start_all(machine, 0)] == list(NAMES)
    assert set(processes.entries) == set(NAMES)
    machine.on_exited("instance-4", "signal 9", 10)
    assert start_all(machine, 10) == [Start("instance-4", 1)]
    assert processes.deaths == ["instance-4 of container 1 was started again: signal 9"]
    assert processes.count_restarts() == 1


def test_an_executor_that_comes_late_starts_only_what_no_longer_runs() -> None:
    """It died after its processes; two of three still run, and one of these has been started before."""
    first = executor(processes := Processes())
    first.on_adopted((), 0)
    start_all(first, 0)
    first.on_exited("instance-4", "signal 9", 10)
    start_all(first, 10)
    second = executor(processes)
    assert second.on_adopted({"stream-manager", "instance-4"}, 60_000) == [StoreProcesses()]
    assert start_all(second, 60_000) == [Start("metrics-manager", 1)]
    assert processes.deaths[1:] == [
        "the executor of container 1 ended and was started again",
        "metrics-manager of container 1 was started again: it ended unseen",
    ]
    assert processes.count_restarts() == 3
    second.on_exited("instance-4", "it was another executor's child", 60_100)
    assert start_all(second, 60_100) == [Start("instance-4", 2)]


def test_a_topology_that_is_started_again_tells_no_deaths_of_before() -> None:
    processes = Processes()
    processes.entries = {name: ProcessEntry(0, -1, 2) for name in NAMES}
    processes.begins = dict.fromkeys(NAMES, 3)
    machine = executor(processes)
    machine.on_adopted((), 0)
    assert start_all(machine, 0) == [Start(name, 3) for name in NAMES]
    assert (processes.deaths, processes.count_restarts()) == ([], 0)
    machine.on_exited("instance-4", "signal 9", 10)
    assert start_all(machine, 10) == [Start("instance-4", 4)]
    assert processes.deaths == ["instance-4 of container 1 was started again: signal 9"]
    assert processes.count_restarts() == 1


def test_an_executor_that_died_between_a_start_and_the_table_starts_it_again() -> None:
    """The process it had forked does no work, for nobody has given it leave."""
    first = executor(processes := Processes())
    first.on_adopted((), 0)
    assert first.on_tick(0)[0] == Start("stream-manager", 0)
    second = executor(processes)
    second.on_adopted((), 10)
    assert start_all(second, 10)[0] == Start("stream-manager", 0)


def test_a_process_that_is_silent_is_killed_and_told_with_the_place_it_was_in() -> None:
    machine = executor(processes := Processes())
    start_all(machine, 0)
    for now in range(100, 2_000, 100):
        machine.on_tick(now)
    assert machine.on_silence("instance-4", 100, 2_100, None, False) == []
    for now in range(2_200, 5_000, 100):
        machine.on_tick(now)
    assert machine.is_suspect("instance-4", 3_000, 5_000)
    assert machine.on_silence("instance-4", 3_000, 5_000, None, False) == [Kill("instance-4")]
    machine.on_killing("instance-4", "silent for 3.0 s", "in price (/me/shop.py:9)")
    machine.on_exited("instance-4", "signal 9", 5_010)
    start_all(machine, 5_010)
    (death,) = processes.deaths
    assert death.endswith(
        "'count' neither computed nor showed any progress for longer than hang.timeout.ms = 1000 (silent for 3.0 s); "
        "it was in price (/me/shop.py:9)"
    )


def test_a_task_that_never_stays_up_stands_in_the_table_for_the_topology_master() -> None:
    machine = executor(processes := Processes())
    start_all(machine, 0)
    assert dies_for_good(machine, "instance-4") == [StoreProcesses()]
    assert processes.failed == (
        f"'count': instance-4 died {DEATHS_IN_A_ROW_MAX + 1} times in a row: exit code 1, no room; see its log, /logs/instance-4.log"
    )
    assert len(processes.deaths) == DEATHS_IN_A_ROW_MAX <= DEATHS_TOLD


@pytest.mark.parametrize("name", ["stream-manager", "metrics-manager"])
def test_without_a_manager_the_topology_master_would_hear_nothing_so_the_run_ends(name: str) -> None:
    machine = executor(Processes())
    start_all(machine, 0)
    reason = f"{name} died {DEATHS_IN_A_ROW_MAX + 1} times in a row: exit code 1, no room"
    assert dies_for_good(machine, name) == [FailContainer(f"container 1 cannot be kept running: {reason}")]


def test_one_that_keeps_dying_holds_up_no_other() -> None:
    machine = executor(Processes())
    start_all(machine, 0)
    dies_for_good(machine, "instance-4")
    machine.on_exited("stream-manager", "signal 9", 1e6)
    assert start_all(machine, 1e6) == [Start("stream-manager", 1)]
