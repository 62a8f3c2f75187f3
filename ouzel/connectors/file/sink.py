"""Writing a directory of parts, each written once. Runs that write to the same directory add to it."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from ouzel.connectors.base import SinkRequest
from ouzel.connectors.file import CONNECTOR
from ouzel.connectors.formats import open_encoder
from ouzel.connectors.options import Options
from ouzel.errors import ConnectorError

_OP = "op"


class FileSink:
    """Gathers batches; `flush` makes a part of each: `part-<run>-<task>-<batch id>.<format>`, by way of a temporary name."""

    def __init__(self, request: SinkRequest) -> None:
        options = Options(CONNECTOR, request.options)
        self.flush_interval_ms = options.integer("flush.interval.ms")
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
        self._make_directory()

    def _make_directory(self) -> None:
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            for left in self._directory.glob(f".{self._prefix}*"):
                left.unlink()
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> ConnectorError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        return ConnectorError(f"table '{self._request.table}' cannot be written to {self._directory}: {reason}")

    def withdraw(self, batch_id: int) -> None:
        """Remove the parts of a batch that was not written to its end, whichever tasks wrote them."""
        try:
            for part in self._directory.glob(f"part-*-{_digits(batch_id)}.{self._format}"):
                part.unlink()
        except OSError as error:
            raise self._refused(error) from None

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Take a batch; it is on disk after the next `flush`."""
        if frame.height:
            self._waiting.append((batch_id, frame))

    def flush(self) -> None:
        """Make a part of what has gathered, sync it, and rename it: it is there wholly or not at all."""
        for batch_id, frame in self._waiting:
            self._write_part(batch_id, frame)
        self._waiting.clear()

    def _write_part(self, batch_id: int, frame: pl.DataFrame) -> None:
        name = f"{self._prefix}{_digits(batch_id)}.{self._format}"
        hidden = self._directory / f".{name}"
        try:
            self._write_file(hidden, self._rows(frame))
            with hidden.open("rb+") as file:
                os.fsync(file.fileno())
            hidden.rename(self._directory / name)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise self._refused(error) from None

    def _rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.rename({self._request.weight: _OP}) if self._changes else frame

    def _write_file(self, path: Path, frame: pl.DataFrame) -> None:
        if self._encoder is None:
            frame.write_parquet(path, compression=self._compression)  # type: ignore[arg-type]
        else:
            path.write_bytes(self._encoder.header() + self._encoder.lines(frame))

    def close(self) -> None:
        """Nothing stays open."""


def parts_of(run: str) -> str:
    """What the names of a run's parts begin with."""
    return f"part-{run}-" if run else "part-"


def _digits(batch_id: int) -> str:
    return f"{batch_id & (1 << 64) - 1:016x}"
