"""Filling the state of a topology from history: a run of it in this process, over all that its sources had given up to an epoch.

What it keeps at its end is what it would keep had it run from the beginning: its sources stop where those of the epoch stood, and event
time is brought to where it was then, so that exactly those windows are closed which were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from ouzel.errors import TopologyError
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Delivery
from ouzel.planner.topology import Topology
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.simulator.host import TICK_MS
from ouzel.runtime.simulator.world import World
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from ouzel.runtime.tasks.partitions import SourceHistory
from ouzel.runtime.tasks.source import SourceSpout

_QUIET_TICKS = 10
"""So many ticks in which nothing is on its way say that nothing more comes of what was read."""


@dataclass(frozen=True)
class Filled:
    """What came of it.

    Attributes:
        snapshots: what each task keeps, whole.
        answers: the frames of the result, in order.
        places: by component, where its source stands in each partition.
    """

    snapshots: tuple[TaskSnapshot, ...]
    answers: tuple[pl.DataFrame, ...]
    places: Mapping[str, Mapping[str, Place]]


def upstream_part(topology: Topology, components: frozenset[str]) -> Topology:
    """These components, and all that rows come to them through."""
    wanted = components | topology.upstream(*components)
    settings = replace(topology.settings, delivery=Delivery.AT_LEAST_ONCE)
    return replace(
        topology, components=tuple(one for one in topology.components if one.name in wanted), settings=settings
    )


def fill(
    topology: Topology,
    packing: PackingPlan,
    directory: Path,
    history: Mapping[str, SourceHistory],
    go_on: Callable[[], object] = lambda: None,
) -> Filled:
    """Read the history of a topology's sources, by component, and see what its tasks keep then.

    Args:
        topology, packing, directory: what runs; its result is kept in memory.
        history: of each source up to where; one that is left out gives nothing.
        go_on: is called now and then, and may raise.

    Raises:
        OuzelError: a source is gone or unreadable, or a row cannot be computed.
    """
    frames: list[pl.DataFrame] = []
    world = World(
        topology, packing, directory, topology.settings.seed, lambda _, frame: frames.append(frame), history=history
    )
    try:
        _run(world, lambda: _has_read(world), go_on)
        for _ in range(_QUIET_TICKS):
            until_ms = world.now_ms + 2 * TICK_MS
            _run(world, lambda until_ms=until_ms: world.now_ms >= until_ms and _is_quiet(world), go_on)  # type: ignore[misc]
        world.take_epoch()
        _run(world, lambda: world.epochs.newest.number > 0, go_on)
        chains = [world.epochs.newest.chains[host.task.id] for host in world.hosts.values()]
    finally:
        for host in world.hosts.values():
            host.machine.close()
    places: dict[str, dict[str, Place]] = {}
    for chain in chains:
        places.setdefault(chain[-1].component, {}).update(chain[-1].places)
    assert all(len(chain) == 1 and chain[0].is_whole for chain in chains)
    return Filled(tuple(chain[0] for chain in chains), tuple(frames), places)


def _run(world: World, is_done: Callable[[], bool], go_on: Callable[[], object]) -> None:
    while not is_done():
        go_on()
        if world.failed:
            raise TopologyError(world.failed)
        if world.step():
            world.now_ms += 0.01
        else:
            world.rest()


def _has_read(world: World) -> bool:
    machines = (host.machine for host in world.hosts.values())
    return all(machine.has_read_history for machine in machines if isinstance(machine, SourceSpout))


def _is_quiet(world: World) -> bool:
    return not any(world.links.values()) and not any(host.machine.acker.pending for host in world.hosts.values())
