"""A thousand rescales of one topology, one after the other: rows were lost in one of three hundred elsewhere (FLINK-38544)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import SubmissionError
from ouzel.planner.rescaling import with_parallelism
from ouzel.planner.topology import Topology
from ouzel.runtime.simulator.faults import kill_stateful_task, starve
from ouzel.runtime.simulator.world import World
from ouzel.session import load_text
from tests.effort import few_seeds
from tests.simulator.test_epochs import EPOCHS, walk, walk_steps

RESCALES, ROWS, KEYS = 1_000, 60_000, 7
QUERY = f"""
CREATE TABLE ticks (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'partitions' = '2', 'fields.n.kind' = 'sequence');
SELECT n % {KEYS} AS k, COUNT(*) AS many, SUM(n) AS total FROM ticks GROUP BY n % {KEYS} EMIT CHANGES;
"""


def rescaled(world: World) -> Topology:
    """Some components have other numbers of tasks."""
    topology = world.topology
    while topology is world.topology:
        for component in world.topology.components:
            with suppress(SubmissionError):  # it has so many
                topology = with_parallelism(topology, {component.name: world.random.randint(1, 5)})
    return topology


def becomes(world: World, topology: Topology) -> bool:
    """Whether it has. An update that ends because all go back is asked for again, as whoever updates for real has to."""
    if world.topology is not topology:
        world.update(topology)
    return world.topology is topology


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", few_seeds())
def test_nothing_is_lost_nor_counted_twice(seed: int) -> None:
    """Some begin before the former one is over, for a task dies, or all wait for a core."""
    job = load_text(QUERY, Path(), "ticks", (*EPOCHS, ("batch.rows", "5")))
    world = World(job.topology, job.packing, Path(), seed)
    for number in range(RESCALES):
        topology = rescaled(world)
        walk(world, lambda world, topology=topology: world.update(topology))  # type: ignore[misc]
        if number % 10 == 0:
            world.random.choice([kill_stateful_task, starve])(world)
        walk(world, lambda world, topology=topology: becomes(world, topology))  # type: ignore[misc]
        walk_steps(world, world.random.randint(1, 10))
    assert not world.has_finished, "there were no rows left to lose"
    while not world.done:
        walk_steps(world, 10_000)
    rows: dict[tuple[int, int, int], int] = {}
    for frame in world.frames.values():
        for *row, weight in frame.select("k", "many", "total", WEIGHT).rows():
            rows[tuple(row)] = rows.get(tuple(row), 0) + weight  # type: ignore[index]
    expected = {(k, len(range(k, ROWS, KEYS)), sum(range(k, ROWS, KEYS))): 1 for k in range(KEYS)}
    assert {row: weight for row, weight in rows.items() if weight} == expected
