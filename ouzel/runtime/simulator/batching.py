"""Settings of a simulated run that change no answer: how rows are cut into batches, and how many are on their way."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ouzel.planner.settings import Settings
from ouzel.planner.topology import Topology


def random_batching(topology: Topology, random: Random) -> Settings:
    """The topology's settings, these drawn anew."""
    few = topology.settings.has_epochs  # so that rows are left to read when an epoch has been taken
    rows = random.choice([50, 100, 300, 1_000] if few else [100, 300, 1_000, 5_000])
    return replace(
        topology.settings,
        batch_rows=rows,
        handle_rows=random.choice([rows, 10 * rows]),
        max_pending_rows=rows * random.choice([1, 3] if few else [1, 3, 20]),
        ack_timeout_ms=2_000,
        seed=random.getrandbits(62),
    )
