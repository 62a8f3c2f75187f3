"""A folder of parts: each is written under a hidden name, synced, and renamed when it is whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl

from ouzel.connectors.file import CONNECTOR
from ouzel.connectors.formats import open_encoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError
from ouzel.files import sync

_OP = "op"
_UNFINISHED = ".new"
"""At the end of a part's name until it is whole: then no pattern for parts (`*.parquet`) finds it."""


class PartFolder:
    """The folder that a sink writes to, which is made if it is missing.

    Raises:
        ConnectorError: the table takes rows back, or the folder cannot be written.
    """

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._table, self._weight = request.table, request.weight
        self.format = options.text("format")
        self._changes = request.mode != "append"
        if self._changes and not options.flag("changelog"):
            raise ConnectorError(
                f"table '{request.table}' would take rows back, and a file cannot; add 'changelog' = 'true' for a column of +1 and -1"
            )
        columns = {**request.columns, _OP: pl.Int64()} if self._changes else dict(request.columns)
        self._encoder = open_encoder(self.format, request.options, columns) if self.format != "parquet" else None
        self._compression = options.text("parquet.compression") if self.format == "parquet" else ""
        self.path = request.directory / options.text("path")
        try:
            self._make()
        except OSError as error:
            raise self.make_error(error) from None

    def _make(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise ConnectorError(
                f"table '{self._table}' cannot be written to {self.path}: that is a file, and a table is written "
                "as parts in a folder; name another 'path', of a table of its own if you read that file"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        self._stat = os.stat(self.path)

    def check(self) -> None:
        """See that the folder is the one that the parts before were written to: in another they would be missed in silence.

        Raises:
            ConnectorError: it is another.
            OSError: it is gone.
        """
        if not os.path.samestat(self._stat, os.stat(self.path)):
            raise ConnectorError(
                f"table '{self._table}' cannot be written to {self.path}: another folder has taken its place while the "
                "run wrote to it, so what was written before is not there; leave it where it is while a run writes, and start again"
            )

    def hidden(self, name: str) -> Path:
        """Where a part is until it is whole."""
        return self.path / f".{name}{_UNFINISHED}"

    def list_hidden(self, prefix: str) -> set[Path]:
        """Parts whose names begin so, and that were left half.

        Raises:
            OSError: nobody may look.
        """
        return {self.path / name for name in os.listdir(self.path) if name.startswith(f".{prefix}")}

    def write_hidden(self, name: str, frame: pl.DataFrame, then: Callable[[], object] = lambda: None) -> None:
        """Write a part under its hidden name, synced, and do what is to be done before it gets its own; if that fails it is gone.

        Raises:
            OSError, PolarsError: it cannot be written.
        """
        path = self.hidden(name)
        try:
            self._write_file(path, frame.rename({self._weight: _OP}) if self._changes else frame)
            sync(path)
            then()
        except Exception:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            raise

    def _write_file(self, path: Path, frame: pl.DataFrame) -> None:
        if self._encoder is None:
            frame.write_parquet(path, compression=self._compression)  # type: ignore[arg-type]
        else:
            path.write_bytes(self._encoder.header() + self._encoder.lines(frame))

    def make_error(self, error: Exception) -> ConnectorError:
        """What is told of an error of the disk, or of Polars."""
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        return ConnectorError(f"table '{self._table}' cannot be written to {self.path}: {reason}")
