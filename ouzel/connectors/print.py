"""print: rows as lines of text on standard output or in a file."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ouzel.connectors.base import Connector, Option, SinkDelivery, Writers, Writes
from ouzel.connectors.formats.json.format import JsonEncoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

if TYPE_CHECKING:
    import polars as pl


CONNECTOR = Connector(
    "print",
    "Writes each row as a line, `+{...}` for a row that comes and `-{...}` for one that goes, to the log of the instance (its standard "
    "output) or to a file.",
    (
        Option("path", "A file to append to instead, relative to the SQL file."),
        Option("prefix", "Text before each line.", ""),
    ),
    writes=Writes(
        "ouzel.connectors.print:PrintSink",
        ("append", "retract", "upsert"),
        Writers.ONE,
        SinkDelivery.AT_LEAST_ONCE,
        prints=lambda options: "path" not in options,
    ),
)


class PrintSink:
    """Writes lines."""

    flush_interval_ms, flush_rows = 0, 1

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._request, self._prefix = request, options.text("prefix").encode()
        self._path = request.directory / options.text("path") if options.get("path") else None
        self._encoder = JsonEncoder({}, request.columns)
        self._file = self._open()
        self._lines: list[bytes] = []

    def _open(self) -> IO[bytes]:
        """The file of that name; one that is rotated or deleted is not written to any more, as it is not by other logs."""
        try:
            return self._path.open("ab") if self._path else sys.stdout.buffer
        except OSError as error:
            raise ConnectorError(
                f"table '{self._request.table}' cannot be printed to {self._path}: {error.strerror}"
            ) from None

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """One line a row, as many times as its weight says."""
        weight = self._request.weight
        weights = frame[weight].to_list() if weight in frame.columns else [1] * frame.height
        lines = self._encoder.encode(frame.select(list(self._request.columns)))
        for line, count in zip(lines, weights, strict=True):
            self._lines.append((self._prefix + (b"+" if count > 0 else b"-") + line + b"\n") * abs(count))

    def flush(self) -> None:
        """Hand the lines to the system."""
        if self._path and not self._is_there(self._path):
            self._file.close()
            self._file = self._open()
        try:
            self._file.writelines(self._lines)
            self._file.flush()
        except OSError as error:
            where = self._path or "standard output"
            raise ConnectorError(
                f"table '{self._request.table}' cannot be printed to {where}: {error.strerror}"
            ) from None
        self._lines.clear()

    def _is_there(self, path: Path) -> bool:
        """Whether the file that is open is the one of that name."""
        try:
            return os.path.samestat(os.stat(path), os.fstat(self._file.fileno()))
        except OSError:
            return False

    def close(self) -> None:
        """Close the file; standard output stays open."""
        if self._path:
            with contextlib.suppress(OSError):  # what it could not take it has been told of
                self._file.close()
