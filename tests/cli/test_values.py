"""One value as JSON and as text."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from ouzel.cli.table import final
from ouzel.cli.values import json_encoder, json_rows, texts
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    Field,
    MapType,
    RowType,
    Schema,
)

MONEY = DecimalType(38, 10)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (BIGINT, 2**63 - 1, 2**63 - 1),
        (BOOLEAN, True, True),
        (VARCHAR, "ü\n", "ü\n"),
        (DOUBLE, 0.1, 0.1),
        (DOUBLE, math.nan, "NaN"),
        (DOUBLE, -math.inf, "-Infinity"),
        (FLOAT, 0.10000000149011612, 0.1),
        (FLOAT, math.inf, "Infinity"),
        (MONEY, Decimal("1E+3"), "1000"),
        (MONEY, Decimal("0.0000000001"), "0.0000000001"),
        (DATE, date(2013, 1, 1), "2013-01-01"),
        (TIMESTAMP, datetime(2013, 1, 1, 5), "2013-01-01T05:00:00"),
        (TIMESTAMP, datetime(2013, 1, 1, 5, 0, 0, 250_000), "2013-01-01T05:00:00.250000"),
        (TIMESTAMP_LTZ, datetime(2013, 1, 1, 5, tzinfo=UTC), "2013-01-01T05:00:00Z"),
        (INTERVAL, timedelta(days=-1, microseconds=1), -86_399_999_999),
        (BYTES, b"\xff\x00", "/wA="),
        (ArrayType(DOUBLE), [1.0, None, math.nan], [1.0, None, "NaN"]),
        (RowType((("day", DATE), ("n", INT))), {"day": date(2013, 1, 1), "n": None}, {"day": "2013-01-01", "n": None}),
        (MapType(VARCHAR, MONEY), [{"key": "a", "value": Decimal(1)}], {"a": "1"}),
        (MapType(INT, INT), [{"key": 1, "value": None}], [{"key": 1, "value": None}]),
    ],
)
def test_json(kind: DataType, value: Any, expected: Any) -> None:
    assert json_encoder(kind)(value) == expected


def test_json_rows_keep_null_and_the_order_of_the_schema() -> None:
    schema = Schema((Field("b", BIGINT), Field("a", MONEY)))
    frame = pl.DataFrame(
        {"a": [None], "b": [1], "$weight": [1]}, schema={"a": pl.Decimal(38, 10), "b": pl.Int64, "$weight": pl.Int64}
    )
    assert [list(row.items()) for row in json_rows(frame, schema)] == [[("b", 1), ("a", None)]]


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (BIGINT, [2013, None], ["2013", None]),
        (BIGINT, [2013, 336_776], ["2,013", "336,776"]),
        (DOUBLE, [13.0, 13.25, math.nan], ["13.00", "13.25", "NaN"]),
        (DOUBLE, [0.1 + 0.2, 1e-9, 1e20], ["0.3", "1e-09", "1e+20"]),
        (DOUBLE, [1 / 3, 12_000.0], ["0.333333", "12,000.000000"]),
        (MONEY, [Decimal("12345.5000000000")], ["12,345.50"]),
        (DecimalType(38, 18), [Decimal("1.5"), Decimal("0.0010"), None], ["1.500", "0.001", None]),
        (DecimalType(10, 4), [Decimal("1.5")], ["1.5000"]),
        (INTERVAL, [timedelta(days=2, hours=3, minutes=4, seconds=5.5), None], ["2 days 03:04:05.5", None]),
        (INTERVAL, [timedelta(days=1), timedelta(0)], ["1 day 00:00:00", "00:00:00"]),
        (
            INTERVAL,
            [-timedelta(days=1, hours=25), timedelta(microseconds=-1)],
            ["-2 days 01:00:00", "-00:00:00.000001"],
        ),
        (DATE, [date(2013, 1, 1)], ["2013-01-01"]),
        (TIMESTAMP, [datetime(2013, 1, 1), None], ["2013-01-01", None]),
        (TIMESTAMP, [datetime(2013, 1, 1), datetime(2013, 1, 1, 6, 30)], ["2013-01-01 00:00", "2013-01-01 06:30"]),
        (TIMESTAMP, [datetime(2013, 1, 1, 6, 30, 15)], ["2013-01-01 06:30:15"]),
        (TIMESTAMP, [datetime(2013, 1, 1, 6, 30, 15, 250_000)], ["2013-01-01 06:30:15.250000"]),
        (TIMESTAMP, ["+10000-01-01 00:00:00", datetime(2013, 1, 1)], ["+10000-01-01 00:00:00", "2013-01-01 00:00:00"]),
        (VARCHAR, ["tab\tand\x1b[31m colour"], ["tab\\tand\\x1b[31m colour"]),
        (VARCHAR, ["x" * 100], ["x" * 59 + "…"]),
        (BOOLEAN, [True], ["true"]),
        (ArrayType(INT), [[1, None]], ["[1, null]"]),
    ],
)
def test_text(kind: DataType, values: list[Any], expected: list[str | None]) -> None:
    assert texts(values, kind) == expected


def test_times_that_python_has_no_year_for_are_shown_too() -> None:
    schema = Schema((Field("at", TIMESTAMP_LTZ),))
    frame = pl.DataFrame({"at": pl.Series([2**63 - 1, 0], dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))})
    far = "+294247-01-10T04:00:54.775807Z"
    assert [row["at"] for row in json_rows(frame, schema)] == [far, "1970-01-01T00:00:00Z"]
    assert final(frame, schema, 2, 80)
