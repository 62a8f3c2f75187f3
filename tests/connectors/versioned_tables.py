"""What tests of tables with versions have in common: a small table, its rows as they are read, and columns of each type."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from ouzel.connectors.reading import ReadBatch, ReadState, Source

COLUMNS: dict[str, pl.DataType] = {"n": pl.Int64(), "word": pl.String()}


def rows(*numbers: int, words: str = "ab") -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64()), "word": [words[number % len(words)] for number in numbers]})


def frame(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"n": list(numbers), "word": ["w"] * len(numbers)}, schema=COLUMNS)


def read(source: Source, seen: set[str] | None = None) -> pl.DataFrame:
    """All that the source has now, but what lies in the partitions `seen`, which are added to."""
    frames, seen = [], set() if seen is None else seen
    for partition in source.partitions():
        if partition.id in seen:
            continue
        seen.add(partition.id)
        reader = source.reader(partition, None)
        while isinstance(batch := reader.read(2), ReadBatch):
            frames.append(batch.frame)
        assert batch is ReadState.END
    return pl.concat(frames) if frames else pl.DataFrame(schema=COLUMNS)


def numbers(frame: pl.DataFrame) -> list[int]:
    return sorted(frame["n"].to_list())


TYPES: dict[str, tuple[pa.DataType, pl.DataType, st.SearchStrategy[Any]]] = {
    "int": (pa.int32(), pl.Int32(), st.integers(-(2**31), 2**31 - 1)),
    "big": (pa.int64(), pl.Int64(), st.integers(-(2**63), 2**63 - 1)),
    "single": (pa.float32(), pl.Float32(), st.floats(width=32, allow_nan=False)),
    "double": (pa.float64(), pl.Float64(), st.floats(allow_nan=False)),
    "flag": (pa.bool_(), pl.Boolean(), st.booleans()),
    "text": (pa.string(), pl.String(), st.text(st.characters(exclude_categories=["Cs"]), max_size=9)),
    "bytes": (pa.binary(), pl.Binary(), st.binary(max_size=9)),
    "day": (pa.date32(), pl.Date(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "local": (pa.timestamp("us"), pl.Datetime("us"), st.datetimes(datetime(1600, 1, 1), datetime(9999, 12, 31))),
    "moment": (
        pa.timestamp("us", "UTC"),
        pl.Datetime("us", "UTC"),
        st.datetimes(datetime(1600, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)),
    ),
    "money": (
        pa.decimal128(9, 2),
        pl.Decimal(9, 2),
        st.integers(-(10**9) + 1, 10**9 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    ),
    "many": (pa.list_(pa.int64()), pl.List(pl.Int64()), st.lists(st.integers(-9, 9), max_size=3)),
    "row": (
        pa.struct([("a", pa.int64())]),
        pl.Struct({"a": pl.Int64()}),
        st.fixed_dictionaries({"a": st.none() | st.integers(-9, 9)}),
    ),
}
"""As Arrow has a type, as docs/connectors.md says that a column of it is read, and values."""
