"""What tasks tell with each report of how much they keep: operators of SQL by name, and components in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.topology import Resources, Topology
from ouzel.runtime.simulator.world import World
from ouzel.runtime.state.summary import StateSize
from ouzel.runtime.tasks.own_state import OWN_STATE
from tests.simulator.test_epochs import restored, walk, world_of
from tests.simulator.test_own_state import WORDS, Count, KeepsItself, topology

DISTINCT = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '300',
  'fields.n.kind' = 'sequence');
SELECT m, COUNT(*) AS many FROM (SELECT DISTINCT n % 30 AS m, n % 60 AS k FROM ticks) GROUP BY m EMIT CHANGES;
"""


def in_one_container(made: Topology) -> World:
    return World(made, PackingPlan((Container(1, tuple(made.tasks()), Resources()),)), Path(), 1)


def test_each_operator_of_sql_tells_by_its_name() -> None:
    world = world_of(DISTINCT, 1)
    walk(world, lambda world: world.done)
    keys: dict[tuple[str, str], int] = {}
    for host in world.hosts.values():
        for name, size in host.machine.metrics().states.items():
            keys[host.task.component, name] = keys.get((host.task.component, name), 0) + (size.keys or 0)
            assert size.bytes
            assert name in host.machine.operator_names
    assert sorted(keys.values()) == [30, 60], keys


def test_a_bolt_in_python_tells_what_its_last_snapshot_came_to() -> None:
    world = in_one_container(topology(Count()))
    walk(world, lambda world: world.done)
    counting = [host for host in world.hosts.values() if host.task.component == "count"]
    for host in counting:
        host.machine.snapshot(whole=True)
    sizes = [host.machine.metrics().states[OWN_STATE] for host in counting]
    assert sum(size.keys or 0 for size in sizes) == len(WORDS)
    assert sum(size.bytes or 0 for size in sizes) > sum(map(len, WORDS))
    assert [restored(world, host).metrics().states[OWN_STATE] for host in counting] == sizes, "at once"
    assert all(host.machine.metrics().states == {} for host in world.hosts.values() if host.task.component == "split")


def test_of_a_snapshot_that_cannot_be_kept_nothing_is_told() -> None:
    world = in_one_container(topology(KeepsItself()))
    bolt = next(host for host in world.hosts.values() if host.task.component == "count")
    assert bolt.machine.metrics().states == {OWN_STATE: StateSize()}
    with pytest.raises(TopologyError, match="cannot be kept"):
        bolt.machine.snapshot(whole=True)
    assert bolt.machine.metrics().states == {OWN_STATE: StateSize()}
