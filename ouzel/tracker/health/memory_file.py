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
    """What was done; nothing if the file is not there.

    Raises:
        ValueError: the file is damaged: what it held is not known.
        OuzelError: it cannot be read now.
    """
    path = memory_path(registry, name)
    try:
        return read_memory(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return TreatmentMemory()
    except OSError as error:
        raise OuzelError(
            f"what was done to '{name}' cannot be read in {path}: {error.strerror}; nothing is done by itself until it can"
        ) from error


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
