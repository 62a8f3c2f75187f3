"""The law of --bootstrap: what is filled from history answers as the new query does of the whole input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.errors import TopologyError
from ouzel.planner.evolution import Evolution, StateFate, compare_topologies, filled_name
from ouzel.planner.packing import repack
from ouzel.planner.topology import Task
from ouzel.runtime.simulator.faults import kill_stateful_task
from ouzel.runtime.simulator.history import fill, upstream_part
from ouzel.runtime.simulator.world import World
from ouzel.runtime.tasks.partitions import SourceHistory
from ouzel.session import Job
from tests.effort import seeds
from tests.simulator.test_epochs import walk, walk_steps
from tests.simulator.test_evolution import (
    COUNT,
    EMPTIED,
    EVENTS,
    INTERVAL,
    JOIN,
    SESSIONS,
    TOP,
    WINDOWS,
    Case,
    answer_of,
    begin,
    ran,
    rows,
)

CASES = {
    **EMPTIED,
    "windows in place of a count": Case(COUNT, f"SELECT window_end AS e, MAX(n) AS top, SUM(n) AS total {EVENTS}", "3"),
    "sessions in place of the last of each": Case(TOP, SESSIONS, "1"),
}


def evolve(world: World, before: Job, after: Job) -> tuple[Evolution, list]:
    """Have the world go on as the new query, which is filled from the history up to an epoch; what history answers."""
    evolution = compare_topologies(before.topology, after.topology, fills=True)
    newest = world.epochs.newest.number
    walk(world, World.take_epoch)
    walk(world, lambda world: world.epochs.newest.number > newest)
    epoch = world.epochs.newest
    history = {}
    for name, former in evolution.formers.items():
        last = [chain[-1] for chain in epoch.chains.values() if chain[-1].component == former.component]
        if last and name in {one.name for one in after.topology.components if not one.inputs}:
            places = {partition: place for one in last for partition, place in one.places.items()}
            history[name] = SourceHistory(places, min(one.time_us for one in last))
    part = upstream_part(after.topology, evolution.filled)
    filled = fill(part, repack(part, after.packing), Path(), history)
    for name, kept in history.items():
        assert {one: place.read for one, place in filled.places[name].items() if place.read} == {
            one: place.read for one, place in kept.places.items() if place.read
        }
    number, chains, tasks = 1 + max(task.id for task in epoch.tasks), dict(epoch.chains), list(epoch.tasks)
    for snapshot in filled.snapshots:
        name = filled_name(snapshot.component)
        chains[number] = (replace(snapshot, component=name, places={}),)
        tasks.append(Task(number, name, snapshot.index))
        number += 1
    world.epochs.newest = replace(epoch, chains=chains, tasks=tasks)
    world._become(after.topology, evolution.formers)
    return evolution, list(filled.answers)


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("name", CASES)
def test_what_is_filled_answers_as_the_new_query_does_of_all(name: str, seed: int) -> None:
    before, after, world = begin(CASES[name], seed)
    evolution, answers = evolve(world, before, after)
    fates = {one.fate for one in evolution.operators} - {StateFate.DROPPED}
    assert fates == {StateFate.FILLED}, evolution.operators
    answered = set(world.frames)
    if world.random.random() < 0.7:  # all go back to the filled epoch
        walk_steps(world, world.random.randint(5, 100))
        kill_stateful_task(world)
    found = [frame for number, frame in ran(world).frames.items() if number not in answered]
    assert rows(after, [*answers, *found]).equals(answer_of(after, seed)), f"seed={seed}: {world.happened}"


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (Case(WINDOWS, JOIN), "table 'tocks', which it reads, has none"),
        (Case(JOIN, INTERVAL), "drops rows that are late, of several tables"),
    ],
)
def test_what_cannot_be_filled_is_refused_before_anything_stops(case: Case, why: str) -> None:
    before, after, _ = begin(case, 0)
    with pytest.raises(TopologyError, match=why):
        compare_topologies(before.topology, after.topology, fills=True)
