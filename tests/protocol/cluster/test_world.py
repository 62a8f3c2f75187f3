"""Whichever processes of a cluster die, and however late they hear of each other: it comes to stand as it should."""

from __future__ import annotations

from random import Random

import pytest

from ouzel.runtime.protocol.cluster.topology_master import ClientRequest
from ouzel.runtime.run import RunState
from tests.effort import seeds
from tests.protocol.cluster.wires import frame
from tests.protocol.cluster.world import MASTER, World

VICTIMS = [
    MASTER, (0, "executor"), (1, "executor"), (2, "executor"), (1, "stream-manager"), (2, "stream-manager"),
    (1, "metrics-manager"), (2, "metrics-manager"), (1, "instance-3"), (2, "instance-4"), (2, "instance-2"),
]  # fmt: skip


def shaken(seed: int, kills: int = 12) -> World:
    """A cluster in which so many processes have died or hung, some while others were being started again."""
    world, random = World(seed), Random(seed)
    for _ in range(kills):
        for _ in range(random.randrange(60)):
            world.step(random.choice([0.2, 0.6, 0.9]))
        victim = random.choice(VICTIMS)
        if random.random() < 0.3:
            world.hang(victim)
        else:
            world.kill(victim)
    return world


def passes_frames(world: World, source: int, destination: int) -> bool:
    """Whether a frame goes from one task to another, in another container."""
    sender, receiver = world.tasks[source].end, world.tasks[destination].end
    assert sender is not None
    assert receiver is not None
    sender.send(frame(4711, destination=destination))
    world.cluster.run()
    receiver.read()
    return 4711 in receiver.ids()


@pytest.mark.parametrize("seed", seeds())
def test_all_run_know_each_other_and_have_heard_of_the_plan(seed: int) -> None:
    world = shaken(seed)
    world.settle()
    master = world.master
    assert master is not None
    assert master.state is RunState.RUNNING
    assert len(world.alive) == 1 + 2 * 2 + 5
    assert [one.container for one in master.plan.stream_managers] == [1, 2]
    assert {task.version for task in world.tasks.values()} == {master.version}
    assert passes_frames(world, 1, 4)
    assert passes_frames(world, 4, 5)
    assert not world.hung
    status = master.status(world.cluster.now)
    assert (status.plan, status.restarts) == (master.version, world.restarts)


@pytest.mark.parametrize("seed", seeds())
def test_what_was_asked_and_answered_is_done_whoever_dies_then(seed: int) -> None:
    world, random = shaken(seed, 4), Random(seed)
    while not world.request(ClientRequest.STOP):
        world.step(0.8)
    for _ in range(6):
        for _ in range(random.randrange(10)):
            world.step(0.6)
        world.kill(random.choice(VICTIMS))
    world.settle()
    assert world.master is not None
    assert world.master.state is RunState.STOPPED, f"replay with seed={seed}"


@pytest.mark.parametrize("seed", seeds())
def test_a_pause_holds_over_the_death_of_the_topology_master_and_ends_when_it_is_taken_back(seed: int) -> None:
    world = shaken(seed, 2)
    for request, state in ((ClientRequest.DEACTIVATE, RunState.PAUSED), (ClientRequest.ACTIVATE, RunState.RUNNING)):
        while not world.request(request):
            world.step(0.8)
        world.kill(MASTER)
        world.settle()
        assert world.master is not None
        assert world.master.state is state, f"replay with seed={seed}"
