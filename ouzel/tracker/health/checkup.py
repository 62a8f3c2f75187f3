"""The verdicts on one topology as it stands now."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.runtime.run import Status
from ouzel.tracker.health.diagnosers import Verdict, diagnose
from ouzel.tracker.health.sensors import read_sensors
from ouzel.tracker.metrics.history import History, RunHistory
from ouzel.tracker.topologies.epochs import EpochSummary, list_epochs
from ouzel.tracker.topologies.snapshot import TopologySnapshot, take_snapshot


def check_health(
    snapshot: TopologySnapshot, history: History, epochs: Sequence[EpochSummary], now_s: float
) -> list[Verdict]:
    """What is the matter with it, what is worst first; of a topology that does not run, or is paused, nothing is said."""
    if snapshot.condition is not Condition.RUNNING:
        return []
    return diagnose(read_sensors(snapshot, history, epochs, now_s))


def check_submitted(registry: Registry, record: Submitted, status: Status | None, now_s: float) -> list[Verdict]:
    """The same of a submitted topology, whose files are read; nothing if they cannot be. `status` is what its topology master said."""
    try:
        snapshot = take_snapshot(registry, record, status)
        containers = [one.id for one in snapshot.job.packing.containers]
        history = RunHistory(snapshot.home, containers).read(int(now_s))
    except (OuzelError, OSError):
        return []
    return check_health(snapshot, history, list_epochs(registry, snapshot), now_s)
