"""Times that Python has no year for, and near the ends of 64 bits Polars no text: such rows are shown like any other."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import polars as pl
import pytest

from ouzel.connectors.dead_letters import rows_as_json
from ouzel.connectors.formats.far_times import python_values
from ouzel.connectors.formats.json.format import JsonEncoder

LEAST_TIME, LARGEST_TIME = -(2**63), 2**63 - 1
FAR_TIMES = pl.Series("at", [LEAST_TIME, None, 0, LARGEST_TIME], pl.Int64).cast(pl.Datetime("us"))


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (
            [LEAST_TIME, -62135596800000001, -62135596800000000, 253402300799999999, 253402300800000000, None, LARGEST_TIME],
            pl.Datetime("us"),
            [
                "-290308-12-21 19:59:05.224192", "0000-12-31 23:59:59.999999", datetime.min, datetime.max,
                "+10000-01-01 00:00:00", None, "+294247-01-10 04:00:54.775807",
            ],
        ),
        ([LEAST_TIME, 0], pl.Datetime("us", "UTC"), ["-290308-12-21 19:59:05.224192+00:00", datetime(1970, 1, 1, tzinfo=UTC)]),
        (
            [-(2**31), -719163, -719162, 2932896, 2932897, None, 2**31 - 1],
            pl.Date(),
            ["-5877641-06-23", "0000-12-31", date.min, date.max, "+10000-01-01", None, "+5881580-07-11"],
        ),
        ([[LARGEST_TIME], [], None], pl.List(pl.Datetime("us")), [["+294247-01-10 04:00:54.775807"], [], None]),
        ([{"x": LARGEST_TIME}, None], pl.Struct({"x": pl.Datetime("us")}), [{"x": "+294247-01-10 04:00:54.775807"}, None]),
    ],
)  # fmt: skip
def test_values(values: list[Any], kind: pl.DataType, expected: list[Any]) -> None:
    counted = {pl.List: pl.List(pl.Int64), pl.Struct: pl.Struct({"x": pl.Int64})}.get(type(kind), pl.Int64)
    assert python_values(pl.Series(values, dtype=counted).cast(kind)) == expected


def test_a_refused_row_is_shown() -> None:
    frame = pl.DataFrame({"n": [1, 2, 3, 4], "at": FAR_TIMES})
    assert [json.loads(row)["at"] for row in rows_as_json(frame)] == [
        "-290308-12-21 19:59:05.224192", None, "1970-01-01 00:00:00", "+294247-01-10 04:00:54.775807",
    ]  # fmt: skip


def test_json_records_hold_them() -> None:
    frame = pl.DataFrame({"at": FAR_TIMES, "row": pl.DataFrame({"x": FAR_TIMES}).to_struct()})
    first, *_, last = (json.loads(line) for line in JsonEncoder({}, dict(frame.schema)).encode(frame))
    assert first == {"at": "-290308-12-21 19:59:05.224192", "row": {"x": "-290308-12-21 19:59:05.224192"}}
    assert last == {"at": "+294247-01-10 04:00:54.775807", "row": {"x": "+294247-01-10 04:00:54.775807"}}
