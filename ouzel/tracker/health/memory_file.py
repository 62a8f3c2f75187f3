"""Where it is kept what was done to a topology by itself: in the topology's folder, so that it goes when the topology is removed."""

from __future__ import annotations

from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.files import put_bytes
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.health.treatments import TreatmentMemory, read_memory, write_memory

FILE = "health.json"

ASIDE_MAX = 9
"""So many damaged files are set aside; with one more nothing is done by itself until somebody has looked."""


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


def set_aside(registry: Registry, name: str) -> Path:
    """Give a damaged file another name, at which it stays for people to look at; that name. Only who holds `ouzel health` does so.

    Raises:
        OuzelError: it cannot be done; the file is where it was.
    """
    path = memory_path(registry, name)
    aside = next((one for one in _asides(registry, name) if not one.exists()), None)
    if aside is None:
        raise OuzelError(
            f"{path} is damaged, as {ASIDE_MAX} before it were; look for what damages it, and remove {path.stem}.damaged-*"
        )
    try:
        path.rename(aside)
    except OSError as error:
        raise OuzelError(f"{path} is damaged, and cannot be renamed: {error.strerror}; give it another name") from error
    return aside


def list_asides(registry: Registry, name: str) -> list[Path]:
    """The damaged files that were set aside."""
    return [one for one in _asides(registry, name) if one.exists()]


def _asides(registry: Registry, name: str) -> list[Path]:
    path = memory_path(registry, name)
    return [path.with_name(f"{path.stem}.damaged-{number}{path.suffix}") for number in range(1, ASIDE_MAX + 1)]


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
