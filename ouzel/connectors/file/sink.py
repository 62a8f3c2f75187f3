"""Writing a directory of parts, each written once. Runs that write to the same directory add to it."""

from __future__ import annotations

import polars as pl

from ouzel.connectors.file import CONNECTOR, parts_of
from ouzel.connectors.file.ledger import PartLedger, digits
from ouzel.connectors.file.parts import PartFolder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.files import name_synced


class FileSink:
    """Gathers batches; `flush` makes one part of them: `part-<run>-<task>-<id of the first>.<format>`, by way of a temporary name."""

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self.flush_interval_ms = options.integer("flush.interval.ms")
        self.flush_rows = options.integer("flush.rows")
        self._folder = PartFolder(request)
        self._waiting: list[tuple[int, pl.DataFrame]] = []
        self._prefix = f"{parts_of(request.run)}{request.task:05}-"
        try:
            self._ledger = self._begin(request)
        except OSError as error:
            raise self._folder.make_error(error) from None

    def _begin(self, request: SinkRequest) -> PartLedger | None:
        """Find out what a predecessor has written, and only then remove what it left half."""
        half, notes = self._folder.list_hidden(self._prefix), request.notes
        ledger = PartLedger(notes, lambda first: self._folder.hidden(self._name(first)) not in half) if notes else None
        for left in half:
            left.unlink()
        return ledger

    def _name(self, first: str) -> str:
        return f"{self._prefix}{first}.{self._folder.format}"

    def withdraw(self, batch_id: int) -> None:
        """Remove the parts of a batch that was not written to its end, whichever tasks wrote them."""
        try:
            for part in self._folder.path.glob(f"part-*-{digits(batch_id)}.{self._folder.format}"):
                part.unlink()
        except OSError as error:
            raise self._folder.make_error(error) from None

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Take a batch; it is on disk after the next `flush`."""
        if frame.height and not (self._ledger and batch_id in self._ledger):
            self._waiting.append((batch_id, frame))

    def flush(self) -> None:
        """Make a part of what has gathered, sync it, and rename it: it is there wholly or not at all."""
        if not self._waiting:
            return
        ids, frames = zip(*self._waiting, strict=True)
        folder, ledger, name = self._folder, self._ledger, self._name(digits(ids[0]))
        try:
            folder.check()
            folder.write_hidden(name, pl.concat(frames, rechunk=False), lambda: ledger.note(ids) if ledger else None)
            name_synced(folder.hidden(name), folder.path / name)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise folder.make_error(error) from None
        self._waiting.clear()

    def close(self) -> None:
        """Nothing stays open."""
