"""The complete epochs of a topology: when they were made, and what each component keeps in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ouzel.errors import OuzelError
from ouzel.runtime.checkpoints.manifest import Manifest, PartTimes
from ouzel.runtime.checkpoints.objects import StoreLocation
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.protocol.cluster.submitted import Submitted
from ouzel.tracker import words
from ouzel.tracker.topologies.snapshot import TopologySnapshot


@dataclass(frozen=True)
class EpochSummary:
    """One complete epoch.

    Attributes:
        number: from 1.
        made_us: when all was written, microseconds since 1970.
        state: bytes that a restart reads, by component.
        slowest: the task whose part came last, as `counts[1]`; empty if nobody noted that.
        took: how long that part took.
        keys: keys that its operators keep in tables, by component; without those that nobody has counted.
    """

    number: int
    made_us: int
    state: Mapping[str, int]
    slowest: str = ""
    took: PartTimes | None = None
    keys: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes that a restart reads."""
        return sum(self.state.values())


def list_epochs(
    registry: Registry, snapshot: TopologySnapshot, most: int = 5, problems: list[str] | None = None
) -> list[EpochSummary]:
    """Its newest complete epochs, the newest first; what of them cannot be read is added to `problems`, a sentence each."""
    run = registry.folder(snapshot.name).run(snapshot.record.run)
    return _list_epochs(lambda: replace(snapshot.job, home=run).checkpoints, most, [] if problems is None else problems)


def list_recorded_epochs(registry: Registry, record: Submitted, most: int = 5) -> list[EpochSummary]:
    """The newest complete epochs of a topology of which only the record is at hand, the newest first."""
    return _list_epochs(lambda: registry.folder(record.name).find_checkpoints(record.run), most, [])


def _list_epochs(find: Callable[[], StoreLocation], most: int, problems: list[str]) -> list[EpochSummary]:
    found: list[EpochSummary] = []
    try:
        store = CheckpointStore(find())
        newest = sorted(store.epochs(), reverse=True)[:most]
    except (OuzelError, OSError) as error:
        problems.append(f"its epochs cannot be read: {error}")
        return []
    for epoch in newest:
        try:
            found.append(summarize_epoch(store.manifest(epoch)))
        except (OuzelError, OSError) as error:
            if epoch in store.epochs():  # else it was removed just now, as old ones are
                problems.append(f"epoch {epoch} cannot be read: {error}")
    return found


def summarize_epoch(manifest: Manifest) -> EpochSummary:
    """What a manifest says, by component."""
    state: dict[str, int] = {}
    keys: dict[str, int] = {}
    for task in manifest.tasks:
        if task.keys is not None:
            keys[task.component] = keys.get(task.component, 0) + task.keys
        state[task.component] = state.get(task.component, 0) + sum(file.size for file in task.files)
    slowest, took = manifest.find_slowest() or ("", None)
    return EpochSummary(manifest.epoch, manifest.made_us, state, str(slowest), took, keys)


def epoch_text(epochs: Sequence[EpochSummary]) -> str:
    """The number of the newest complete epoch, and when that was made."""
    return f"{epochs[0].number}, {words.time_text(epochs[0].made_us)}" if epochs else words.NOTHING


def epoch_age_s(snapshot: TopologySnapshot, epochs: Sequence[EpochSummary], now_s: float) -> float:
    """Seconds since the newest complete epoch, or since the start if there is none after it."""
    since_us = max(snapshot.record.since_us, epochs[0].made_us if epochs else 0)
    return max(0.0, now_s - since_us / 1e6)
