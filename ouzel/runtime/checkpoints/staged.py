"""Rows that wait on disk until the epoch that they belong to is kept, and are then published: effectively once.

A sink's task appends what it is given to one file. A mark seals the file under the number of its epoch; once that epoch is kept, the rows
are published with its number, and the file is removed. (Late commit: no transaction of a server stays open for as long as an epoch takes.)

Invariants:

- A snapshot is written after the mark, so whoever goes on from an epoch finds all rows up to it here, or published.
- Nothing is published before its epoch is kept; so all that a roll back takes away is still here, and is removed.
- A publisher makes rows and number visible together; so a death between publishing and removing publishes nothing twice.
- A source that is started again sends batches again whose offsets were not committed yet, also those of epochs that are published. So the
  ids of batches are known for longer than their rows.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from ouzel.connectors.file.ledger import REMEMBERED
from ouzel.connectors.writing import EpochPublisher
from ouzel.errors import ConnectorError
from ouzel.files import append_whole, name_synced, put_synced
from ouzel.runtime.checkpoints.names import epoch_name, epoch_of
from ouzel.runtime.checkpoints.records import pack_record, records_in, to_bytes, to_frame

_ROWS, _END, _IDS = 1, 2, 3
"""Kinds of records. The last of a sealed file is an _END, whose number is that of the records before it. The body of _IDS are ids."""

_AGAIN_S = 0.2

_SEALED = ".sealed"


class StagedWriter:
    """A SinkWriter that stages what it is given.

    Args:
        publisher: makes whole epochs visible.
        folder: of this task, which its successors find again.
        table: that is written, for messages.
    """

    flush_interval_ms, flush_rows = 200, 100_000

    def __init__(self, publisher: EpochPublisher, folder: Path, table: str) -> None:
        self._publisher, self._folder, self._table = publisher, folder, table
        self._open, self._ids = folder / "open.rows", folder / "ids"
        self._file = -1
        self._seen: dict[int, None] = {}
        self._count = 0
        self._is_unsynced = False
        self._published: int | None = None

    def roll_back(self, epoch: int, generation: int) -> None:
        """Remove what was staged after this epoch, once a generation; then find out what is staged.

        Raises:
            ConnectorError: the folder cannot be read or written.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if generation > self._read_generation():
                for path in [path for sealed, path in self._list_sealed().items() if sealed > epoch]:
                    path.unlink()
                self._open.unlink(missing_ok=True)
                self._ids.unlink(missing_ok=True)
                put_synced(self._folder / "generation", str(generation).encode())
            self._begin()
        except OSError as error:
            raise self._make_error(error) from error

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Stage a batch, and wait while the disk is full. A batch that an earlier task has staged already is left out.

        Raises:
            ConnectorError: the disk fails.
        """
        number = batch_id % (1 << 64)
        if frame.height and number not in self._seen:
            self._append(pack_record(_ROWS, number, to_bytes(frame)))
            self._seen[number] = None
            self._count += 1
            self._is_unsynced = True

    def flush(self) -> None:
        """Sync what is staged to disk. Sources commit what is flushed, and a topology without state never goes back to an epoch.

        Raises:
            ConnectorError: the disk fails.
        """
        if self._is_unsynced:
            self._when_there_is_room(lambda: os.fdatasync(self._file))
            self._is_unsynced = False

    def mark(self, epoch: int, kept: int) -> None:
        """Seal what was staged since the last mark: it is on disk when this returns.

        Raises:
            ConnectorError: the disk fails.
        """
        if not self._count:
            return
        self._append(pack_record(_END, self._count, b""))
        self._is_unsynced = True
        self.flush()
        self._when_there_is_room(lambda: name_synced(self._open, self._folder / f"{epoch_name(epoch)}{_SEALED}"))
        self._when_there_is_room(self._open_file)

    def on_kept(self, epoch: int) -> None:
        """Publish all epochs up to this one. A call before the first epoch fences earlier publishers of this task.

        Raises:
            ConnectorError: it cannot be published, or more is published than the topology could go back to.
        """
        if self._published is None:
            self._published = self._publisher.last_published()
            if self._published > epoch:
                raise ConnectorError(
                    f"table '{self._table}': epoch {self._published} is published, and the topology went back to epoch {epoch}, for no "
                    "later one can be read: the rows between would be written twice; start anew, with another table or 'checkpoint.path'"
                )
        for sealed, path in self._list_sealed().items():
            if sealed > epoch:
                break
            if sealed > self._published:
                self._check(path)
                self._publisher.publish(sealed, _Frames(path))
                self._published = sealed
            self.flush()
            self._when_there_is_room(self._keep_ids)
            path.unlink()

    def close(self) -> None:
        """Close the files; what is staged stays."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
        self._publisher.close()

    def _begin(self) -> None:
        """Read which batches are staged or published; continue the open file behind its last whole record."""
        known = [_read_ids(path) for path in (self._ids, *self._list_sealed().values())]
        self._seen = dict.fromkeys([number for ids in known for number in ids][-REMEMBERED:])
        self._open_file()

    def _open_file(self) -> None:
        """Begin the open file, or go on in it."""
        end, self._count = 0, 0
        with suppress(FileNotFoundError):
            for record in records_in(self._open):
                if record.kind == _ROWS:
                    end, self._count = record.end, self._count + 1
                    self._seen[record.id] = None
        if self._file >= 0:
            os.close(self._file)
        self._file = os.open(self._open, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._file, end)

    def _keep_ids(self) -> None:
        """Keep the ids of all batches before a file that holds some is removed; forget the oldest. All rows must be on disk by then."""
        self._seen = dict.fromkeys(list(self._seen)[-REMEMBERED:])
        put_synced(self._ids, pack_record(_IDS, 0, np.array(list(self._seen), np.uint64).tobytes()))

    def _append(self, text: bytes) -> None:
        self._when_there_is_room(lambda: append_whole(self._file, text))

    def _when_there_is_room(self, do: Callable[[], object]) -> None:
        """Do it, and retry while the disk is full: back-pressure stops the senders, as for any sink that stalls."""
        while True:
            try:
                do()
                return
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise self._make_error(error) from error
            time.sleep(_AGAIN_S)

    def _list_sealed(self) -> dict[int, Path]:
        """What is sealed, by epoch, oldest first."""
        names = (name for name in os.listdir(self._folder) if name.endswith(_SEALED))
        found = ((epoch_of(name.removesuffix(_SEALED)), self._folder / name) for name in names)
        return dict(sorted((epoch, path) for epoch, path in found if epoch is not None))

    def _check(self, path: Path) -> None:
        """Check that a sealed file is whole: its last record counts those before it. No row of a damaged file may be published.

        Raises:
            ConnectorError: it is damaged.
        """
        count, ended = 0, -1
        for record in records_in(path):
            count, ended = count + (record.kind == _ROWS), record.id if record.kind == _END else -1
        if ended != count:
            raise ConnectorError(
                f"table '{self._table}': the rows that are to be published from {path} are torn or damaged; go on from an epoch before "
                f"{epoch_of(path.stem)} with 'ouzel checkpoint fork'"
            )

    def _read_generation(self) -> int:
        with suppress(FileNotFoundError, ValueError):
            return int((self._folder / "generation").read_text())
        return -1

    def _make_error(self, error: OSError) -> ConnectorError:
        return ConnectorError(f"rows of table '{self._table}' cannot be staged in {self._folder}: {error.strerror}")


class _Frames:
    """The frames of a sealed file, each time they are asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return (to_frame(record.body) for record in records_in(self._path) if record.kind == _ROWS)


def _read_ids(path: Path) -> list[int]:
    """The ids of batches that a file holds, oldest first; none of a file that is not there."""
    found = list[int]()
    with suppress(FileNotFoundError):
        for record in records_in(path):
            if record.kind == _ROWS:
                found.append(record.id)
            elif record.kind == _IDS:
                found += np.frombuffer(record.body, np.uint64).tolist()
    return found
