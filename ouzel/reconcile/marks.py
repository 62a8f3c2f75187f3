"""What the files of a run were, so that whoever compares them later knows whether they still are: size and hash.

Up to WHOLE bytes a file is hashed whole; of a larger one BLOCKS of a megabyte, the first, the last and others at equal distances, so that
one of the same size that was written at another time counts as edited too. What is appended is no edit: only the bytes that were there are
hashed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from ouzel.connectors.file.following import where_is
from ouzel.reconcile.record import Mark, Marks

MEGABYTE = 1 << 20
BLOCKS = 64
WHOLE = BLOCKS * MEGABYTE


def mark_of(path: Path, size: int | None = None) -> Mark:
    """The mark of a file, or of its first `size` bytes.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        stat = os.fstat(file.fileno())
        size = stat.st_size if size is None else min(size, stat.st_size)
        digest = blake2b(digest_size=16)
        for at in _starts(size):
            file.seek(at)
            digest.update(file.read(min(MEGABYTE, size - at)))
    return Mark(size, stat.st_mtime_ns, digest.hexdigest())


def _starts(size: int) -> Iterator[int]:
    """Where the blocks begin that are hashed."""
    if size <= WHOLE:
        yield from range(0, size, MEGABYTE)
    else:
        yield from ((size - MEGABYTE) * number // (BLOCKS - 1) for number in range(BLOCKS))


class Marked:
    """The marks of a run's files, made when each is first met: what happens to a file after that is an edit, unless it has grown."""

    def __init__(self) -> None:
        self._known: dict[str, Mark] = {}

    def of(self, paths: Iterable[str]) -> Marks:
        """The marks of these files; a file that is gone keeps its mark, one that never was has none."""
        return {path: mark for path in paths if (mark := self._mark(path)) is not None}

    def _mark(self, path: str) -> Mark | None:
        known = self._known.get(path)
        try:
            now = where_is(path)
            stat = os.stat(now)
            if known is None or (stat.st_size > known.size and not describe_edit(path, known)):
                self._known[path] = mark_of(Path(now))
        except OSError:
            pass
        return self._known.get(path)


def describe_edit(path: str, mark: Mark) -> str:
    """What has happened to the first bytes of a file since it was marked, as words that follow its name; empty if nothing has."""
    path = where_is(path)
    try:
        there = mark_of(Path(path), mark.size)
    except OSError as error:
        return "is gone" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
    if there.size < mark.size:
        return f"was cut to {there.size:,} bytes since the run, from {mark.size:,}"
    rewritten = mark.size > WHOLE and os.path.getsize(path) == mark.size and there.written_ns != mark.written_ns
    return "was edited since the run" if rewritten or there.hash != mark.hash else ""
