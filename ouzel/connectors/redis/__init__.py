"""redis: a stream read by a consumer group, and streams, hashes, strings and sorted sets that are written."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from ouzel.connectors.base import Connector, Option, SinkDelivery, Writers, Writes
from ouzel.connectors.kept import read_queue
from ouzel.connectors.keyed import MERGE, MERGE_OPTION, merged_columns
from ouzel.errors import QueryError

STRUCTURES = ("stream", "hash", "string", "sorted-set")
_URL = "write 'redis://host:6379/0', or 'rediss://…' for TLS"


def _check(options: Mapping[str, str]) -> None:
    check_url(options.get("url", ""))
    structure = options.get("structure", STRUCTURES[0])
    if ("score" in options) != (structure == "sorted-set"):
        problem = "a sorted set needs 'score'" if "score" not in options else "'score' has no effect here"
        raise QueryError(problem, instead="write 'structure' = 'sorted-set' and 'score' = 'column', or neither")
    if structure != "stream" and "max.length" in options:
        raise QueryError("'max.length' has no effect here", instead="leave it out: only a stream is cut off")
    if merged_columns(options) and (structure != "hash" or options.get("format") != "json"):
        raise QueryError(
            f"'{MERGE}' has no effect here", instead="write 'structure' = 'hash' and 'format' = 'json', or leave it out"
        )
    for name in ("pending.items", "claim.idle.ms", "max.length"):
        if options.get(name, "1").strip() == "0":
            raise QueryError(f"'{name}' cannot be 0", instead="write a number from 1 on")


def check_url(url: str) -> None:
    """See that 'url' names a server.

    Raises:
        QueryError: it does not.
    """
    parts = urlsplit(url)
    try:
        wrong = parts.scheme not in ("redis", "rediss") or not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    if parts.password is not None:
        raise QueryError("'url' cannot hold a password", instead="write 'password' = '${env:NAME}'")
    if wrong or not (parts.path.strip("/") or "0").isdecimal():
        raise QueryError(f"'url' cannot be '{url}'", instead=_URL)


CONNECTOR = Connector(
    "redis",
    "Structures of a Redis server (6.2 or newer). A stream is read by a consumer group: an entry is acknowledged when all that came of it "
    "has been handled. Entries that were pending when a task died are given to it again when it restarts, and other tasks claim what "
    "belongs to a consumer that has been silent for `claim.idle.ms`. While the server is away reading and writing wait. As a sink "
    "a stream takes new rows; a hash (field per key), strings (`key:…` per key) and a sorted set (member per key) take upserts by "
    "PRIMARY KEY, which may come twice without harm; a hash with `merge` adds to what it has, each batch once.",
    (
        Option("url", "The server, `redis://host:6379/0`, or `rediss://…` for TLS; without a password.", required=True),
        Option("key", "The stream, hash or sorted set; of strings what their keys begin with.", required=True),
        Option(
            "structure",
            "What stands under the key; only a stream can be read, a list [cannot](queues.md#streams-of-redis).",
            "stream",
            choices=STRUCTURES,
        ),
        Option("format", "What an entry, or a value, holds.", required=True, choices=("json", "csv", "raw")),
        Option("username", "Of an access control list; without one it is Redis's `default`."),
        Option("password", "As `${env:NAME}` or `${file:/path}`.", secret=True),
        Option("tls.ca.path", "The certificates to trust, of a `rediss://` server; by default the system's."),
        Option("tls.cert.path", "The client's certificate, if the server asks for one."),
        Option("tls.key.path", "Its private key."),
        Option("field", "Stream: the field of an entry that holds the row.", "value"),
        Option(
            "group",
            "Source: the consumer group; by default `ouzel-<query name>`. Two runs at a time need groups of their own.",
        ),
        Option(
            "start",
            "Source: where a group begins that is not there yet.",
            "earliest",
            choices=("earliest", "latest"),
        ),
        Option("pending.items", "Source: how many entries may be pending at one task.", "100000", kind="integer"),
        Option(
            "claim.idle.ms",
            "Source: what belongs to a consumer that has been silent for so long is claimed.",
            "60000",
            kind="integer",
        ),
        Option(
            "end",
            "Source: whether reading ends when the group has read the stream to its end, and nothing is pending.",
            "none",
            choices=("none", "empty"),
        ),
        Option(
            "items.path",
            "Source: a directory in which what was handled is kept before it is acknowledged, a file for each task. A batch reads "
            "that, and so does `ouzel reconcile`.",
        ),
        Option(
            "key.fields",
            "Sink: the columns that make the key of a row, separated by commas; by default the PRIMARY KEY.",
        ),
        Option("score", "Sink: the column of numbers by which a sorted set is sorted."),
        MERGE_OPTION,
        Option("max.length", "Sink: about so many entries a stream keeps; by default all.", kind="integer"),
        Option("connect.timeout.ms", "How long to wait for a server that does not answer.", "5000", kind="integer"),
    ),
    read_queue("ouzel.connectors.redis.source:open_stream", "is a stream whose group is handed each entry once"),
    Writes(
        "ouzel.connectors.redis.sink:open_redis",
        ("append", "upsert", "merge"),
        Writers.MANY,
        SinkDelivery.AT_LEAST_ONCE,
        replaces=lambda options: options.get("structure", STRUCTURES[0]) != "stream",
        merged=merged_columns,
        publisher="ouzel.connectors.redis.publisher:RedisPublisher",
    ),
    extra="redis",
    check=_check,
    subject="key",
    keyed="ouzel.connectors.redis.keyed:RedisHash",
)
