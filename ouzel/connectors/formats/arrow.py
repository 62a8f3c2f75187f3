"""Arrow IPC: each record is a stream of batches, so that one record is many rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.conversion import convert_columns
from ouzel.connectors.formats.widening import match_columns, widen
from ouzel.errors import ConnectorError

FORMAT = Format(
    "arrow",
    "Each record is a stream of Arrow's IPC format, with its schema, and as many rows as it holds. Columns take the types that they take "
    "from Parquet, and names match in any case; a column that a record lacks is NULL. A record of which one row is bad is bad as a "
    "whole. It can only be read.",
    (),
    "ouzel.connectors.formats.arrow:ArrowDecoder",
    readable_only=True,
    many=True,
)

_UNREADABLE = (pa.ArrowException, ValueError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


class ArrowDecoder:
    """Decodes records into all of their rows."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self._columns, self._required = dict(columns), required

    def decode(self, records: Records) -> Decoded:
        """Decode all of them."""
        frames = [pl.DataFrame(schema=self._columns)]
        bad: dict[int, str] = {}
        heights = np.zeros(len(records), np.int64)
        for index, value in enumerate(records.values()):
            try:
                frames.append(self._convert(_read(value)))
                heights[index] = frames[-1].height
            except ConnectorError as error:
                bad[index] = str(error)
            except _UNREADABLE as error:
                bad[index] = f"it is no stream of Arrow's IPC format that can be read ({error})"
        frame = pl.concat(frames) if self._columns else pl.DataFrame(height=int(heights.sum()))
        places = np.repeat(np.arange(len(records)), heights)
        checked = convert_columns(frame, self._columns, {}, self._required)
        bad = {int(places[row]): reason for row, reason in reversed(checked.bad)} | bad
        whole = ~np.isin(places, [*bad])
        left = frame.filter(whole) if self._columns else pl.DataFrame(height=int(whole.sum()))
        return Decoded(left, places[whole], sorted(bad.items()))

    def _convert(self, table: pa.Table) -> pl.DataFrame:
        if not self._columns:
            return pl.DataFrame(height=table.num_rows)
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        own = match_columns(frame.schema, self._columns, "its schema")
        made = frame.with_columns(
            (widen(pl.col(own[name]), frame.schema[own[name]], kind) if name in own else pl.lit(None, kind)).alias(name)
            for name, kind in self._columns.items()
        )
        return made.select(*self._columns).head(table.num_rows)


def _read(value: bytes) -> pa.Table:
    """All batches of a stream, which are what they say: otherwise somebody would read bytes that are not there."""
    table = pa.ipc.open_stream(value).read_all()
    table.validate(full=True)
    return table
