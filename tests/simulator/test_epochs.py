"""A topology in the simulator goes back to epochs: what its tasks count goes on from there, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.runtime.protocol.messages import END_OF_TIME, Event, Instruction, Send, TimeStatus, Watermark, Write
from ouzel.runtime.protocol.task import TaskMachine
from ouzel.runtime.simulator.faults import kill_stateful_task, kill_stateless_task
from ouzel.runtime.simulator.host import Host
from ouzel.runtime.simulator.world import World
from ouzel.runtime.tasks.factory import TaskContext, make_task
from ouzel.session import load_text
from tests.effort import seeds
from tests.simulator.test_pauses import CHANGES, ROWS, SETTINGS, TICKS, counted

EPOCHS = (*SETTINGS, ("checkpoint.interval.ms", "1000"), ("seed", "1"))
EMPTY = TICKS + "SELECT COUNT(*) AS many FROM ticks WHERE n < 0;"
OUT_OF_ORDER = "at TIMESTAMP(3), ts AS CASE WHEN n % 100 = 99 THEN at - INTERVAL '1' HOUR ELSE at END,"
LATE = (
    TICKS.replace("ts TIMESTAMP(3),", OUT_OF_ORDER).replace("fields.ts", "fields.at")
    + """
SELECT window_end, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '5' SECOND))
GROUP BY window_start, window_end;"""
)


def world_of(text: str, seed: int) -> World:
    job = load_text(text, Path(), "ticks", EPOCHS)
    world = World(job.topology, job.packing, Path(), seed)
    world.delay_ms = world.random.choice([5.0, 100.0])
    return world


def walk(world: World, until: Callable[[World], bool]) -> None:
    for _ in range(30_000):
        if until(world):
            return
        world.now_ms += world.random.random() if world.step() else 10.0
    raise AssertionError(f"it does not come to that: {world.happened}")


def walk_steps(world: World, steps: int) -> None:
    left = iter(range(steps))
    walk(world, lambda _: next(left, None) is None)


def restored(world: World, host: Host) -> TaskMachine:
    """A machine made from what this one keeps."""
    context = TaskContext(world.topology, world.directory, world.container_tasks(host.task.id), incarnation=1)
    results = world.results.of(host.task.id)
    return make_task(host.task, replace(context, results=results, restored=(host.machine.snapshot(whole=True),)))


def hear_the_end(machine: TaskMachine) -> list[Instruction]:
    """What a machine does when all its inputs have ended."""
    ended = [Watermark(one, machine.task.id, END_OF_TIME, TimeStatus.FINISHED) for one in machine.links.sources]
    return machine.handle(ended, 1.0)


@pytest.mark.parametrize("seed", seeds())
def test_a_source_that_dies_while_all_come_to_rest_reads_again_what_was_on_its_way(seed: int) -> None:
    world = world_of(CHANGES, seed)
    walk_steps(world, world.random.randint(20, 200))
    assert world.take_epoch()
    walk_steps(world, world.random.randint(0, 5))
    kill_stateless_task(world)
    walk(world, lambda world: world.epochs.newest.number == 1)
    walk_steps(world, world.random.randint(0, 50))
    kill_stateful_task(world)
    walk(world, lambda world: world.done)
    assert counted(world) == ROWS, f"seed={seed}: {world.happened}"


def test_the_end_of_the_input_is_answered_once() -> None:
    world = world_of(EMPTY, 1)
    walk(world, lambda world: world.done)
    assert [frame["many"].to_list() for frame in world.frames.values()] == [[0]]
    for host in (host for host in world.hosts.values() if host.machine.stateful):
        made = hear_the_end(restored(world, host))
        assert not [
            one for one in made if isinstance(one, Write) or (isinstance(one, Send) and hasattr(one.message, "frame"))
        ]


def test_late_rows_are_counted_once() -> None:
    world = world_of(LATE, 1)
    walk(world, lambda world: world.done)
    counts = {host.task.id: host.machine.metrics().rows_late for host in world.hosts.values()}
    assert sum(counts.values()) > 0
    for task, host in world.hosts.items():
        if not host.machine.is_spout:
            machine = restored(world, host)
            events = [one for one in hear_the_end(machine) if isinstance(one, Event)]
            assert (machine.metrics().rows_late, events) == (counts[task], [])
