"""Reading a stream: a consumer of the group for each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ouzel.connectors.items import ItemDecoder, ItemLog
from ouzel.connectors.options import TableOptions
from ouzel.connectors.queues import QueueReader, QueueSource, open_kept
from ouzel.connectors.reading import BadRow, Partition, ReadBatch, ReadState, Source, SourceRequest, Unreachable
from ouzel.connectors.redis import CONNECTOR
from ouzel.connectors.redis.client import Endpoint
from ouzel.connectors.redis.group import Consumer, GroupReading
from ouzel.connectors.redis.pending import PendingEntries, StreamEntry
from ouzel.errors import ConnectorError


def open_stream(request: SourceRequest) -> Source:
    """The stream itself, or what runs have kept of it.

    Raises:
        ConnectorError: it is no stream, or the format cannot hold these columns.
    """
    options = TableOptions(CONNECTOR, request.options)
    if options.text("structure") != "stream":
        raise ConnectorError(
            f"table '{request.table}': only a stream can be read, and 'structure' is '{options.text('structure')}'"
        )
    return open_kept(request, options) or RedisSource(request, options)


class RedisSource(QueueSource):
    """A stream: a partition for each task."""

    def __init__(self, request: SourceRequest, options: TableOptions) -> None:
        super().__init__(request, options)
        if not request.again:
            self._server().greet()

    def _server(self) -> Endpoint:
        return Endpoint(self._options, self._request.directory)

    def partitions(self) -> Sequence[Partition]:
        """A share of the stream for each task: whatever the group gives it."""
        ends = self._options.text("end") == "empty"
        return [Partition(name, ends) for name in self._consumers()]

    def _consumers(self) -> list[str]:
        return [f"{self._options.text('key')}-{task}" for task in range(self._request.tasks)]

    def reader(self, partition: Partition, offset: int | None) -> RedisReader:
        """Read one task's share."""
        options, request = self._options, self._request
        reading = GroupReading(
            options.text("key"),
            options.text("field").encode(),
            options.text("group") or f"ouzel-{request.name or request.table}",
            options.text("start"),
            partition.id,
            frozenset(self._consumers()),
            options.integer("pending.items"),
            options.integer("claim.idle.ms"),
            request.tracked,
        )
        reader = RedisReader(self._server(), reading, partition.bounded, self._decoder, self._log(partition))
        self._readers.append(reader)
        return reader


class RedisReader(QueueReader):
    """Reads what the group gives to one consumer, entry by entry; see base.ItemReader."""

    def __init__(
        self, server: Endpoint, reading: GroupReading, ends: bool, decoder: ItemDecoder, log: ItemLog | None
    ) -> None:
        self._reading, self._ends, self._decoder = reading, ends, decoder
        self._pending = PendingEntries(reading.tracked)
        self._consumer = Consumer(server, reading, self._pending)
        super().__init__(self._pending, self._consumer, log)
        self._tells_lag = reading.consumer == min(reading.peers)

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState | Unreachable:
        """What has come, at most `rows` entries."""
        if self._consumer.failure:
            raise self._consumer.failure
        with self._consumer.lock:
            start, entries = self._pending.give_out(rows)
            ended = self._ends and self._consumer.is_empty and self._pending.is_empty
            if entries:
                notes, self._consumer.notes = self._consumer.notes, {}
        if not entries:
            away = self._consumer.away
            return ReadState.END if ended else Unreachable(away) if away else ReadState.WAIT
        good = [entry for entry in entries if not entry.fault]
        batch = self._decoder.decode([entry.data for entry in good], start, lambda row: self._place(good[row]))
        bad = [BadRow(self._place(entry), entry.fault, entry.data) for entry in entries if entry.fault]
        return replace(batch, end=start + len(entries), bad=[*batch.bad, *bad], notes=[*batch.notes, *notes])

    def _place(self, entry: StreamEntry) -> str:
        return f"stream '{self._reading.stream}', entry {entry.number.decode()}"

    def lag(self) -> int | None:
        """How many entries wait here; the first task adds those that the group has not read."""
        with self._consumer.lock:
            here = self._pending.waiting
        return here + (self._consumer.lag or 0) if self._tells_lag else here
