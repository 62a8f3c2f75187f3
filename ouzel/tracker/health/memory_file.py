"""Where it is kept what was done to a topology by itself: in the topology's folder, so that it goes when the topology is removed."""

from __future__ import annotations

from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.files import put_bytes
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.health.treatments import TreatmentMemory, read_memory, write_memory

FILE = "health.json"


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
    try:
        put_bytes(path, write_memory(memory).encode())
    except OSError as error:
        raise OuzelError(
            f"what is done to '{name}' cannot be kept in {path}: {error.strerror}; make room there"
        ) from error
