"""What can go wrong, or come between, in a simulated world. Each happens once, somewhere; the law must hold all the same.

Without epochs none of these may kill a task with state in memory: at least once does not promise to survive that exactly (see
`kill_stateful_task`). With epochs all go back to the last one, and the law holds again.
"""

from __future__ import annotations

import contextlib
from random import Random

from ouzel.errors import SubmissionError
from ouzel.planner.rescaling import KEY_GROUPS, with_parallelism
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.simulator.world import World
from ouzel.runtime.state.context import KeyGroups, Snapshot, key_groups_of
from ouzel.runtime.tasks.bolt import ChainBolt


def lose_link(world: World) -> None:
    """A connection between two containers, or inside one, breaks: what was on it is lost."""
    if world.links:
        broken = world.random.choice(sorted(world.links))
        lost = world.lose(lambda source, destination: (source, destination) == broken)
        world.happened.append(f"link {broken} lost {lost} messages")


def kill_stream_manager(world: World) -> None:
    """A stream manager dies: all that was in it is lost; its tasks connect to the next one."""
    container = world.random.choice(world.packing.containers)
    tasks = {task.id for task in container.tasks}
    lost = world.lose(lambda source, destination: source in tasks or destination in tasks)
    world.reconnect(sorted(tasks))
    world.happened.append(f"stream manager {container.id} died with {lost} messages")


def kill_stateless_task(world: World) -> None:
    """A task that keeps nothing dies: a spout, or a bolt without state."""
    _kill(world, stateful=False)


def kill_in_flight(world: World) -> None:
    """A task that keeps nothing dies the next time it handles a batch: the batch is under suspicion, and does nothing. With epochs any."""
    victims = [task for task, host in world.hosts.items() if world.keeps_epochs or not host.machine.stateful]
    if victims:
        victim = world.random.choice(victims)
        world.notes[victim].deadly = True
        world.happened.append(f"task {victim} ({world.hosts[victim].task.component}) is killed over its next batch")


def kill_stateful_task(world: World) -> None:
    """A task that keeps state dies, and its state with it: counts may come out lower, but where there are epochs."""
    _kill(world, stateful=True)


def take_epoch(world: World) -> None:
    """The topology comes to rest until all tasks are snapshotted; perhaps something goes wrong meanwhile, or the user pauses it.

    Perhaps other epochs follow, one after the other.
    """
    world.takes_epochs = world.random.random() < 0.6
    if world.take_epoch():
        world.happened.append(f"epoch {world.epochs.taking}")
        if world.random.random() < 0.5:
            world.let_come_soon(world.random.choice([kill_stateless_task, kill_in_flight, kill_stream_manager, pause]))


def abandon_epoch(world: World) -> None:
    """The topology comes to rest to be snapshotted, and goes on when some tasks have been; then it tries again."""
    if world.take_epoch(abandons_at=world.random.randint(1, len(world.hosts))):
        world.happened.append(f"epoch {world.epochs.taking}, to be abandoned")


def lose_state_after_epoch(world: World) -> None:
    """A task that keeps state dies not long after the next complete epoch."""
    world.after_epoch.append(kill_stateful_task)
    take_epoch(world)


def lose_state_twice(world: World) -> None:
    """A task that keeps state dies, and while all go back another does, or one that keeps nothing."""
    _kill(world, stateful=True)
    _kill(world, stateful=world.random.random() < 0.5)


def rescale_some(world: World) -> None:
    """Some components get other numbers of tasks at an epoch; perhaps a task dies, or all go back, as soon as they have them."""
    wanted = {
        component.name: world.random.randint(1, 5)
        for component in world.topology.components
        if world.random.random() < 0.6
    }
    topology = world.topology
    for name, tasks in wanted.items():
        with contextlib.suppress(SubmissionError):  # it cannot have so many, or has them
            topology = with_parallelism(topology, {name: tasks})
    if topology is world.topology:
        return
    if world.random.random() < 0.5:
        world.after_epoch.append(world.random.choice([kill_stateful_task, kill_stateless_task, lose_state_twice]))
    if not world.update(topology):
        world.let_come_soon(rescale_some)


def stall_task(world: World) -> None:
    """A task hangs for a while, and then goes on."""
    task = world.random.choice(sorted(world.hosts))
    world.hosts[task].stall(world.now_ms + world.random.choice([100.0, 3_000.0]))
    world.happened.append(f"task {task} stalled")


def starve(world: World) -> None:
    """Others have all cores, for longer than replays wait: no task does anything, and each hears of that when it goes on."""
    lasts_ms = world.random.choice([500.0, 3_000.0, 60_000.0])
    for host in world.hosts.values():
        host.starve(world.now_ms, world.now_ms + lasts_ms + world.random.uniform(0.0, 500.0))
    world.happened.append(f"all tasks had no core for {lasts_ms:g} ms")


def stall_sink(world: World) -> None:
    """What a sink writes to is slow, or away for longer than replays wait."""
    writing = [task for task, host in world.hosts.items() if host.machine.writer is not None]
    if writing:
        task = world.random.choice(sorted(writing))
        world.hosts[task].stall_sink(world.now_ms + world.random.choice([12.0, 500.0, 25_000.0]))
        world.happened.append(f"sink of task {task} stalled")


def fail_sink(world: World) -> None:
    """What a sink writes to refuses from now on: the topology must fail, and ack nothing more."""
    for host in world.hosts.values():
        host.sink_refuses = host.machine.writer is not None
    world.happened.append("the sink refuses")


def pause(world: World) -> None:
    """Nothing goes wrong, but the topology is paused, and resumed at once, or while it drains, or when it has long been at rest."""
    world.deactivate()
    world.resumes_at = world.now_ms + world.random.choice([0.0, 20.0, 500.0, 5_000.0])
    world.happened.append("paused")


def stop(world: World) -> None:
    """The user stops the topology."""
    world.stop()
    world.happened.append("stopped")


def move_state(world: World) -> None:
    """What a task keeps is snapshotted; perhaps its place is taken by what comes of splitting and merging the snapshots so far."""
    alive = [host for host in world.hosts.values() if not (host.finished or host.is_dead)]
    hosts = [host for host in alive if isinstance(host.machine, ChainBolt)]
    keeping = [host for host in hosts if isinstance(host.machine, ChainBolt) and host.machine.chain.states]
    if not keeping:
        return
    host = world.random.choice(keeping)
    world.flush_on_pause(host)
    moves = world.random.random() < 0.7 or world.keeps_epochs
    assert isinstance(host.machine, ChainBolt)
    operators = host.machine.chain.operators
    for place, operator in enumerate(operators):
        if operator.state is not None:
            taken = world.snapshots.setdefault(operator.state, [])
            # What has changed is told once: where there are epochs, it is told to them.
            snapshot = operator.state.snapshot() if world.keeps_epochs else operator.state.changes()
            taken[:] = [snapshot] if snapshot.whole else [*taken, snapshot]
            operators[place] = _move(operator, taken, world.random) if moves else operator
    world.happened.append(f"state of task {host.task.id} {'moved' if moves else 'snapshotted'}")


def _move(operator: Operator, snapshots: list[Snapshot], random: Random) -> Operator:
    """The operator, its state restored into several and from those into one again; what it has counted goes along."""
    tasks, parts = random.randint(1, 4), []
    assert operator.state is not None
    for task in range(tasks):
        part = operator.fresh()
        assert part.state is not None
        part.state.groups = _share(operator.state.groups, task, tasks)
        part.state.restore(snapshots)
        part.on_restored()
        parts.append([part.state.snapshot()])
    made = operator.fresh()
    assert made.state is not None
    made.state.groups = operator.state.groups
    made.state.restore(*parts)
    made.on_restored()
    made.counters, made.refused, made.late_frames = operator.counters, operator.refused, operator.late_frames
    return made


def _share(groups: KeyGroups, task: int, tasks: int) -> KeyGroups:
    """The groups of one of so many tasks that share these."""
    share = key_groups_of(task, tasks)
    size = groups.end - groups.first
    return KeyGroups(groups.first + share.first * size // KEY_GROUPS, groups.first + share.end * size // KEY_GROUPS)


def _kill(world: World, stateful: bool) -> None:
    victims = [task for task, host in world.hosts.items() if host.machine.stateful is stateful]
    if victims:
        victim = world.random.choice(victims)
        world.kill(victim)
        world.happened.append(f"task {victim} ({world.hosts[victim].task.component}) killed")


SURVIVABLE = (
    lose_link, kill_stream_manager, kill_stateless_task, kill_in_flight, stall_task, starve, stall_sink, pause, move_state,
)  # fmt: skip
"""Every fault after which the answer is still exact."""

SURVIVABLE_WITH_EPOCHS = (
    *SURVIVABLE, kill_stateful_task, lose_state_twice, lose_state_after_epoch, take_epoch, abandon_epoch,
)  # fmt: skip
"""Every fault after which the answer is still exact where there are epochs."""
