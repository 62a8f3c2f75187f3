"""When an epoch is taken, kept, given up; when all go back: in whatever order reports come, and after the death of a topology master."""

from __future__ import annotations

from random import Random

import pytest

from ouzel.runtime.protocol.cluster.epochs import (
    AGAIN_MS,
    DRAIN_LIMIT_MS,
    FLOW_TIMES,
    LONG_PAUSE_MS,
    RESULT_ROWS_MAX,
    EpochsMachine,
    Generation,
    GoBack,
    KeepEpoch,
    Phase,
)
from ouzel.runtime.wire.wire_pb2 import EpochFile, EpochFiles, TaskReport

TASKS = frozenset({1, 2, 3})
INTERVAL_MS = 1_000.0


def epochs(**given: object) -> EpochsMachine:
    return EpochsMachine(INTERVAL_MS, TASKS, **given)  # type: ignore[arg-type]


def say(machine: EpochsMachine, *tasks: int, **what: object) -> None:
    for task in tasks:
        machine.on_report(TaskReport(task=task, generation=machine.generation, **what))  # type: ignore[arg-type]


def files(epoch: int) -> EpochFiles:
    return EpochFiles(epoch=epoch, files=[EpochFile(name=f"{epoch}", size=1, digest="d")])


def begun(machine: EpochsMachine, now_ms: float = 0.0, version: int = 7) -> EpochsMachine:
    """With an epoch that drains."""
    say(machine, *TASKS)
    machine.on_tick(now_ms, True, version)
    assert machine.on_tick(now_ms + INTERVAL_MS, True, version)
    return machine


def test_an_epoch_is_a_pause_until_all_have_their_snapshots_and_is_kept_when_all_are_written() -> None:
    machine = begun(epochs())
    assert (machine.phase, machine.number, machine.pause) == (Phase.DRAINING, 1, 7)
    say(machine, 1, 2, taken=1)
    assert not machine.on_tick(1_010, True, 8)
    say(machine, 3, taken=1)
    assert machine.on_tick(1_020, True, 8)
    assert (machine.phase, machine.pause) == (Phase.WRITING, 0), "rows flow while snapshots are written"
    say(machine, 1, 2, taken=1, saved=files(1))
    assert machine.to_do is None
    say(machine, 3, taken=1, saved=files(1))
    assert machine.to_do == KeepEpoch(1, dict.fromkeys(TASKS, files(1)))
    machine.on_kept(1)
    assert (machine.phase, machine.kept, machine.to_do) == (Phase.IDLE, 1, None)


def test_none_begins_before_all_tasks_are_there_nor_while_the_topology_does_not_run() -> None:
    machine = epochs()
    machine.on_tick(0, True, 1)
    say(machine, 1, 2)
    assert not machine.on_tick(5_000, True, 1)
    say(machine, 3)
    assert not machine.on_tick(5_000, False, 1)
    assert machine.on_tick(5_000, True, 1)


def test_without_an_interval_there_are_none() -> None:
    machine = EpochsMachine(0, TASKS)
    say(machine, *TASKS, needs_restore=True)
    assert not machine.on_tick(1e9, True, 1)
    assert machine.to_do is None


def test_one_that_takes_too_long_is_given_up_and_its_number_is_not_used_again() -> None:
    machine = begun(epochs())
    say(machine, 1, taken=1, saved=files(1))
    assert not machine.on_tick(DRAIN_LIMIT_MS, True, 8)
    assert machine.on_tick(DRAIN_LIMIT_MS + 2 * INTERVAL_MS, True, 8)
    assert (machine.phase, machine.pause) == (Phase.IDLE, 0)
    assert machine.take_problem() == "epoch 1 is not kept: nothing of task 2 was written within 60 s"
    assert machine.take_problem() == ""
    paused_ms = DRAIN_LIMIT_MS + INTERVAL_MS
    assert not machine.on_tick((1 + FLOW_TIMES) * paused_ms, True, 9), "rows flow for longer than they stood still"
    assert machine.on_tick((1 + FLOW_TIMES) * paused_ms + INTERVAL_MS, True, 9)
    assert machine.number == 2


@pytest.mark.parametrize("publishes", [False, True])
def test_after_a_long_pause_rows_flow_for_longer_unless_they_are_only_seen_in_epochs(publishes: bool) -> None:
    machine = begun(epochs(publishes=publishes))
    say(machine, *TASKS, taken=1, saved=files(1))
    rests_ms = INTERVAL_MS + 3 * LONG_PAUSE_MS
    machine.on_tick(rests_ms, True, 8)
    machine.on_kept(1)
    assert machine.on_tick(rests_ms + INTERVAL_MS, True, 9) is publishes
    assert machine.on_tick(rests_ms + 3 * FLOW_TIMES * LONG_PAUSE_MS, True, 9) is not publishes


def test_one_begins_sooner_when_the_result_has_many_rows_that_somebody_keeps() -> None:
    machine = epochs(results=frozenset({2}))
    say(machine, *TASKS, rows_out=RESULT_ROWS_MAX)
    assert not machine.on_tick(0, True, 1), "what had been handed over when it was first heard of was kept by others"
    say(machine, 1, rows_out=3 * RESULT_ROWS_MAX)
    say(machine, 2, rows_out=2 * RESULT_ROWS_MAX - 1)
    assert not machine.on_tick(10, True, 1)
    say(machine, 2, rows_out=2 * RESULT_ROWS_MAX)
    assert machine.on_tick(20, True, 1)
    say(machine, *TASKS, taken=1, rows_out=2 * RESULT_ROWS_MAX, saved=files(1))
    machine.on_tick(30, True, 2)
    machine.on_kept(1)
    assert not machine.on_tick(40, True, 2), "it keeps none of those any more"


def test_one_of_which_a_task_dies_before_its_snapshot_is_written_is_given_up_at_once() -> None:
    machine = begun(epochs())
    say(machine, *TASKS, taken=1)
    machine.on_tick(1_100, True, 8)
    say(machine, 1, taken=1, saved=files(1))
    say(machine, 2, incarnation=1)
    assert machine.phase is Phase.IDLE
    assert machine.take_problem() == "epoch 1 is not kept: task 2 was started again before its snapshot was written"


def test_one_that_cannot_be_written_is_given_up() -> None:
    machine = begun(epochs())
    say(machine, 2, taken=1, saved=EpochFiles(epoch=1), epoch_failed="no space left")
    assert machine.on_tick(1_100, True, 8), "the pause has ended"
    assert (machine.phase, machine.pause) == (Phase.IDLE, 0)
    assert machine.take_problem() == "epoch 1 is not kept: no space left"
    assert machine.on_tick(10_000, True, 8)
    say(machine, 2, taken=2, saved=EpochFiles(epoch=1), epoch_failed="no space left")
    assert machine.phase is Phase.DRAINING, "that was the epoch before"
    say(machine, *TASKS, taken=2, saved=files(2))
    machine.on_tick(20_000, True, 9)
    machine.on_not_kept(2, "the disk is full")
    assert machine.take_problem() == "epoch 2 is not kept: the disk is full"
    assert machine.kept == 0


@pytest.mark.parametrize("phase", [Phase.IDLE, Phase.DRAINING, Phase.WRITING])
def test_a_task_that_has_lost_its_state_has_all_go_back(phase: Phase) -> None:
    machine = epochs(kept=4)
    if phase is not Phase.IDLE:
        begun(machine)
    if phase is Phase.WRITING:
        say(machine, *TASKS, taken=5)
        machine.on_tick(2_000, True, 8)
    assert machine.phase is phase
    say(machine, 2, incarnation=1, needs_restore=True, component="count")
    assert (machine.to_do, machine.pause) == (GoBack(1, 4), 0)
    assert machine.lost == "task 2 (count) was started again, without what it kept"
    machine.on_found(Generation(1, 4))
    assert (machine.generation, machine.restore, machine.kept, machine.phase) == (1, 4, 4, Phase.IDLE)
    machine.on_report(TaskReport(task=2, incarnation=1, generation=0, needs_restore=True))
    assert machine.phase is Phase.IDLE, "what comes late is of the generation before"
    assert not machine.on_tick(9_000, True, 9), "no epoch before all run in the new generation"
    for task in TASKS:
        machine.on_report(TaskReport(task=task, incarnation=2, generation=1))
    machine.on_tick(9_000, True, 9)
    assert machine.on_tick(9_000 + INTERVAL_MS, True, 9)
    assert machine.number == (5 if phase is Phase.IDLE else 6)


def test_in_the_last_pause_one_more_is_taken_whatever_the_time() -> None:
    machine = epochs()
    say(machine, *TASKS)
    assert machine.on_tick(0, False, 5, last_pause=5)
    assert (machine.phase, machine.pause, machine.is_last_kept) == (Phase.DRAINING, 5, False)
    say(machine, *TASKS, taken=1, saved=files(1))
    machine.on_tick(1, False, 5, last_pause=5)
    machine.on_kept(1)
    assert machine.is_last_kept
    assert not machine.on_tick(2, False, 5, last_pause=5)


def test_where_rows_are_published_the_last_one_is_over_when_all_are() -> None:
    machine = epochs(publishes=True)
    say(machine, *TASKS)
    machine.on_tick(0, False, 5, last_pause=5)
    say(machine, *TASKS, taken=1, saved=files(1))
    machine.on_tick(1, False, 5, last_pause=5)
    machine.on_kept(1)
    say(machine, 1, 2, published=1)
    assert not machine.is_last_kept
    assert not machine.on_tick(60_000, True, 5, last_pause=5), "no other one is needed"
    say(machine, 3, published=1)
    assert machine.is_last_kept


def test_where_rows_are_published_the_last_one_is_tried_until_it_is_kept() -> None:
    machine = epochs(publishes=True)
    say(machine, *TASKS)
    machine.on_tick(0, False, 5, last_pause=5)
    say(machine, 1, taken=1, saved=EpochFiles(epoch=1), epoch_failed="the disk is full")
    assert machine.on_tick(1, False, 5, last_pause=5), "tasks hear that it is given up"
    assert not machine.on_tick(AGAIN_MS - 1, False, 5, last_pause=5)
    assert machine.on_tick(AGAIN_MS, False, 5, last_pause=5)
    assert (machine.number, machine.is_last_kept) == (2, False)


def test_a_topology_master_that_comes_up_anew_goes_on_counting() -> None:
    machine = epochs(started_from=Generation(3, 8), kept=9)
    assert (machine.generation, machine.restore, machine.kept) == (3, 8, 9)
    for task in TASKS:
        machine.on_report(TaskReport(task=task, generation=3, taken=11))
    machine.on_tick(0, True, 1)
    assert machine.on_tick(INTERVAL_MS, True, 1)
    assert machine.number == 12, "the one before had begun 11, which was never whole"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_in_whatever_order_an_epoch_is_kept_only_of_one_pause_and_generation(seed: int) -> None:
    random = Random(seed)
    machine, now_ms = epochs(), 0.0
    told = {task: TaskReport(task=task) for task in TASKS}
    sent: list[TaskReport] = []
    for _ in range(3_000):
        now_ms += random.choice([1, 50, 500])
        machine.on_tick(now_ms, random.random() < 0.9, 1 + int(now_ms))
        task = random.choice(sorted(TASKS))
        report = told[task]
        match random.randrange(7):
            case 0 if (
                machine.phase is Phase.DRAINING and report.generation == machine.generation and not report.needs_restore
            ):
                report.taken = machine.number
            case 1 if report.taken:
                report.saved.CopyFrom(files(report.taken))
            case 2 if random.random() < 0.05 and report.generation == machine.generation:
                report.incarnation, report.needs_restore = report.incarnation + 1, True
            case 3 if report.generation < machine.generation:
                report.incarnation, report.generation, report.needs_restore = (
                    report.incarnation + 1,
                    machine.generation,
                    False,
                )
            case 4 if sent:
                machine.on_report(random.choice(sent[-30:]))
        copy = TaskReport()
        copy.CopyFrom(report)
        sent.append(copy)
        machine.on_report(copy)
        match machine.to_do:
            case KeepEpoch(epoch, written):
                assert written.keys() == TASKS
                assert {one.epoch for one in written.values()} == {epoch}
                machine.on_kept(epoch)
            case GoBack(number, _):
                assert number == machine.generation + 1
                machine.on_found(Generation(number, machine.kept))
    assert machine.kept > 0
    assert machine.generation > 0


def test_a_snapshot_for_a_topology_master_before_this_one_gives_up_the_epoch_and_its_number() -> None:
    """The deposed one had begun epoch 1, and nobody had told its successor: of two pauses one snapshot each would be one epoch."""
    machine = begun(epochs(leadership=2))
    say(machine, 1, taken=1, taken_by=1)
    assert (machine.phase, machine.take_problem()) == (
        Phase.IDLE,
        "epoch 1 is not kept: task 1 has taken a snapshot for a topology master before this one",
    )
    assert machine.on_tick(1_010, True, 8)
    assert machine.on_tick(3_000, True, 9)
    say(machine, 1, 2, 3, taken=2, taken_by=2)
    assert machine.on_tick(3_010, True, 10)
    assert (machine.phase, machine.number) == (Phase.WRITING, 2)


def test_what_a_process_said_that_has_died_is_not_taken_for_its_successor_s() -> None:
    """Its report was on its way, or a metrics manager that stood still sends it again."""
    machine = begun(epochs())
    late = TaskReport(task=3, incarnation=0, generation=machine.generation, taken=1, saved=files(1))
    say(machine, 3, incarnation=1)
    machine.on_report(late)
    say(machine, 1, 2, taken=1, saved=files(1))
    assert not machine.on_tick(1_010, True, 8)
    assert machine.phase is Phase.DRAINING, "the successor has taken no snapshot"
    say(machine, 3, incarnation=1, taken=1)
    assert machine.on_tick(1_020, True, 8)
    late.needs_restore = True
    machine.on_report(late)
    assert machine.phase is Phase.WRITING, "whom it has cost its state is not there any more"
    assert machine.to_do is None, "nor is what that one has written the successor's"
