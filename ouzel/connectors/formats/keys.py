"""Keys of rows as bytes, for sinks that keep a row, or place a record, by its key."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ouzel.connectors.formats import open_encoder
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError


class KeyEncoder:
    """The key of each row: one column is its text, several are a JSON object; a NULL alone is empty."""

    def __init__(self, request: SinkRequest, given: Sequence[str], option: str, raw: bool | None = None) -> None:
        """`given` is what the option of that name says, else the PRIMARY KEY; `raw` is whether it must be text.

        Raises:
            ConnectorError: there is no such column, or changes come by key and there is none.
        """
        self.columns = tuple(given) or tuple(request.keys)
        self._raw = len(self.columns) == 1 if raw is None else raw
        for name in self.columns:
            if name not in request.columns:
                raise ConnectorError(
                    f"table '{request.table}' has no column '{name}' for '{option}'; it has {', '.join(request.columns)}"
                )
        if request.mode == "upsert" and not self.columns:
            raise ConnectorError(
                f"table '{request.table}' takes changes by key and has no PRIMARY KEY; declare one, or '{option}'"
            )

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """The keys of a frame's rows."""
        columns = frame.select(self.columns)
        if not (self._raw and len(self.columns) == 1):
            return open_encoder("json", {}, columns.schema).encode(columns)
        key = columns.to_series()
        if isinstance(key.dtype, pl.Binary):
            return [data or b"" for data in key.to_list()]
        return [(text or "").encode() for text in key.cast(pl.String).to_list()]
