"""redis-table: rows that stand in a Redis server by key, asked for as they are needed; what a topology has written is such a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ouzel.connectors.base import BatchView, Connector, Option, Reads, Replay, always, never
from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Records
from ouzel.connectors.lookups import KEY, LOOKUP_OPTIONS, check_lookup
from ouzel.connectors.memory import FrameReader
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import NothingCommitted, OffsetRange, Partition, SourceRequest, Unreachable
from ouzel.connectors.redis import CONNECTOR as QUEUE
from ouzel.connectors.redis import check_url
from ouzel.connectors.side_table import SideTable
from ouzel.errors import ConnectorError

_PORTION = 1_000
"""So many keys are asked for by one command."""

_SERVER = ("url", "username", "password", "tls.ca.path", "tls.cert.path", "tls.key.path", "connect.timeout.ms")


def _check(options: Mapping[str, str]) -> None:
    check_url(options.get("url", ""))
    check_lookup(options)


CONNECTOR = Connector(
    "redis-table",
    "A table in a Redis server (6.2 or newer) with a row by key: fields of a hash, or strings, as `'connector' = 'redis'` writes them. "
    "It is joined `FOR SYSTEM_TIME AS OF PROCTIME()`, and asked for the keys of each batch at once. While the server is away the batch "
    "waits. A batch job reads the table as it is then.",
    (
        *(option for option in QUEUE.options if option.name in _SERVER),
        Option("key", "The hash; of strings what their keys begin with, before `:`.", required=True),
        Option("structure", "What holds the rows.", "hash", choices=("hash", "string")),
        Option(
            "format",
            "What a value holds; the key's column need not be in it.",
            required=True,
            choices=("json", "csv", "raw"),
        ),
        *LOOKUP_OPTIONS,
    ),
    Reads(
        "ouzel.connectors.redis.table:RedisTable",
        bounded=always,
        batch=BatchView(dict),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=never,
        shared=True,
        at_rest=False,
        side_table=SideTable(asks="ouzel.connectors.redis.table:RedisTable"),
    ),
    extra="redis",
    check=_check,
    subject="key",
)


class RedisTable(NothingCommitted):
    """The table, to be asked by key; as a source one partition, which holds all rows in the order of their keys."""

    def __init__(self, request: SourceRequest) -> None:
        from ouzel.connectors.redis.client import Endpoint

        self._options, self._table = TableOptions(CONNECTOR, request.options), request.table
        self._key = self._options.text(KEY)
        self._name, self._hash = self._options.text("key"), self._options.text("structure") == "hash"
        columns = {name: kind for name, kind in request.columns.items() if name != self._key}
        self._columns = dict(request.columns)
        self._decoder = (
            open_decoder(self._options.text("format"), request.options, columns, request.required - {self._key})
            if columns
            else None
        )
        self._server = Endpoint(self._options, request.directory)
        if not request.again:
            self._server.greet()

    def ask(self, keys: pl.Series) -> pl.DataFrame | Unreachable:
        """The rows of these keys; see connectors.lookups.AskedTable."""
        names = keys.cast(pl.String).to_list()
        found = self._server.ask(lambda client: list(self._values(client, names)))
        if isinstance(found, Unreachable):
            return found
        known = {place: value for place, value in enumerate(found) if value is not None}
        return self._rows(keys.gather(list(known)), list(known.values()))

    def _values(self, client: Any, names: Sequence[str]) -> Iterator[bytes | None]:
        for start in range(0, len(names), _PORTION):
            portion = names[start : start + _PORTION]
            if self._hash:
                yield from client.hmget(self._name, portion)
            else:
                yield from client.mget([f"{self._name}:{name}" for name in portion])

    def _rows(self, keys: pl.Series, values: Sequence[bytes]) -> pl.DataFrame:
        """The rows of these values. A key stands for itself, whatever its value says."""
        own = keys.alias(self._key)
        if self._decoder is None or not len(values):
            return pl.DataFrame([own], schema={self._key: own.dtype}) if self._decoder is None else self._none()
        decoded = self._decoder.decode(Records.of(values))
        if decoded.bad:
            place, reason = decoded.bad[0]
            raise ConnectorError(f"table '{self._table}': the row of key {own[place]}: {reason}")
        return decoded.frame.with_columns(own).select(list(self._columns))

    def _none(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self._columns)

    def partitions(self) -> Sequence[Partition]:
        """One."""
        return [Partition(self._name, True)]

    def reader(self, partition: Partition, offset: int | None) -> FrameReader:
        """All rows as they are now."""
        return FrameReader(self._whole(), offset or 0)

    def _whole(self) -> pl.DataFrame:
        pairs = self._server.ask(self._pairs)
        if isinstance(pairs, Unreachable):
            raise ConnectorError(pairs.reason)
        names = pl.Series(self._key, sorted(pairs), pl.String)
        try:
            keys = names.cast(self._columns[self._key]) if self._key in self._columns else names
        except pl.exceptions.PolarsError:
            kind = self._columns[self._key]
            raise ConnectorError(f"table '{self._table}': a key under '{self._name}' is no {kind}") from None
        return self._rows(keys, [pairs[name] for name in names]).select(list(self._columns))

    def _pairs(self, client: Any) -> dict[str, bytes]:
        if self._hash:
            return {name.decode(): value for name, value in client.hscan_iter(self._name, count=_PORTION)}
        prefix = f"{self._name}:"
        names = [name.decode() for name in client.scan_iter(f"{prefix}*", count=_PORTION)]
        short = [name.removeprefix(prefix) for name in dict.fromkeys(names)]
        values = self._values(client, short)
        return {name: value for name, value in zip(short, values, strict=True) if value is not None}

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """All rows are there."""
        start, last = offset or 0, self._whole().height
        return OffsetRange(start, min(start + rows, last), start + rows >= last)

    def close(self) -> None:
        """Let go of the connection."""
        self._server.client.close()
