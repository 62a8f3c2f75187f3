"""What the user's Python functions give: what a column cannot hold refuses its row, and never becomes another value."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import polars as pl
import pytest

import ouzel
from ouzel.compiler.functions.kernel import evaluate
from ouzel.compiler.functions.python import call_columns, call_rows, column_of
from ouzel.compiler.functions.registry import Lowered
from ouzel.errors import OuzelError

NUMBERS, BYTES = pl.List(pl.Int64()), b"ab"


@pytest.mark.parametrize("value", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), pl.Series([1, 2]), None])
def test_what_is_in_order_is_an_array(value: Any) -> None:
    assert column_of("x", [value], NUMBERS).to_list() == [None if value is None else [1, 2]]


@pytest.mark.parametrize("value", [{1: 2}, BYTES, {1, 2}, "12"])
def test_what_is_no_array_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="is no List"):
        column_of("x", [[1], value], NUMBERS)


def test_a_number_too_large_for_a_float_is_refused_and_infinity_is_not() -> None:
    assert column_of("x", [math.inf, -math.inf, 0.5, math.nan], pl.Float32()).to_list()[:3] == [
        math.inf,
        -math.inf,
        0.5,
    ]
    for value in (1e300, -1e300, 10**40):
        with pytest.raises(OverflowError, match="too large"):
            column_of("x", [math.inf, value], pl.Float32())


def test_a_row_whose_value_does_not_fit_is_refused_and_no_other() -> None:
    values: dict[int, Any] = {1: [1], 2: {1: 2}, 3: None, 4: b"x"}

    @ouzel.function(("BIGINT",), "ARRAY<BIGINT>", by_row=True)
    def looked_up(number: int) -> Any:
        return values[number]

    call = looked_up.kernel([Lowered(pl.col("n"))], looked_up.signature)
    out, failed = evaluate(pl.DataFrame({"n": [1, 2, 3, 4, 5]}), [("x", call)])
    assert failed is not None
    assert failed.to_list() == [False, True, False, True, True]
    assert out["x"].to_list() == [[1], None, None, None, None]


HOUR = timezone(timedelta(hours=1))


class Unwritten:
    """It has no text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("kind", "value", "held"),
    [
        ("MAP<VARCHAR, BIGINT>", {"a": 1}, [{"key": "a", "value": 1}]),
        ("MAP<VARCHAR, BIGINT>", {}, []),
        ("MAP<VARCHAR, BIGINT>", {None: 1}, None),
        ("MAP<VARCHAR, BIGINT>", {1: 1}, None),
        ("MAP<VARCHAR, BIGINT>", {"a": "1"}, None),
        ("ROW<a BIGINT>", {"a": 1}, {"a": 1}),
        ("ROW<a BIGINT>", {"b": 1}, None),
        ("ROW<a BIGINT>", {"a": "1"}, None),
        ("ARRAY<BIGINT>", np.array([1, 2]), [1, 2]),
        ("DATE", date(2020, 1, 1), date(2020, 1, 1)),
        ("DATE", datetime(2020, 1, 1, 5), None),
        ("TIMESTAMP", datetime(2020, 1, 1, tzinfo=HOUR), None),
        ("ARRAY<BIGINT>", Unwritten(), None),
        ("BIGINT", "x" * 1_000_000, None),
    ],
)
def test_what_is_not_of_the_declared_type_refuses_its_row_whatever_stands_beside_it(
    kind: str, value: Any, held: Any
) -> None:
    @ouzel.function(("BIGINT",), kind, by_row=True)
    def given(number: int) -> Any:
        return value if number else None

    for numbers in ([1], [0, 1], [1, 0]):
        out, failed = evaluate(
            pl.DataFrame({"n": numbers}), [("x", given.kernel([Lowered(pl.col("n"))], given.signature))]
        )
        refused = [False] * len(numbers) if failed is None else failed.to_list()
        assert refused == [bool(number) and held is None for number in numbers]
        assert out["x"].to_list() == [held if number else None for number in numbers]
        (said,) = call_rows(lambda number: value, out["x"].dtype, [pl.Series([1])]).struct.field("failed")
        assert said is None or len(said) < 400


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        (pl.Int64(), [1.0, 2.0], ""),
        (pl.Int64(), [1.5, 2.0], "1.5 would be cut to 1"),
        (pl.Date(), [datetime(2020, 1, 1, 5)] * 2, "2020-01-01 05:00:00 would be cut to 2020-01-01"),
        (pl.Int32(), [2**40, 0], "a series of Int64 that is none of Int32"),
        (pl.Float32(), [0.1, 0.2], ""),
    ],
)
def test_a_series_is_cast_where_that_cuts_nothing(kind: pl.DataType, values: list[Any], said: str) -> None:
    def column(numbers: pl.Series) -> pl.Series:
        numbers.extend(numbers)
        return pl.Series(values)

    if not said:
        assert call_columns(column, kind, [pl.Series([1, 2])]).dtype == kind
        return
    with pytest.raises(OuzelError, match=f"column gave .*{said}"):
        call_columns(column, kind, [pl.Series([1, 2])])
