"""A bounded topology on a simulated cluster, from its start to its end, with faults; and the fewest faults with which it still fails."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import polars as pl

from ouzel.errors import TopologyError
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Topology
from ouzel.runtime.simulator.cluster.cluster import Cluster, has_finished, with_small_limits
from ouzel.runtime.simulator.cluster.faults import OFTEN, ClusterFault, FaultKind, draw_faults
from ouzel.runtime.simulator.cluster.updating import ClusterUpdate
from ouzel.runtime.wire import wire_pb2

STEPS_MAX = 20_000
_MEMORY = Path("/dev/shm")
"""Files of a simulation are small, many, and of no use afterwards."""


@dataclass
class ClusterRun:
    """What a simulated cluster shows when its topology has ended.

    Attributes:
        frames: what the result's receiver was handed, in order.
        status: how the topology master says that it ended.
        faults: what went wrong.
        steps: how often all processes had a turn.
        generation: how often all went back; `epoch` is the newest that was kept.
        revision: how often it was updated.
    """

    frames: list[pl.DataFrame]
    status: wire_pb2.TopologyStatus
    faults: Sequence[ClusterFault]
    steps: int
    generation: int
    epoch: int
    revision: int


def simulate_cluster(
    topology: Topology,
    packing: PackingPlan,
    seed: int,
    faults: Sequence[ClusterFault] | None = None,
    most: int = 4,
    kinds: tuple[FaultKind, ...] = OFTEN,
    updates: Sequence[ClusterUpdate] = (),
) -> ClusterRun:
    """Run a topology to its end, with settings, order and, if none are given, faults drawn from the seed.

    If there are `updates`, one of them is drawn, too.

    Raises:
        TopologyError: it failed, or did not come to its end, or a process raised what none may raise.
    """
    with _prepare(topology, packing, seed, updates) as (cluster, random):
        chosen = draw_faults(random, cluster, most, kinds) if faults is None else faults
        steps = _run(cluster, chosen)
        status = cluster.ended
        assert status is not None
        plan = cluster.last_plan
    return ClusterRun(cluster.frames, status, chosen, steps, plan.generation, plan.kept, cluster.job.revision)


def faults_from(
    topology: Topology, packing: PackingPlan, seed: int, most: int = 4, updates: Sequence[ClusterUpdate] = ()
) -> list[ClusterFault]:
    """The faults that are drawn for a seed."""
    with _prepare(topology, packing, seed, updates) as (cluster, random):
        return draw_faults(random, cluster, most)


@contextmanager
def _prepare(
    topology: Topology, packing: PackingPlan, seed: int, updates: Sequence[ClusterUpdate]
) -> Iterator[tuple[Cluster, Random]]:
    """A cluster in which nothing has happened yet, and what its faults are drawn from."""
    random = Random(seed)
    topology = with_small_limits(topology, random)
    where = _MEMORY if _MEMORY.is_dir() else None
    with TemporaryDirectory(dir=where, prefix="ouzel-") as folder, redirect_stderr(io.StringIO()):
        cluster = Cluster(topology, packing, Path(folder), seed)
        cluster.delay_ms, cluster.commit_ms = random.choice([1.0, 20.0, 100.0]), random.choice([1.0, 50.0, 1_000.0])
        cluster.interleaves, cluster.share = random.choice([0.0, 0.2, 0.6]), random.choice([0.3, 0.6, 0.9])
        cluster.wire_bytes = random.choice([5_000, 1 << 20])
        cluster.latency_ms = Random(f"latency {seed}").choice([0.0, 0.0, 20.0, 100.0])
        if updates:
            cluster.updates, cluster.job = updates, replace(cluster.job, detached=True)
        try:
            yield cluster, random
        finally:
            cluster.kill_command()
            cluster.close()


def _run(cluster: Cluster, faults: Sequence[ClusterFault]) -> int:
    coming = list(faults)
    for step in range(STEPS_MAX):
        for fault in [fault for fault in coming if fault.is_due(cluster)]:
            coming.remove(fault)
            fault.strike(cluster)
        cluster.step()
        if cluster.errors:
            raise TopologyError(f"a task raised {cluster.errors[0]!r}") from cluster.errors[0]
        if (status := cluster.ended) is not None:
            if not has_finished(status):
                raise TopologyError(f"the topology ended as {status.state}: {status.reason}")
            return step
    raise TopologyError(f"the topology did not end in {STEPS_MAX} steps: {cluster.describe()}")


def drop_needless(
    faults: Sequence[ClusterFault], fails: Callable[[Sequence[ClusterFault]], bool]
) -> list[ClusterFault]:
    """The fewest faults with which it still fails, as far as dropping them finds that: without any one of those left it does not.

    Half of them are tried first, then single ones, again and again until none can be dropped (Zeller's ddmin, without complements).
    """
    left = list(faults)
    size = (len(left) + 1) // 2
    while left and size:
        before = len(left)
        for first in range(0, before, size):
            fewer = left[:first] + left[first + size :]
            if fails(fewer):
                left = fewer
                break
        if len(left) == before:
            size //= 2
    return left
