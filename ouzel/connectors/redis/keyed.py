"""A hash as a table of rows by key: looked up in pipelines, and added to by a script that replaces only what has not changed meanwhile.

Beside the hash `counts` there is `{counts}:of`, which says what it adds up, and, for each writer, a sorted set `{counts}:added:…` of the
batches that it has added. A script adds the batches of a flush to that and replaces the rows, both or neither. Where another writer was
quicker it does nothing, and rows are read and added up anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ouzel.connectors.file.ledger import REMEMBERED
from ouzel.connectors.formats import open_decoder, open_encoder
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.keys import KeyEncoder
from ouzel.connectors.keyed import LEDGER_DAYS, KeyedRequest, merge_rows
from ouzel.connectors.options import TableOptions
from ouzel.connectors.redis import CONNECTOR
from ouzel.connectors.redis.client import Endpoint
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_PORTION = 5_000

_ADD = """
local batches, rows = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 1, batches do
  if redis.call('ZSCORE', KEYS[2], ARGV[4 + i]) then return 0 end
end
local at = 4 + batches
for i = 1, rows do
  local before = redis.call('HGET', KEYS[1], ARGV[at + 1]) or ''
  if before ~= ARGV[at + 2] then return 0 end
  at = at + 3
end
at = 4 + batches
for i = 1, rows do
  redis.call('HSET', KEYS[1], ARGV[at + 1], ARGV[at + 3])
  at = at + 3
end
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or 0
for i = 1, batches do
  redis.call('ZADD', KEYS[2], last + i, ARGV[4 + i])
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[3]))
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1
"""


class RedisHash:
    """See keyed.KeyedRows. A row is a field of the hash, named by its key, as the sink writes it."""

    def __init__(self, request: KeyedRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._request, self._hash = request, options.text("key")
        if options.text("structure") != "hash":
            raise ConnectorError(
                f"table '{request.table}': rows are found by key in a hash, and 'structure' is '{options.text('structure')}'"
            )
        shape = options.text("format")
        self._encoder = open_encoder(shape, request.options, request.columns)
        self._decoder = open_decoder(shape, request.options, request.columns, frozenset(request.keys))
        self._keys = KeyEncoder(
            SinkRequest(request.table, request.options, request.columns, "upsert", request.directory, request.keys), (), "key.fields"
        )  # fmt: skip
        self._note = f"{{{self._hash}}}:of"
        self._ledger = f"{{{self._hash}}}:added:{request.writer}"
        self._server = Endpoint(options, request.directory)
        if not request.again:
            self._server.greet()
        self._check()
        self._add = self._server.client.register_script(_ADD)

    def _check(self) -> None:
        note = self._server.await_answer(lambda client: client.get(self._note))
        self._request.check_same(None if note is None else note.decode(), f"the hash '{self._hash}'")

    def get_many(self, keys: pl.DataFrame) -> pl.DataFrame:
        names = self._keys.encode(keys)
        parts = [names[start : start + _PORTION] for start in range(0, len(names), _PORTION)]
        return self._decode([value for value in self._held(parts) if value is not None])

    def _held(self, parts: Sequence[Sequence[bytes]]) -> list[bytes | None]:
        return self._server.await_answer(lambda client: self._fetch(client, parts))

    def _fetch(self, client: Any, parts: Sequence[Sequence[bytes]]) -> list[bytes | None]:
        pipeline = client.pipeline(transaction=False)
        for part in parts:
            pipeline.hmget(self._hash, part)
        return [value for answer in pipeline.execute() for value in answer]

    def rows(self) -> pl.DataFrame:
        """See KeyedRows. What is written meanwhile may be seen or not."""
        found = self._server.await_answer(lambda client: dict(client.hscan_iter(self._hash, count=_PORTION)))
        return self._decode(list(found.values()))

    def _decode(self, values: Sequence[bytes]) -> pl.DataFrame:
        found = self._decoder.decode(Records.of(values))
        if found.bad:
            index, reason = found.bad[0]
            raise ConnectorError(
                f"table '{self._request.table}': the hash '{self._hash}' holds what is no row of it, {values[index]!r}: {reason}"
            )
        return found.frame

    def note_merged(self) -> None:
        """Note what the hash adds up, if it has not been noted.

        Raises:
            ConnectorError: it adds up something else.
        """
        self._server.await_answer(lambda client: client.setnx(self._note, self._request.description))
        self._check()

    def merge(self, batches: Mapping[str, pl.DataFrame]) -> None:
        self.note_merged()
        while not self._try(batches):
            pass  # whoever was quicker has got on

    def _try(self, batches: Mapping[str, pl.DataFrame]) -> bool:
        """Add them; False if somebody else was quicker."""
        scores = self._server.await_answer(lambda client: client.execute_command("ZMSCORE", self._ledger, *batches))
        fresh = {batch: rows for (batch, rows), score in zip(batches.items(), scores, strict=True) if score is None}
        if not fresh:
            return True
        changes = self.changes(list(fresh.values()))
        limits = [len(fresh), len(changes), REMEMBERED, LEDGER_DAYS * 86_400]
        arguments = [*limits, *fresh, *(part for change in changes for part in change)]
        done = self._server.await_answer(lambda _: self._add(keys=[self._hash, self._ledger], args=arguments))
        return bool(done == 1)

    def changes(self, frames: Sequence[pl.DataFrame]) -> list[tuple[bytes, bytes, bytes]]:
        """What becomes of fields when these rows are added: name, value now (empty if there is none), and then.

        Raises:
            ConnectorError: a key is NULL, a sum does not fit, or the hash holds what is no row.
        """
        added = merge_rows(self._request, frames)
        names = self._keys.encode(added)
        held = self._held([names])
        before = self._decode([value for value in held if value is not None])
        totals = added if before.is_empty() else merge_rows(self._request, [before, added])
        values = dict(zip(self._keys.encode(totals), self._encoder.encode(totals), strict=True))
        return [(name, value or b"", values[name]) for name, value in zip(names, held, strict=True)]

    def close(self) -> None:
        """Let go of the server."""
        self._server.client.close()
