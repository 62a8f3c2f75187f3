"""The batch that a task is handling, in a file that outlives it: two writes to memory a batch, and no system call."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ouzel.runtime.protocol.quarantine import MOST_IN_HAND, InHand, MemoryNote, Suspect

_HEAD = struct.Struct("<3q")
_ID = struct.Struct("<Q")


class FileNote(MemoryNote):
    """A note in a mapped file, and what is suspected beside it as JSON."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._kept = path.with_suffix(".json")
        size = _HEAD.size + _ID.size * MOST_IN_HAND
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size)  # on a full disk an error here, not a SIGBUS later
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)

    def left(self) -> InHand:
        """See Note."""
        count, start, end = _HEAD.unpack_from(self._map)
        return InHand(struct.unpack_from(f"<{count}Q", self._map, _HEAD.size), start, end)

    def take(self, ids: Sequence[int], start: int, end: int) -> None:
        """See Note."""
        struct.pack_into(f"<{len(ids)}Q", self._map, _HEAD.size, *ids)
        _HEAD.pack_into(self._map, 0, len(ids), start, end)

    def done(self) -> None:
        """See Note."""
        _HEAD.pack_into(self._map, 0, 0, 0, 0)

    def suspects(self) -> dict[int, Suspect]:
        """See Note."""
        with contextlib.suppress(OSError):
            return {int(one): _suspect(known) for one, known in json.loads(self._kept.read_bytes()).items()}
        return {}

    def keep(self, suspects: dict[int, Suspect]) -> None:
        """Write them anew; where that fails a death is not counted, which does no other harm."""
        fresh = self._kept.with_suffix(".new")
        with contextlib.suppress(OSError):
            fresh.write_text(json.dumps({one: asdict(suspect) for one, suspect in suspects.items()}))
            fresh.rename(self._kept)


def _suspect(known: dict[str, object]) -> Suspect:
    suspect = Suspect(**known)  # type: ignore[arg-type]
    suspect.killers = {int(row): deaths for row, deaths in suspect.killers.items()}
    return suspect
