"""Where it is kept what was done to a topology by itself: in the topology's folder, so that it goes when the topology is removed."""

from __future__ import annotations

import os
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.health.treatments import TreatmentMemory, read_memory, write_memory

FILE = "health.json"
HELD = "/health"
"""Held by the process that acts on the topologies of a registry."""


def memory_path(registry: Registry, name: str) -> Path:
    """The file of one topology."""
    return registry.folder(name).path / FILE


def load_memory(registry: Registry, name: str) -> TreatmentMemory:
    """What was done; nothing if the file is not there, or cannot be read."""
    try:
        return read_memory(memory_path(registry, name).read_text())
    except (OSError, ValueError):
        return TreatmentMemory()


def store_memory(registry: Registry, name: str, memory: TreatmentMemory) -> None:
    """Keep what was done.

    Raises:
        OuzelError: it cannot be written; nothing must be done then, for it could not be undone.
    """
    path = memory_path(registry, name)
    fresh = path.with_suffix(".new")
    try:
        fresh.write_text(write_memory(memory))
        os.replace(fresh, path)
    except OSError as error:
        raise OuzelError(
            f"what is done to '{name}' cannot be kept in {path}: {error.strerror}; make room there"
        ) from error


def hold_health(registry: Registry) -> LocalState:
    """Be the one that acts on the topologies of a registry, until what this gives is closed.

    Raises:
        OuzelError: another is.
    """
    state = LocalState(registry.home / "state")
    if not state.hold(HELD, b""):
        state.close()
        raise OuzelError("another `ouzel health` acts on these topologies; end it first")
    return state


def is_health_held(registry: Registry) -> bool:
    """Whether anybody acts on the topologies of a registry."""
    state = LocalState(registry.home / "state")
    try:
        return state.get(HELD) is not None
    finally:
        state.close()
