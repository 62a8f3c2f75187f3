"""The note of what a task is handling, in a file that outlives it: two writes to mapped memory a batch, and no system call."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ouzel.files import put_bytes
from ouzel.runtime.protocol.quarantine import IN_FLIGHT_MAX, InFlight, MemoryNote, PoisonSearch

_HEAD = struct.Struct("<3q")
_ID = struct.Struct("<Q")


class FileNote(MemoryNote):
    """A note in a mapped file, and the searches beside it as JSON.

    Order of the writes: the ids first, then the head with their number. A process that dies between the two leaves the old head.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._kept = path.with_suffix(".json")
        size = _HEAD.size + _ID.size * IN_FLIGHT_MAX
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size)  # on a full disk an error here, not a SIGBUS later
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)

    def read(self) -> InFlight:
        count, start, end = _HEAD.unpack_from(self._map)
        return InFlight(struct.unpack_from(f"<{count}Q", self._map, _HEAD.size), start, end)

    def write(self, ids: Sequence[int], start: int, end: int) -> None:
        struct.pack_into(f"<{len(ids)}Q", self._map, _HEAD.size, *ids)
        _HEAD.pack_into(self._map, 0, len(ids), start, end)

    def clear(self) -> None:
        _HEAD.pack_into(self._map, 0, 0, 0, 0)

    def searches(self) -> dict[int, PoisonSearch]:
        with contextlib.suppress(OSError):
            return {int(batch): _search(known) for batch, known in json.loads(self._kept.read_bytes()).items()}
        return {}

    def keep(self, searches: dict[int, PoisonSearch]) -> None:
        """Write them anew. Where that fails a death is not counted, which does no other harm."""
        with contextlib.suppress(OSError):
            put_bytes(self._kept, json.dumps({batch: asdict(search) for batch, search in searches.items()}).encode())


def _search(known: dict[str, object]) -> PoisonSearch:
    search = PoisonSearch(**known)  # type: ignore[arg-type]
    search.poison = {int(row): deaths for row, deaths in search.poison.items()}
    return search
