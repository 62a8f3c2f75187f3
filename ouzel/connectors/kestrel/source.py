"""Reading a queue: each task from the hosts that the rule gives it, in batches that wait for more items only for a moment."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ouzel.connectors.backlog import Backlog
from ouzel.connectors.items import ItemDecoder, ItemLog
from ouzel.connectors.kestrel import CONNECTOR
from ouzel.connectors.kestrel.client import Client, QueueReading, greet
from ouzel.connectors.kestrel.delivery_ledger import DeliveryLedger
from ouzel.connectors.kestrel.servers import Servers
from ouzel.connectors.options import TableOptions
from ouzel.connectors.queues import QueueReader, QueueSource, open_kept
from ouzel.connectors.reading import Partition, ReadBatch, ReadState, Source, SourceRequest, Unreachable
from ouzel.errors import ConnectorError


def open_queue(request: SourceRequest) -> Source:
    """A source of the queue itself, or of what earlier runs have kept of it.

    Raises:
        ConnectorError: the format cannot hold these columns.
    """
    options = TableOptions(CONNECTOR, request.options)
    return open_kept(request, options) or KestrelSource(request, options)


class KestrelSource(QueueSource):
    """A queue on some hosts: a partition for each task."""

    def __init__(self, request: SourceRequest, options: TableOptions) -> None:
        super().__init__(request, options)
        self._greeted = request.again

    def _servers(self) -> Servers:
        found = Servers(self._options.text("servers"), self._request.directory)
        found.look()
        return found

    def _reading(self) -> QueueReading:
        options = self._options
        return QueueReading(
            options.text("queue"),
            options.integer("connections"),
            options.integer("pending.items"),
            self._request.tracked,
            options.integer("item.max.bytes"),
            options.integer("connect.timeout.ms") / 1000,
        )

    def partitions(self) -> Sequence[Partition]:
        """What each task reads of the queue; on the first call some server must answer."""
        if not self._greeted:
            servers = self._servers()
            if servers.problem:
                raise ConnectorError(servers.problem)
            greet(servers.hosts, self._reading())
            self._greeted = True
        ends = self._options.text("end") == "empty"
        return [Partition(f"{self._options.text('queue')}-{task}", ends) for task in range(self._request.tasks)]

    def reader(self, partition: Partition, offset: int | None) -> KestrelReader:
        """Read one task's part."""
        turn = int(partition.id.rpartition("-")[2]), self._request.tasks
        linger_s = self._options.integer("linger.ms") / 1000
        ledger, log = DeliveryLedger(self._request.tracked), self._log(partition)
        client = Client(self._reading(), self._servers(), turn, ledger)
        reader = KestrelReader(client, ledger, partition.bounded, self._decoder, log, linger_s)
        self._readers.append(reader)
        return reader


class KestrelReader(QueueReader):
    """Reads the queue from some of its hosts, item by item; see base.ItemReader."""

    def __init__(
        self,
        client: Client,
        ledger: DeliveryLedger,
        ends: bool,
        decoder: ItemDecoder,
        log: ItemLog | None,
        linger_s: float,
    ) -> None:
        super().__init__(ledger, client, log)
        self._client, self._ledger, self._ends, self._decoder = client, ledger, ends, decoder
        self._linger_s, self._since_s = linger_s, 0.0

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState | Unreachable:
        """What has come, at most `rows` items; fewer wait for others, but not for long."""
        if self._client.failure:
            raise self._client.failure
        with self._client.lock:
            if not self._is_due(rows):
                return self._nothing()
            self._since_s = 0.0
            start, items, hosts = self._ledger.read(rows)
        data, queue = [item.data for item in items], self._client.queue
        batch = self._decoder.decode(data, start, lambda row: f"queue '{queue}' at {hosts[row]}")
        if problem := self._client.servers.problem:
            batch.notes = (*batch.notes, f"{problem}; the servers are those that it named before")
        return batch

    def _is_due(self, rows: int) -> bool:
        waiting = self._ledger.waiting
        if not waiting:
            return False
        now_s = time.monotonic()
        self._since_s = self._since_s or now_s
        return waiting >= rows or now_s - self._since_s >= self._linger_s

    def _nothing(self) -> ReadState | Unreachable:
        if self._ledger.waiting:
            return ReadState.WAIT
        if self._ends and self._client.is_connected and self._ledger.is_empty:
            return ReadState.END
        share = self._client.share
        if not share.is_known:
            return Unreachable(self._client.servers.problem or "the list of Kestrel's servers has just become readable")
        if not share.hosts:
            return ReadState.END if self._ends else ReadState.WAIT
        away = self._client.blacklist.away(share.hosts)
        return Unreachable(away) if away else ReadState.WAIT

    def on_decided(self) -> None:
        """Go on with connections that waited for it, to confirm their items or to give all of them back."""
        self._client.on_decided()

    def lag(self) -> int | None:
        """How many items wait at the servers that this task watches, and here."""
        waits = self.backlogs()
        with self._client.lock:
            here = self._ledger.waiting
        return sum(backlog.records for backlog in waits) + here if waits else None

    def backlogs(self) -> list[Backlog]:
        """What waits in the queue at each server that this task watches."""
        return list(self._client.waits.values())
