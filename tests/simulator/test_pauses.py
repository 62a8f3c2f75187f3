"""A whole topology is paused among faults: at rest nothing is on its way and the answer is that of what was read; resumed, it is exact."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.protocol.messages import Data
from ouzel.runtime.simulator.faults import kill_stateless_task, kill_stream_manager, lose_link, stall_task
from ouzel.runtime.simulator.world import World
from ouzel.session import Job, load_text
from tests.effort import seeds

ROWS = 6_000
TICKS = f"""
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'partitions' = '2', 'fields.n.kind' = 'sequence', 'fields.ts.kind' = 'sequence',
  'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '10');
"""
CHANGES = TICKS + "SELECT n % 7 AS k, COUNT(*) AS many FROM ticks GROUP BY n % 7 EMIT CHANGES;"
DELAYED = CHANGES.replace("EMIT CHANGES", "EMIT AFTER DELAY INTERVAL '1' HOUR")
WINDOWS = (
    TICKS
    + """
SELECT window_end, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '5' SECOND))
GROUP BY window_start, window_end;"""
)
SETTINGS = (
    ("parallelism", "2"),
    ("containers", "2"),
    ("batch.rows", "100"),
    ("max.pending.rows", "300"),
    ("ack.timeout.ms", "2000"),
)
FAULTS = (lose_link, kill_stream_manager, kill_stateless_task, stall_task)


def world_of(text: str, seed: int, delivery: str = "at-least-once") -> tuple[Job, World]:
    job = load_text(text, Path(), "ticks", (*SETTINGS, ("delivery", delivery), ("seed", str(seed + 1))))
    world = World(job.topology, job.packing, Path(), seed)
    world.delay_ms = Random(seed).choice([0.0, 5.0, 100.0])
    return job, world


def walk(world: World, steps: int) -> None:
    for _ in range(steps):
        world.now_ms += world.random.random() if world.step() else 10.0


def rest(world: World) -> None:
    """Pause, and let the world go on until it is at rest."""
    world.deactivate()
    for _ in range(3_000):
        if world.at_rest:
            return
        walk(world, 1)
    raise AssertionError("it does not come to rest")


def resume(world: World) -> None:
    """Resume, and let the world go on to its end."""
    world.activate()
    for _ in range(20_000):
        if world.done:
            return
        walk(world, 1)
    raise AssertionError("it does not end")


def counted(world: World) -> int:
    """How many rows the answer speaks of."""
    return sum(int((frame["many"] * frame[WEIGHT]).sum()) for frame in world.frames.values())


def read(world: World) -> int:
    """How many rows have been read and wholly acked, over all lives of the spouts: one that died at its end has read no more."""
    ends = dict[str, int]()
    for host in world.hosts.values():
        told = {name: end for name, (_, end) in host.machine.metrics().ranges.items()}
        kept = {name: place.offset for name, place in host.places.items()}
        ends |= {name: max(told.get(name, 0), kept.get(name, 0)) for name in told | kept}
    return sum(ends.values())


def assert_nothing_is_on_its_way(world: World) -> None:
    assert not [one for link in world.links.values() for one in link if isinstance(one.message, Data)]
    assert not any(host.machine.acker.pending for host in world.hosts.values())


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("text", [CHANGES, DELAYED], ids=["changes", "delayed"])
def test_at_rest_the_answer_is_that_of_what_was_read(text: str, seed: int) -> None:
    _, world = world_of(text, seed)
    walk(world, 150)
    for fault in (lose_link, stall_task) if seed % 2 else ():
        fault(world)
    rest(world)
    assert_nothing_is_on_its_way(world)
    assert 0 < counted(world) == read(world) < ROWS
    frames = len(world.frames)
    walk(world, 500)
    assert (len(world.frames), world.at_rest) == (frames, True)
    resume(world)
    assert counted(world) == ROWS


@pytest.mark.parametrize("seed", seeds())
def test_whatever_dies_in_a_pause_it_goes_on_where_it_was(seed: int) -> None:
    _, world = world_of(CHANGES, seed)
    walk(world, 150)
    rest(world)
    answer = counted(world)
    for fault in world.random.choices(FAULTS, k=3):
        fault(world)
    walk(world, 400)
    rest(world)
    assert counted(world) == answer, f"rows were read in a pause; seed={seed}: {world.happened}"
    resume(world)
    assert counted(world) == ROWS, f"seed={seed}: {world.happened}"


@pytest.mark.parametrize("delivery", ["at-least-once", "at-most-once"])
@pytest.mark.parametrize("seed", seeds())
def test_windows_stay_open_in_a_pause_however_long(seed: int, delivery: str) -> None:
    _, world = world_of(WINDOWS, seed, delivery)
    walk(world, 250)
    rest(world)
    closed = pl.concat(
        [*world.frames.values(), pl.DataFrame(schema={"window_end": pl.Datetime("us"), "many": pl.Int64})]
    )
    times = {task: host.machine.metrics().watermark_us for task, host in world.hosts.items()}
    (reached,) = {times[task] for task in world.sinks}
    assert reached == min(times.values()), "what the slower spout knows has come through to the end"
    assert all(end <= reached + 1 for end in closed["window_end"].dt.timestamp("us"))
    world.now_ms += 3_600_000
    walk(world, 200)
    assert world.at_rest
    assert sum(map(len, world.frames.values())) == closed.height
    resume(world)
    assert sum(int(frame["many"].sum()) for frame in world.frames.values()) == ROWS


def test_one_pause_right_after_the_other_is_not_taken_for_the_first() -> None:
    for seed in seeds():
        _, world = world_of(CHANGES, seed)
        walk(world, 120)
        rest(world)
        for _ in range(3):
            world.activate()
            walk(world, world.random.randint(0, 30))
            rest(world)
            assert_nothing_is_on_its_way(world)
            assert counted(world) == read(world), seed
