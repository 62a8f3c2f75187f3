"""What rows become in a topic: the key and the value of each record. Whoever produces records has this from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from ouzel.connectors.formats import open_encoder
from ouzel.connectors.formats.keys import KeyEncoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

RecordBytes = tuple[bytes | None, bytes | None]
"""Key and value; without a value it is a tombstone."""


class RecordEncoder:
    """Records of the one topic that a table is written to: new rows, upserts by key with tombstones, or each change."""

    def __init__(self, request: SinkRequest, options: TableOptions) -> None:
        self._request = request
        self.topic = self._one_topic(options)
        self._encoder = open_encoder(options.text("format"), request.options, request.columns)
        raw = {"raw": True, "json": False}.get(options.text("key.format"))
        self._keys = KeyEncoder(request, options.names("key.fields"), "key.fields", raw)

    def _one_topic(self, options: TableOptions) -> str:
        names = options.names("topic")
        if len(names) != 1:
            raise ConnectorError(f"table '{self._request.table}' is written to one topic; name it in 'topic'")
        return names[0]

    def encode(self, frame: pl.DataFrame) -> Iterator[RecordBytes]:
        """The records of a frame's rows, in their order."""
        if not frame.height:
            return iter(())
        mode, weight = self._request.mode, self._request.weight
        if mode == "retract":
            frame = _each_change(frame, weight)
        keys: Sequence[bytes | None] = self._keys.encode(frame) if self._keys.columns else [None] * frame.height
        shown = [*self._request.columns, *([weight] if mode == "retract" else [])]
        values: Sequence[bytes | None] = self._encoder.encode(frame.select(shown))
        if mode == "upsert":
            kept = (frame[weight] > 0).to_list()
            values = [value if keep else None for value, keep in zip(values, kept, strict=True)]
        return zip(keys, values, strict=True)


def _each_change(frame: pl.DataFrame, weight: str) -> pl.DataFrame:
    """Each row as often as it comes or goes."""
    times = frame[weight].abs().to_numpy()
    return frame if (times == 1).all() else frame[np.repeat(np.arange(frame.height), times)]
