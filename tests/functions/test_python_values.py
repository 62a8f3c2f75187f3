"""What the user's Python functions give: what a column cannot hold refuses its row, and never becomes another value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import ouzel
from ouzel.compiler.functions.kernel import evaluate
from ouzel.compiler.functions.python import column_of
from ouzel.compiler.functions.registry import Lowered

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
