"""A whole topology whose sink is kept waiting by what it writes to, or that has no core: nothing is sent again for that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ouzel.runtime.simulator.faults import lose_link, stall_sink, starve
from ouzel.runtime.simulator.simulation import SimulatedRun, simulate
from ouzel.runtime.simulator.world import Fault
from ouzel.session import load_text
from tests.effort import seeds
from tests.simulator.test_pauses import CHANGES, SETTINGS, WINDOWS


def run_of(text: str, seed: int, faults: Sequence[Fault]) -> SimulatedRun:
    job = load_text(text, Path(), "ticks", (*SETTINGS, ("seed", str(seed + 1))))
    return simulate(job.topology, job.packing, Path(), seed=seed, faults=faults)


@pytest.mark.parametrize("text", [WINDOWS, CHANGES], ids=["windows", "changes"])
def test_what_waits_in_a_stalled_sink_is_not_sent_again(text: str) -> None:
    for seed in seeds():
        assert not run_of(text, seed, [stall_sink] * 3).rows_failed, f"seed={seed}"


def test_what_is_lost_while_a_sink_stalls_is_sent_again() -> None:
    lost = sum(run_of(CHANGES, seed, [stall_sink] * 2 + [lose_link] * 3).rows_failed > 0 for seed in seeds())
    assert lost, "hardly a link lost anything: the test tests nothing"


@pytest.mark.parametrize("text", [WINDOWS, CHANGES], ids=["windows", "changes"])
def test_a_topology_without_a_core_sends_nothing_again(text: str) -> None:
    """A replay on a machine that has too much to do is more to do: it was 843,000 rows for 150,000."""
    for seed in seeds():
        assert not run_of(text, seed, [starve] * 6).rows_failed, f"seed={seed}"
