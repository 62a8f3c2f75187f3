"""The complete epochs of a topology, as text."""

from __future__ import annotations

import contextlib

from ouzel.errors import OuzelError
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker import words
from ouzel.tracker.topologies.snapshot import TopologySnapshot

EpochRow = tuple[int, str, str]
"""Number, when it was made, bytes."""


def list_epochs(registry: Registry, snapshot: TopologySnapshot, most: int = 5) -> list[EpochRow]:
    """Its newest complete epochs, the newest first."""
    found: list[EpochRow] = []
    with contextlib.suppress(OuzelError, OSError):
        store = CheckpointStore(registry.folder(snapshot.name).find_checkpoints(snapshot.record.run))
        for epoch in sorted(store.epochs(), reverse=True)[:most]:
            manifest = store.manifest(epoch)
            size = sum(file.size for file in manifest.files)
            found.append((epoch, words.time_text(manifest.made_us), words.count_text(size)))
    return found


def epoch_text(epochs: list[EpochRow]) -> str:
    """The number of the newest complete epoch, and when that was made."""
    return f"{epochs[0][0]}, {epochs[0][1]}" if epochs else words.NOTHING
