"""What rows become in a structure of Redis: a command each. Whoever writes rows has this from here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from ouzel.connectors.formats import open_encoder
from ouzel.connectors.formats.keys import KeyEncoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

Command = tuple[Any, ...]


class CommandEncoder:
    """Commands that append to a stream, or that keep a row by key in a hash, strings or a sorted set."""

    def __init__(self, request: SinkRequest, options: TableOptions) -> None:
        self._request, self._options = request, options
        self._key, self._structure = options.text("key"), options.text("structure")
        self._encoder = open_encoder(options.text("format"), request.options, request.columns)
        self._keys = KeyEncoder(request, options.names("key.fields"), "key.fields")
        self._check()

    def _check(self) -> None:
        table, score = self._request.table, self._options.text("score")
        if self._structure == "stream" and self._request.mode == "upsert":
            raise ConnectorError(
                f"table '{table}': a stream takes new rows only; write 'structure' = 'hash', 'string' or 'sorted-set'"
            )
        if self._structure != "stream" and not self._keys.columns:
            raise ConnectorError(f"table '{table}' has no PRIMARY KEY; declare one, or 'key.fields'")
        if score and score not in self._request.columns:
            raise ConnectorError(f"table '{table}' has no column '{score}' for 'score'")

    def commands(self, frame: pl.DataFrame) -> Iterator[Command]:
        """The commands of a frame's rows, in their order.

        Raises:
            ConnectorError: a row cannot be sorted.
        """
        values = self._encoder.encode(frame.select([*self._request.columns]))
        if self._structure == "stream":
            cut = ("MAXLEN", "~", limit) if (limit := self._options.integer("max.length")) else ()
            return (("XADD", self._key, *cut, "*", self._options.text("field"), value) for value in values)
        stays = (
            frame[self._request.weight] > 0
            if self._request.mode == "upsert"
            else pl.repeat(True, frame.height, eager=True)
        )
        keys, scores = self._keys.encode(frame), self._scores(frame)
        return map(self._command, keys, values, scores, stays.to_list())

    def _scores(self, frame: pl.DataFrame) -> list[Any]:
        score = self._options.text("score")
        if not score:
            return [None] * frame.height
        if frame[score].null_count():
            raise ConnectorError(f"table '{self._request.table}': '{score}' is NULL in a row, and sorts a sorted set")
        scores = frame[score].cast(pl.Float64)
        if scores.is_nan().any():
            raise ConnectorError(f"table '{self._request.table}': '{score}' is NaN in a row, and sorts a sorted set")
        return scores.to_list()

    def _command(self, key: bytes, value: bytes, score: float | None, stays: bool) -> Command:
        match self._structure:
            case "hash":
                return ("HSET", self._key, key, value) if stays else ("HDEL", self._key, key)
            case "string":
                name = self._key.encode() + b":" + key
                return ("SET", name, value) if stays else ("DEL", name)
            case _:
                return ("ZADD", self._key, score, key) if stays else ("ZREM", self._key, key)
