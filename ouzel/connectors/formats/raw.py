"""Raw: the whole record is the one column, as text or bytes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.conversion import drop_bad_rows
from ouzel.errors import ConnectorError

FORMAT = Format(
    "raw",
    "The whole record is the table's one column: VARCHAR (UTF-8; anything else is a bad record) or BYTES. In files a record is a line, "
    "blank ones too; it ends with LF, CR LF or CR.",
    (),
    "ouzel.connectors.formats.raw:RawDecoder",
    "ouzel.connectors.formats.raw:RawEncoder",
)


def _only(columns: Mapping[str, pl.DataType]) -> tuple[str, pl.DataType] | None:
    if any(not isinstance(kind, (pl.String, pl.Binary)) for kind in columns.values()) or len(columns) > 1:
        shown = ", ".join(columns)
        raise ConnectorError(
            f"the format 'raw' holds one column of type VARCHAR or BYTES, not ({shown}); use 'json' or 'csv'"
        )
    return next(iter(columns.items()), None)


class RawDecoder:
    """Takes records as they are."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self._column = _only(columns)

    def decode(self, records: Records) -> Decoded:
        """Decode all of them."""
        if self._column is None:
            return Decoded(pl.DataFrame(height=len(records)))
        name, kind = self._column
        values = _side_by_side(records).alias(name)
        if isinstance(kind, pl.Binary):
            return Decoded(pl.DataFrame([values]))
        try:
            return Decoded(pl.DataFrame([values.cast(pl.String)]))
        except pl.exceptions.ComputeError:  # somewhere in it is no UTF-8: look at each
            bad: dict[int, str] = {}
            texts = [_decode_value(index, value, bad) for index, value in enumerate(records.values())]
            return drop_bad_rows(pl.DataFrame({name: texts}, schema={name: kind}), bad)


def _side_by_side(records: Records) -> pl.Series:
    """The records as bytes, without a copy of each: Arrow takes them with the byte between, which is then cut off."""
    offsets = np.append(records.starts, records.ends[-1:] + 1).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(records.blob)]
    series = pl.from_arrow(pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(records), buffers))
    assert isinstance(series, pl.Series)
    return series.to_frame("record").select(pl.col("record").bin.slice(0, pl.col("record").bin.size() - 1)).to_series()


def _decode_value(index: int, value: bytes, bad: dict[int, str]) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        bad[index] = f"it is not UTF-8 (byte {error.start})"
        return None


class RawEncoder:
    """Gives the one column as it is."""

    def __init__(self, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> None:
        _only(columns)

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One record a row; NULL is empty."""
        return [value.encode() if isinstance(value, str) else value or b"" for value in frame.to_series(0).to_list()]

    def lines(self, frame: pl.DataFrame) -> bytes:
        """One line a row."""
        return b"".join(value + b"\n" for value in self.encode(frame))

    def header(self) -> bytes:
        """Nothing."""
        return b""
