"""Publishing epochs as parts in a directory, under names that tell task, epoch and place: a part that comes again replaces itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

import polars as pl

from ouzel.connectors.file import parts_of
from ouzel.connectors.file.parts import PartFolder
from ouzel.connectors.writing import SinkRequest
from ouzel.files import sync

PART_ROWS = 1_000_000
"""A part has hardly more rows than this."""


class FilePublisher:
    """Makes parts `part-<run>-<task>-<sink>-<epoch>-<place>.<format>` of an epoch: all are written before the first is renamed.

    The part of place 0 is renamed last, so an epoch whose part 0 is there is published. While the others get their names a reader may see
    some of them.
    """

    def __init__(self, request: SinkRequest) -> None:
        self._folder = PartFolder(request)
        sink = hashlib.blake2s(request.component.encode(), digest_size=4).hexdigest()
        self._prefix = f"{parts_of(request.run)}{request.task:05}-{sink}-"

    def last_published(self) -> int:
        """The newest epoch that is here; what a publisher before this one left half is removed.

        Raises:
            ConnectorError: the directory cannot be read or written.
        """
        first = re.compile(rf"{re.escape(self._prefix)}(\d+)-0000\.{self._folder.format}")
        try:
            for left in self._folder.list_hidden(self._prefix):
                left.unlink()
            names = (first.fullmatch(path.name) for path in self._folder.path.iterdir())
            return max((int(name[1]) for name in names if name), default=0)
        except OSError as error:
            raise self._folder.make_error(error) from None

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        """Make the epoch's parts.

        Raises:
            ConnectorError: they cannot be written.
        """
        folder, names = self._folder, list[str]()
        try:
            folder.check()
            for rows in _portions(frames):
                names.append(f"{self._prefix}{epoch:010}-{len(names):04}.{folder.format}")
                folder.write_hidden(names[-1], rows)
            for name in reversed(names):
                if name == names[0]:
                    sync(folder.path)
                folder.hidden(name).rename(folder.path / name)
            sync(folder.path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise folder.make_error(error) from None

    def close(self) -> None:
        """Nothing stays open."""


def _portions(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows of frames in portions that fit into memory."""
    gathered, rows = list[pl.DataFrame](), 0
    for frame in frames:
        gathered.append(frame)
        rows += frame.height
        if rows >= PART_ROWS:
            yield pl.concat(gathered, rechunk=False)
            gathered, rows = [], 0
    if gathered:
        yield pl.concat(gathered, rechunk=False)
