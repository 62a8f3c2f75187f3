"""What can go wrong, or come between, in a simulated world. Each happens once, somewhere; the law must hold all the same.

None of these kills a task with state in memory: at least once does not promise to survive that exactly (see `kill_stateful`).
"""

from __future__ import annotations

from ouzel.runtime.simulator.world import World


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


def kill_in_hand(world: World) -> None:
    """A task that keeps nothing dies the next time it handles a batch: the batch is under suspicion, and does nothing."""
    victims = [task for task, host in world.hosts.items() if not host.machine.stateful]
    if victims:
        victim = world.random.choice(victims)
        world.notes[victim].deadly = True
        world.happened.append(f"task {victim} ({world.hosts[victim].task.component}) is killed over its next batch")


def kill_stateful_task(world: World) -> None:
    """A task that keeps state dies, and its state with it: counts may come out lower."""
    _kill(world, stateful=True)


def stall_task(world: World) -> None:
    """A task hangs for a while, and then goes on."""
    task = world.random.choice(sorted(world.hosts))
    world.hosts[task].stalled_until = world.now_ms + world.random.choice([100.0, 3_000.0])
    world.happened.append(f"task {task} stalled")


def stall_sink(world: World) -> None:
    """What a sink writes to is slow, or away for longer than replays wait."""
    writing = [task for task, host in world.hosts.items() if host.machine.writer is not None]
    if writing:
        task = world.random.choice(sorted(writing))
        world.hosts[task].sink_stalled_until = world.now_ms + world.random.choice([12.0, 500.0, 25_000.0])
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


def _kill(world: World, stateful: bool) -> None:
    victims = [task for task, host in world.hosts.items() if host.machine.stateful is stateful]
    if victims:
        victim = world.random.choice(victims)
        world.restart(victim)
        world.happened.append(f"task {victim} ({world.hosts[victim].task.component}) killed")


SURVIVABLE = (lose_link, kill_stream_manager, kill_stateless_task, kill_in_hand, stall_task, stall_sink, pause)
"""Every fault after which the answer is still exact."""
