"""A bounded topology simulated to its end: what it answers, and what happened on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import polars as pl

from ouzel.errors import TopologyError
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Topology
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.simulator.batching import random_batching
from ouzel.runtime.simulator.world import Fault, World


@dataclass
class SimulatedRun:
    """What a finished simulation shows: the result sink's frames by batch id, in order, what was told to the user, and what was counted.

    `sources` are how many rows were read, acked and bad, as the tasks say that are there at the end.
    """

    frames: dict[int, pl.DataFrame]
    events: list[Event]
    faults: list[str]
    rows_late: int
    rows_failed: int
    sources: tuple[int, int, int]


_REACH = (25, 100, 400)
"""Within so many steps a fault comes: half of the law's runs take a hundred, and one drawn later would not come at all."""


def simulate(
    topology: Topology,
    packing: PackingPlan,
    directory: Path,
    *,
    seed: int = 0,
    faults: Sequence[Fault] = (),
    steps: int = 200_000,
) -> SimulatedRun:
    """Run a bounded topology to its end, with batching, order and faults drawn from `seed`.

    Raises:
        TopologyError: it failed, or did not end within `steps`.
    """
    random = Random(seed)
    topology = replace(topology, settings=random_batching(topology, random))
    world = World(topology, packing, directory, seed)
    world.delay_ms, world.commit_ms = random.choice([0.0, 5.0, 100.0]), random.choice([0.0, 50.0, 10_000.0])
    due = sorted(random.randint(1, random.choice(_REACH)) for _ in faults)
    coming = random.sample(list(faults), len(faults))
    for count in range(steps):
        if world.done:
            break
        if due and count >= due[0]:
            due.pop(0)
            coming.pop()(world)
        if world.step():
            world.now_ms += random.random()
        else:
            world.rest()
    if world.failed or not world.done:
        raise TopologyError(world.failed or f"did not end in {steps} steps; replay with seed={seed}")
    counts = [host.machine.metrics() for host in world.hosts.values()]
    late, failed = sum(count.rows_late for count in counts), sum(count.rows_failed for count in counts)
    told = [host.machine.metrics() for host in world.hosts.values() if host.machine.is_spout]
    sources = sum(one.rows_in for one in told), sum(one.rows_acked for one in told), sum(one.rows_bad for one in told)
    for host in world.hosts.values():
        host.close(world.now_ms)
    return SimulatedRun(world.frames, world.events, world.happened, late, failed, sources)
