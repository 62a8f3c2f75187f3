"""Laws of the type lattice, on generated types, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.compiler.coercion import adjust_decimal, can_cast, can_coerce, cast_to, common_type
from ouzel.compiler.expressions import Cast, Column, Literal
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    NULL,
    SMALLINT,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    Field,
    MapType,
    RowType,
    Schema,
)  # fmt: skip
from ouzel.dsl.expressions import col, fn, lit

SIMPLE = (
    BOOLEAN,
    TINYINT,
    SMALLINT,
    INT,
    BIGINT,
    FLOAT,
    DOUBLE,
    VARCHAR,
    BYTES,
    DATE,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    INTERVAL,
    NULL,
)
decimals = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: DecimalType(p, s)))
simple = st.one_of(st.sampled_from(SIMPLE), decimals)
types = st.recursive(
    simple,
    lambda inner: st.one_of(
        inner.map(ArrayType), inner.map(lambda kind: RowType((("f", kind),))), inner.map(lambda kind: MapType(VARCHAR, kind))
    ),
)  # fmt: skip


@given(types)
def test_a_type_meets_itself_and_null(kind: DataType) -> None:
    assert common_type(kind, kind) == kind
    assert common_type(NULL, kind) == common_type(kind, NULL) == kind
    assert can_coerce(kind, kind)
    assert can_coerce(NULL, kind)


@given(types, types)
def test_meeting_has_no_direction(a: DataType, b: DataType) -> None:
    assert common_type(a, b) == common_type(b, a)


@given(types, types)
def test_both_may_be_cast_to_where_they_meet(a: DataType, b: DataType) -> None:
    meet = common_type(a, b)
    if meet is not None:
        assert can_cast(a, meet)
        assert can_cast(b, meet)


@given(types, types)
def test_what_converts_unasked_meets_in_the_target_or_a_wider_float(a: DataType, b: DataType) -> None:
    if can_coerce(a, b):
        assert can_cast(a, b)
        assert common_type(a, b) is not None


@given(st.integers(1, 38), st.integers(0, 38), st.integers(0, 40))
def test_a_decimal_result_never_has_more_than_38_digits(precision: int, scale: int, more: int) -> None:
    kind = adjust_decimal(precision + more, min(scale, precision))
    assert 0 <= kind.scale <= kind.precision <= 38


@pytest.mark.parametrize(
    ("a", "b", "meet"),
    [
        (TINYINT, BIGINT, BIGINT), (INT, FLOAT, DOUBLE), (FLOAT, DOUBLE, DOUBLE), (INT, DecimalType(5, 2), DecimalType(12, 2)),
        (BIGINT, DecimalType(38, 10), DecimalType(38, 10)), (DecimalType(38, 0), DecimalType(38, 10), DecimalType(38, 0)),
        (DATE, TIMESTAMP, TIMESTAMP), (TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_LTZ), (INT, VARCHAR, None), (DATE, VARCHAR, None),
        (BOOLEAN, INT, None), (ArrayType(INT), ArrayType(DOUBLE), ArrayType(DOUBLE)), (ArrayType(INT), INT, None),
    ],
)  # fmt: skip
def test_where_types_meet(a: DataType, b: DataType, meet: DataType | None) -> None:
    assert common_type(a, b) == meet


def test_a_literal_is_folded_only_where_that_is_exact() -> None:
    assert cast_to(Literal(INT, 7), BIGINT) == Literal(BIGINT, 7)
    assert cast_to(Literal(INT, 7), DecimalType(12, 2)) == Literal(DecimalType(12, 2), Decimal("7.00"))
    assert cast_to(Literal(NULL, None), DATE) == Literal(DATE, None)
    assert cast_to(Literal(VARCHAR, "7"), INT) == Cast(INT, Literal(VARCHAR, "7"))
    column = Column(INT, "a")
    assert cast_to(column, INT) is column


def test_what_spark_does_not_cast_is_not_cast() -> None:
    assert not can_cast(TIMESTAMP, BIGINT)
    assert can_cast(TIMESTAMP_LTZ, BIGINT)
    assert not can_cast(DATE, INT)
    assert not can_cast(BOOLEAN, DATE)


def test_a_constant_beside_a_decimal_has_the_digits_that_it_is_written_with() -> None:
    schema = Schema((Field("d", DecimalType(38, 18)),))
    made = {
        col("d") * 3: DecimalType(38, 16),
        3 * col("d"): DecimalType(38, 16),
        col("d") * 100: DecimalType(38, 14),
        col("d") * Decimal("1E+3"): DecimalType(38, 13),
        col("d") * Decimal("0.001"): DecimalType(38, 17),
        col("d") * lit(3).cast("BIGINT"): DecimalType(38, 6),
        fn.coalesce(col("d"), 3): DecimalType(38, 18),
        fn.nullif(col("d"), 3): DecimalType(38, 18),
        fn.nullif(3, col("d")): INT,
    }
    assert [one.bind(schema).type for one in made] == list(made.values())
