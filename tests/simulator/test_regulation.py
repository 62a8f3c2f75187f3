"""What is done about health by itself comes to rest, and never goes to and fro: load steps, skew, slow tasks and servers, from seeds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

import pytest

from ouzel.planner.settings import HealthPolicy
from ouzel.tracker.health.regulator import Regulator
from ouzel.tracker.health.resolvers import Bounds
from ouzel.tracker.health.treatments import Treatment, TreatmentOutcome
from tests.effort import seeds
from tests.simulator.regulated import ModelBolt, ModelTopology, regulate

HOUR_S = 3_600
END_S = 9 * HOUR_S
EACH = 10
"""Topologies of one seed."""

BOUNDS = Bounds(HealthPolicy.ALL, 1, 16)


def draw_bolt(random: Random, name: str, load_s: float) -> ModelBolt:
    """A bolt that manages the load with room to spare: even or skewed, computing or waiting, behind a server or not."""
    tasks = random.choice([1, 2, 4])
    cost_s = random.uniform(0.2, 0.55) * tasks / load_s
    keys: tuple[float, ...] = ()
    if random.random() < 0.4:
        hot = random.choice([0.0, 0.0, 0.3, 0.6, 0.9])
        keys = (hot, *[(1 - hot) / 200] * 200)
    server_s = load_s * random.uniform(1.2, 5) if random.random() < 0.2 else float("inf")
    cpu = 0.05 if random.random() < 0.3 else 1.0
    return ModelBolt(name, tasks, cost_s, cpu, keys, server_s, heals=random.random() < 0.7)


def draw_topology(seed: int) -> ModelTopology:
    """One to three bolts, a load that grows and comes back, and perhaps a task that becomes slow."""
    random = Random(seed)
    load_s = random.choice([100.0, 1_000.0, 20_000.0])
    bolts = [draw_bolt(random, name, load_s) for name in ("split", "count", "write")[: random.randint(1, 3)]]
    up_s, down_s = random.randrange(1_800, 5_400), random.randrange(9_000, 14_400)
    load = {0: load_s, up_s: load_s * random.choice([1, 2, 4, 4]), down_s: load_s}
    failures = {}
    if random.random() < 0.4:
        failures[random.randrange(1_800, 14_400)] = (
            random.choice(bolts).name,
            random.randrange(4),
            random.uniform(3, 10),
        )
    return ModelTopology(bolts, load, random, failures)


def turns(done: Sequence[Treatment]) -> int:
    """How often a component that was given more tasks gets fewer after that, or the other way round."""
    ways = [one.tasks > one.had for one in done if not one.is_restart]
    return sum(one != other for one, other in itertools.pairwise(ways))


def story(done: Sequence[Treatment]) -> str:
    """What was done, a line each."""
    return "\n".join(f"{one.began_s:,.0f} s: {one.title} for {one.verdict}: {one.outcome.value}" for one in done)


@pytest.mark.parametrize("seed", seeds())
def test_it_comes_to_rest_and_never_goes_to_and_fro(seed: int) -> None:
    for number in range(seed * EACH, (seed + 1) * EACH):
        model = draw_topology(number)
        events = sorted([*model.load, *model.failures])
        done = regulate(model, Regulator(BOUNDS), END_S)
        told = f"topology {number}:\n{story(done)}"
        assert all(one.began_s < END_S - HOUR_S for one in done), told
        for bolt in model.bolts:
            mine = [one for one in done if one.component == bolt.name]
            for begin, end in itertools.pairwise([*events, END_S]):
                assert turns([one for one in mine if begin <= one.began_s < end]) <= 2, told
            assert all(BOUNDS.least <= one.tasks <= BOUNDS.most for one in mine if not one.is_restart), told
        assert len(done) <= 4 * len(events) * len(model.bolts), told
        could = min(bolt.limit_s for bolt in draw_topology(number).bolts) > 1.2 * model.arrival_s
        if could and not any(bolt.slow for bolt in model.bolts):  # what it managed at first it manages in the end
            assert min(bolt.limit_s for bolt in model.bolts) > model.arrival_s, told


@pytest.mark.parametrize("hot", [0.5, 0.9])
@pytest.mark.parametrize("tasks", [1, 2])
def test_skew_is_not_answered_by_more_and_more_tasks(tasks: int, hot: float) -> None:
    keys = (hot, *[(1 - hot) / 200] * 200)
    bolt = ModelBolt("count", tasks, cost_s=0.0005, keys=keys)
    model = ModelTopology([bolt], {0: 500.0, 3_600: 8_000.0}, Random(1))
    regulator = Regulator(BOUNDS)
    done = regulate(model, regulator, END_S)
    ups = [one for one in done if one.resolver == "scale-up"]
    assert len(ups) <= 2, story(done)  # one task has nothing to compare with
    assert bolt.tasks <= 4, story(done)
    (title,) = regulator.held
    assert title.startswith("data-skew: count["), regulator.held


def test_more_tasks_in_front_of_a_slow_server_are_tried_once() -> None:
    bolt = ModelBolt("write", 1, cost_s=0.0005, cpu=0.05, server_s=1_000.0)
    model = ModelTopology([bolt], {0: 500.0, 3_600: 4_000.0}, Random(1))
    done = regulate(model, Regulator(BOUNDS), END_S)
    assert [(one.had, one.tasks, one.outcome) for one in done] == [(1, 2, TreatmentOutcome.DID_NOT_HELP)], story(done)


def test_a_load_step_is_followed_up_and_down() -> None:
    bolt = ModelBolt("count", 1, cost_s=0.0005)
    model = ModelTopology([bolt], {0: 1_000.0, 3_600: 4_000.0, 14_400: 1_000.0}, Random(1))
    done = regulate(model, Regulator(BOUNDS), END_S)
    assert [one.resolver for one in done if one.began_s < 14_400][:2] == ["scale-up", "scale-up"], story(done)
    assert bolt.tasks == 1, story(done)
    assert model.lag < 60 * model.arrival_s


if __name__ == "__main__":
    import sys
    import time

    for number in map(int, sys.argv[1:]):
        one = draw_topology(number)
        print(
            number,
            [(b.name, b.tasks, round(b.cpu, 2), bool(b.keys), b.server_s) for b in one.bolts],
            one.load,
            one.failures,
        )
        begin = time.process_time()
        done = regulate(one, Regulator(BOUNDS), END_S)
        print(round(time.process_time() - begin, 2), "s", flush=True)
        print(story(done), [b.tasks for b in one.bolts], one.lag)
