"""What sources of queues have in common: no offsets, and readers that hold each item until it is acknowledged or given back."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from ouzel.connectors.items import ItemDecoder, ItemLog, KeptItems
from ouzel.connectors.kept import KEPT
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import NothingCommitted, OffsetRange, Partition, SourceRequest
from ouzel.errors import ConnectorError


def open_kept(request: SourceRequest, options: TableOptions) -> KeptItems | None:
    """What runs have kept of the queue, if that is asked for.

    Raises:
        ConnectorError: the format cannot hold these columns.
    """
    if KEPT not in request.options:
        return None
    return KeptItems(request, request.directory / options.text("items.path"), options.text("format"))


class HeldItems(Protocol):
    """The items that a task holds, numbered as they are handed on."""

    def data(self, start: int, end: int) -> list[bytes]:
        """The bytes of those that are still held."""

    def acknowledge(self, start: int, end: int) -> int:
        """These are handled; how many items, of these and of earlier ones, come again although they are."""

    def give_back(self, start: int, end: int) -> None:
        """These are to be handed out again."""

    def held(self, start: int, end: int) -> int:
        """How many of these are still held."""


class Intake(Protocol):
    """The thread that takes items in; it shares them with the reader under its lock."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Guards the items."""

    def take_no_more(self) -> None:
        """Ask for no more items; what is handled is still acknowledged at the server."""

    def close(self) -> None:
        """Acknowledge what is handled, then let go of all connections."""


class QueueReader:
    """Base of the readers of queues (see base.ItemReader). What is handled goes into the `log`, if there is one, then to the server."""

    def __init__(self, items: HeldItems, intake: Intake, log: ItemLog | None) -> None:
        self._items, self._intake, self._log = items, intake, log

    def on_decided(self) -> None:
        """Called when items were acknowledged or given back. Does nothing unless a reader overrides it."""

    def acknowledge(self, start: int, end: int) -> int:
        """Write the items to the log, if there is one, then acknowledge them at the server."""
        with self._intake.lock:
            if self._log:
                self._log.append(self._items.data(start, end))
            again = self._items.acknowledge(start, end)
        self.on_decided()
        return again

    def give_back(self, start: int, end: int) -> None:
        """Have these handed out again."""
        with self._intake.lock:
            self._items.give_back(start, end)
        self.on_decided()

    def held(self, start: int, end: int) -> int:
        """How many of these are still ours."""
        with self._intake.lock:
            return self._items.held(start, end)

    def kept(self) -> tuple[int, int] | None:
        """What was appended to the log."""
        return (self._log.first, self._log.end) if self._log else None

    def close(self) -> None:
        """Take in no more; what is handled is still acknowledged."""
        self._intake.take_no_more()

    def end(self) -> None:
        """Let go of everything."""
        self._intake.close()
        if self._log:
            self._log.close()


class QueueSource(NothingCommitted):
    """Base of the sources of queues."""

    def __init__(self, request: SourceRequest, options: TableOptions) -> None:
        self._request, self._options = request, options
        self._decoder = ItemDecoder(request, options.text("format"))
        self._readers: list[QueueReader] = []

    def _log(self, partition: Partition) -> ItemLog | None:
        """Where the reader of the partition keeps what was handled."""
        kept = self._options.get("items.path")
        return ItemLog(self._request.directory / kept, partition.id) if kept else None

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """A queue has no offsets."""
        raise ConnectorError(f"{partition.id} is read from a queue, which has no offsets to reach")

    def close(self) -> None:
        """Acknowledge what is handled, and let go of the rest, which is handed out again."""
        for reader in self._readers:
            reader.end()
