"""A whole topology is stopped among faults: every window that is in the answer is there whole, and what was read is handled."""

from __future__ import annotations

import polars as pl
import pytest

from ouzel.runtime.simulator.faults import stop
from tests.effort import seeds
from tests.simulator.test_pauses import FAULTS, TICKS, assert_nothing_is_on_its_way, walk, world_of

KEYS, ROWS_EACH = 10, 5
KEYED = (
    TICKS
    + f"""
SELECT window_end, n % {KEYS} AS k, COUNT(*) AS many
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '{KEYS * ROWS_EACH / 100}' SECOND))
GROUP BY window_start, window_end, n % {KEYS};"""
)
WHOLE = {(key, ROWS_EACH) for key in range(KEYS)}


@pytest.mark.parametrize(("delivery", "latest"), [("at-least-once", 300), ("at-most-once", 120)])
def test_a_stop_tears_no_window(delivery: str, latest: int) -> None:
    written = stopped = 0
    for seed in seeds():
        _, world = world_of(KEYED, seed, delivery)
        walk(world, world.random.randint(50, latest))
        faults = world.random.choices(FAULTS, k=seed % 3) if delivery == "at-least-once" else ()
        for fault in (stop, *faults):
            fault(world)
        for _ in range(3_000):
            if world.done:
                break
            walk(world, 1)
        assert world.done, f"seed={seed}: {world.happened}"
        assert_nothing_is_on_its_way(world)
        stopped += not world.has_finished
        windows = pl.concat([*world.frames.values()]).partition_by("window_end") if world.frames else []
        for window in windows:
            assert set(window.select("k", "many").iter_rows()) == WHOLE, f"seed={seed}: {world.happened}"
        written += len(windows)
    assert min(stopped, written // 10) > len(seeds()) // 2, (
        "hardly a stop came between two windows: the test tests nothing"
    )


def test_what_was_read_before_a_stop_is_committed() -> None:
    for seed in seeds():
        _, world = world_of(KEYED, seed)
        walk(world, 300)
        stop(world)
        while not world.done:
            walk(world, 1)
        for host in world.hosts.values():
            ranges = host.machine.metrics().ranges
            kept = {part: place.offset for part, place in host.places.items()}
            assert {part: end for part, (_, end) in ranges.items()} == kept
            assert bool(kept) == host.machine.is_spout


def test_nobody_resumes_what_is_to_stop() -> None:
    _, world = world_of(KEYED, 1)
    walk(world, 200)
    stop(world)
    world.activate()
    for _ in range(2_000):
        walk(world, 1)
    assert world.done
    assert not world.has_finished
