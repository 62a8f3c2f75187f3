"""What the files of a run were, so that whoever compares them later knows whether they still are: size and hashes.

A file is hashed whole, block by block, so that an edit is told with its place; whoever edits and sets the time back is noticed too. It
costs a hundredth of what decoding costs. What is appended is no edit: only the bytes that were there are hashed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import xxhash

from ouzel.connectors.file.following import where_is
from ouzel.reconcile.recording.record import Mark, Marks

MEGABYTE = 1 << 20
BLOCKS = 1024
"""A file has at most so many blocks; they are a megabyte long, or as often twice as long as it takes."""


def mark_of(path: Path, size: int | None = None, block: int | None = None) -> Mark:
    """The mark of a file, or of its first `size` bytes, in blocks of so many bytes or as many as are usual for its size.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        there = os.fstat(file.fileno()).st_size
        size = there if size is None else min(size, there)
        block = _usual_block(size) if block is None else block
        return Mark(
            size, block, tuple(_hash(file.fileno(), begin, min(begin + block, size)) for begin in _begins(size, block))
        )


def _usual_block(size: int) -> int:
    return MEGABYTE << max(0, -(-size // (MEGABYTE * BLOCKS)) - 1).bit_length()


def _begins(size: int, block: int) -> Iterator[int]:
    """Where the blocks begin; nothing is a block too."""
    return iter(range(0, max(size, 1), block))


def _hash(descriptor: int, begin: int, end: int) -> str:
    """The hash of these bytes, read a megabyte at a time; a file that ends before them has less."""
    digest = xxhash.xxh3_128()
    while begin < end and (part := os.pread(descriptor, min(MEGABYTE, end - begin), begin)):
        digest.update(part)
        begin += len(part)
    return digest.hexdigest()


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
            if known is None or (os.stat(now).st_size > known.size and not describe_edit(path, known)):
                self._known[path] = mark_of(Path(now))
        except OSError:
            pass
        return self._known.get(path)


def describe_edit(path: str, mark: Mark) -> str:
    """What has happened to the first bytes of a file since it was marked, as words that follow its name; empty if nothing has."""
    path = where_is(path)
    try:
        there = mark_of(Path(path), mark.size, mark.block)
    except OSError as error:
        return "is gone" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
    if there.size < mark.size:
        return f"was cut to {there.size:,} bytes since the run, from {mark.size:,}"
    edited = [number for number, pair in enumerate(zip(there.hashes, mark.hashes, strict=False)) if pair[0] != pair[1]]
    return f"was edited since the run{_place(edited, mark)}" if edited or len(there.hashes) != len(mark.hashes) else ""


def _place(edited: list[int], mark: Mark) -> str:
    """Where the first edit is, if the file has several blocks."""
    if not edited or len(mark.hashes) == 1:
        return ""
    begin = edited[0] * mark.block
    more = f" and in {len(edited) - 1:,} of the {len(mark.hashes) - 1:,} other blocks" if len(edited) > 1 else ""
    return f" in its bytes {begin:,} to {min(begin + mark.block, mark.size) - 1:,}{more}"


def describe_change(path: str, mark: Mark, further: bool) -> str:
    """The same of a file that nobody may add to either, unless `further` lines may have come."""
    more = 0 if further or not os.path.exists(path) else os.path.getsize(path) - mark.size
    return describe_edit(path, mark) or (f"has grown by {more:,} bytes since the run" if more > 0 else "")
