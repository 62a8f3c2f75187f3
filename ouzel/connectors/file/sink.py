"""Writing a directory of parts, each written once. Runs that write to the same directory add to it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ouzel.connectors.file import CONNECTOR, parts_of
from ouzel.connectors.file.durable import name_synced, sync
from ouzel.connectors.file.ledger import PartLedger, digits
from ouzel.connectors.formats import open_encoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_OP = "op"
_UNFINISHED = ".new"
"""At the end of a part's name until it is whole: then no pattern for parts (`*.parquet`) finds it."""


class FileSink:
    """Gathers batches; `flush` makes one part of them: `part-<run>-<task>-<id of the first>.<format>`, by way of a temporary name."""

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self.flush_interval_ms = options.integer("flush.interval.ms")
        self.flush_rows = options.integer("flush.rows")
        self._request, self._format = request, options.text("format")
        self._changes = request.mode != "append"
        if self._changes and not options.flag("changelog"):
            raise ConnectorError(
                f"table '{request.table}' would take rows back, and a file cannot; add 'changelog' = 'true' for a column of +1 and -1"
            )
        columns = {**request.columns, _OP: pl.Int64()} if self._changes else dict(request.columns)
        self._encoder = open_encoder(self._format, request.options, columns) if self._format != "parquet" else None
        self._compression = options.text("parquet.compression") if self._format == "parquet" else ""
        self._waiting: list[tuple[int, pl.DataFrame]] = []
        self._directory = request.directory / options.text("path")
        self._prefix = f"{parts_of(request.run)}{request.task:05}-"
        try:
            self._ledger = self._begin()
        except OSError as error:
            raise self._make_error(error) from None

    def _begin(self) -> PartLedger | None:
        """Make the directory, find out what a predecessor has written, and only then remove what it left half."""
        if self._directory.exists() and not self._directory.is_dir():
            raise ConnectorError(
                f"table '{self._request.table}' cannot be written to {self._directory}: that is a file, and a table is written "
                "as parts in a folder; name another 'path', of a table of its own if you read that file"
            )
        self._directory.mkdir(parents=True, exist_ok=True)
        names = os.listdir(self._directory)  # unlike a glob it fails where nobody may look
        half = {self._directory / name for name in names if name.startswith(f".{self._prefix}")}
        notes = self._request.notes
        ledger = PartLedger(notes, lambda first: self._hidden(self._name(first)) not in half) if notes else None
        for left in half:
            left.unlink()
        self._folder = os.stat(self._directory)
        return ledger

    def _check_folder(self) -> None:
        """See that the folder is the one that the parts before were written to: in another they would be missed in silence."""
        if not os.path.samestat(self._folder, os.stat(self._directory)):
            raise ConnectorError(
                f"table '{self._request.table}' cannot be written to {self._directory}: another folder has taken its place while the "
                "run wrote to it, so what was written before is not there; leave it where it is while a run writes, and start again"
            )

    def _name(self, first: str) -> str:
        return f"{self._prefix}{first}.{self._format}"

    def _hidden(self, name: str) -> Path:
        return self._directory / f".{name}{_UNFINISHED}"

    def _make_error(self, error: Exception) -> ConnectorError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        return ConnectorError(f"table '{self._request.table}' cannot be written to {self._directory}: {reason}")

    def withdraw(self, batch_id: int) -> None:
        """Remove the parts of a batch that was not written to its end, whichever tasks wrote them."""
        try:
            for part in self._directory.glob(f"part-*-{digits(batch_id)}.{self._format}"):
                part.unlink()
        except OSError as error:
            raise self._make_error(error) from None

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Take a batch; it is on disk after the next `flush`."""
        if frame.height and not (self._ledger and batch_id in self._ledger):
            self._waiting.append((batch_id, frame))

    def flush(self) -> None:
        """Make a part of what has gathered, sync it, and rename it: it is there wholly or not at all."""
        if not self._waiting:
            return
        ids, frames = zip(*self._waiting, strict=True)
        name = self._name(digits(ids[0]))
        try:
            self._check_folder()
            self._write_hidden(self._hidden(name), self._rows(pl.concat(frames, rechunk=False)), ids)
            name_synced(self._hidden(name), self._directory / name)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise self._make_error(error) from None
        self._waiting.clear()

    def _write_hidden(self, path: Path, frame: pl.DataFrame, ids: Sequence[int]) -> None:
        try:
            self._write_file(path, frame)
            sync(path)
            if self._ledger:
                self._ledger.note(ids)
        except Exception:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise

    def _rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.rename({self._request.weight: _OP}) if self._changes else frame

    def _write_file(self, path: Path, frame: pl.DataFrame) -> None:
        if self._encoder is None:
            frame.write_parquet(path, compression=self._compression)  # type: ignore[arg-type]
        else:
            path.write_bytes(self._encoder.header() + self._encoder.lines(frame))

    def close(self) -> None:
        """Nothing stays open."""
