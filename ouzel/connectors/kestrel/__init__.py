"""kestrel: queues on servers that speak Kestrel's memcache protocol, read reliably and written."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.connectors.base import Connector, Option, SinkDelivery, Writers, Writes
from ouzel.connectors.kept import read_queue
from ouzel.connectors.kestrel.servers import FILE, is_address, split
from ouzel.errors import QueryError

_FORBIDDEN = frozenset("/~. \t\r\n")
_NAME_MAX = 200


def _check(options: Mapping[str, str]) -> None:
    servers = options.get("servers", "")
    listed = [] if servers.startswith(FILE) and servers != FILE else split(servers) or [""]
    for server in listed:
        if not is_address(server):
            raise QueryError(f"'servers' cannot hold '{server}'", instead="write 'host:22133, other:22133'")
    queue = options.get("queue", "")
    if _FORBIDDEN & set(queue) or not queue.strip("+") or queue.count("+") > 1 or len(queue) > _NAME_MAX:
        raise QueryError(
            f"'queue' cannot be '{queue}'",
            instead="write 'name', or 'name+child' for a queue that gets a copy of each item",
        )
    for name in ("connections", "pending.items", "item.max.bytes"):
        if options.get(name, "1").strip() == "0":
            raise QueryError(f"'{name}' cannot be 0", instead="write a number from 1 on")


CONNECTOR = Connector(
    "kestrel",
    "A queue on servers that speak Kestrel's memcache protocol. Items are opened and not taken: each is closed when all that came of it "
    "has been handled, and goes back when that fails, when a connection breaks or a task dies; at most once they are taken for good. Each "
    "task reads some of the servers, by the rule of Twitter's Kestrel spout; one that does not answer is left alone, longer and longer. "
    "`queue+child` is a queue of its own that gets a copy of each item from when it is first read. As a sink it takes new rows; a "
    "batch that comes again is written again, and a server that is full or away is waited for.",
    (
        Option(
            "servers",
            "All servers that have the queue, host:port separated by commas; or `file:PATH`, a file that lists them and is looked at again "
            "every two seconds, see [servers that come and go](queues.md#servers-that-come-and-go).",
            required=True,
        ),
        Option("queue", "The queue, or `queue+child`.", required=True),
        Option("format", "What an item holds.", required=True, choices=("json", "csv", "raw")),
        Option("connections", "Source: how many connections a task keeps to each of its servers.", "2", kind="integer"),
        Option(
            "pending.items",
            "Source: how many items a connection has open at most. More than one needs MONITOR and CONFIRM of Kestrel 2; with `1` items "
            "are opened by GET, one a connection, so that many connections are needed.",
            "5000",
            kind="integer",
        ),
        Option(
            "linger.ms", "Source: how long items wait for others to come into the same batch.", "10", kind="integer"
        ),
        Option("item.max.bytes", "Source: an item that is larger stops the topology.", "16777216", kind="integer"),
        Option(
            "connect.timeout.ms",
            "How long to wait for a server that does not answer. At the start one of them must.",
            "5000",
            kind="integer",
        ),
        Option(
            "end",
            "Source: whether reading ends when the queue is found empty on all servers, and nothing is open; one that is away holds the "
            "end back.",
            "none",
            choices=("none", "empty"),
        ),
        Option(
            "items.path",
            "Source: a directory in which what was handled is kept before the servers forget it, a file for each task. A batch reads "
            "that, and so does `ouzel reconcile`.",
        ),
        Option(
            "expiry.seconds",
            "Sink: after how long an item that nobody has read is dropped; `0` is never.",
            "0",
            kind="integer",
        ),
    ),
    read_queue("ouzel.connectors.kestrel.source:open_queue", "is a queue, which hands out each item once"),
    Writes("ouzel.connectors.kestrel.sink:KestrelSink", ("append",), Writers.MANY, SinkDelivery.AT_LEAST_ONCE),
    check=_check,
    subject="queue",
)
