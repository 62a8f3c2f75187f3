"""Rows from Polars to Spark's Arrow types."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from ouzel.spark.io.arrow import polars_types, record_batches

MAP = pa.map_(pa.string(), pa.int32())
SCHEMA = pa.schema(
    [
        ("m", MAP),
        ("l", pa.list_(MAP)),
        ("s", pa.struct([("x", MAP), ("y", pa.string())])),
        ("z", pa.timestamp("us", "UTC")),
        ("d", pa.decimal128(10, 2)),
        ("b", pa.binary()),
        ("t", pa.string()),
    ]
)
ONE = [{"key": "a", "value": 1}]


def frame() -> pl.DataFrame:
    columns = {
        "m": [ONE, None, []],
        "l": [[ONE, None], None, []],
        "s": [{"x": ONE, "y": "z"}, None, {"x": None, "y": None}],
        "z": [0, 1, None],
        "d": [1, None, 2],
        "b": [b"x", None, b""],
        "t": ["a string longer than twelve bytes", None, ""],
    }
    return pl.DataFrame(columns, schema_overrides={"b": pl.Binary}).cast(polars_types(SCHEMA))  # type: ignore[arg-type]


def rows(made: pl.DataFrame) -> list[dict[str, object]]:
    batches = list(record_batches(made, SCHEMA))
    assert all(batch.schema == SCHEMA for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def test_maps_are_lists_of_entries_for_a_connector() -> None:
    types = polars_types(SCHEMA)
    entries = pl.List(pl.Struct({"key": pl.String, "value": pl.Int32}))
    assert types["m"] == entries
    assert types["s"] == pl.Struct({"x": entries, "y": pl.String})
    assert types["d"] == pl.Decimal(10, 2)


def test_rows_arrive_as_they_are_wherever_a_map_lies() -> None:
    first, second, third = rows(frame())
    assert first["m"] == [("a", 1)]
    assert first["l"] == [[("a", 1)], None]
    assert first["s"] == {"x": [("a", 1)], "y": "z"}
    assert first["t"] == "a string longer than twelve bytes"
    assert set(second) - {"z"} == {name for name, value in second.items() if value is None}
    assert third["m"] == []
    assert third["s"] == {"x": None, "y": None}


def test_a_slice_is_only_its_own_rows() -> None:
    assert rows(frame()[1:]) == rows(frame())[1:]
    assert rows(frame().head(0)) == []
