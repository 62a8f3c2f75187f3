"""Where files of checkpoints are: a folder, or a store of objects such as S3. Whoever reads and writes epochs knows an ObjectStore alone.

Names are relative to the folder, or to the address, with "/" between their parts. A file never changes once it has its name, but for one
that is replaced as a whole.
"""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, Self, TypeAlias

import pyarrow as pa
import xxhash

from ouzel.planner.store_address import StoreAddress, is_store_address, parse_address

StoreLocation: TypeAlias = Path | StoreAddress
"""A folder, or a prefix of a bucket."""

_PIECE_BYTES = 1 << 20
"""What is digested and written at once: it is still in the processor's cache when it is written."""


class StoreAway(OSError):
    """A store of objects does not answer, or lets nobody in: nothing is known of what it holds. What is damaged is a StateError instead."""


_LASTING = frozenset(
    {errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.EROFS}
)


def is_lasting(error: OSError) -> bool:
    """Whether waiting mends nothing: a folder is in the way, is no folder, or lets nobody in. A store that is away may come back."""
    return error.errno in _LASTING and not isinstance(error, StoreAway)


class FreshObject(AbstractContextManager["FreshObject"]):
    """A file that is being written. Whoever leaves before `keep` leaves nothing behind that has a name.

    It is what PyArrow writes streams into; what comes is written and added to the digest as it is, without a copy.

    Raises:
        OSError: it cannot be written.
    """

    closed = False

    def __init__(self) -> None:
        self.size = 0
        self._digest = xxhash.xxh3_128()

    def __enter__(self) -> Self:
        return self

    @property
    def digest(self) -> bytes:
        """Of all that has been written."""
        return self._digest.digest()

    def write(self, data: bytes | memoryview | pa.Buffer) -> int:
        """Add bytes, all of them; how many."""
        left = memoryview(data).cast("B")
        for place in range(0, len(left), _PIECE_BYTES):
            piece = left[place : place + _PIECE_BYTES]
            self._digest.update(piece)
            self._append(piece, self.size + place)
        self.size += len(left)
        return len(left)

    def _append(self, piece: memoryview, size: int) -> None:
        """Add a piece to so many bytes."""
        raise NotImplementedError

    def flush(self) -> None:
        """Nothing waits here."""

    def keep(self, name: str) -> None:
        """Give it its name, durably, in place of what has it."""
        raise NotImplementedError

    def keep_if_first(self, name: str) -> None:
        """Give it its name, durably, unless another has it already; then that one stays."""
        raise NotImplementedError


class ObjectStore(Protocol):
    """A folder, or the prefix of a bucket.

    Every method raises OSError if it cannot do its work, among them StoreAway.
    """

    place: StoreLocation

    def where(self, name: str) -> str:
        """A file as messages name it."""

    def fresh(self, folder: str, epoch: int) -> FreshObject:
        """A file to write, which is then kept in this folder. Of an epoch, or 0."""

    def get(self, name: str) -> bytes:
        """A file's content. Raises FileNotFoundError."""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A file's content, to be read piece by piece. Raises FileNotFoundError."""

    def has(self, name: str) -> bool:
        """Whether there is a file of this name, or a folder that has had files."""

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        """How many bytes each of these files has; those that are not there are left out."""

    def list(self, folder: str = "") -> list[str]:
        """The names of the files in a folder, in order and without it."""

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be gone already, durably."""

    def copy(self, name: str, other: ObjectStore) -> None:
        """Have another store hold a file under the same name."""

    def check_first_wins(self) -> None:
        """See that `keep_if_first` keeps what is there. Raises StateError: it does not."""


def parse_store_place(text: str) -> StoreLocation:
    """The place that somebody has written.

    Raises:
        NotSupported: there is no such store.
    """
    return parse_address(text) if is_store_address(text) else Path(text)
