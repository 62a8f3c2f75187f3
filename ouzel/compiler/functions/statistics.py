"""Statistical aggregates, of numbers and of pairs of numbers."""

from __future__ import annotations

from ouzel.compiler.functions.aggregate_function import (
    AggregateFunction,
    AggregateTypeRule,
    CallForm,
    Columns,
    GroupState,
    SparkForm,
    by_spark,
    number_to_double,
)
from ouzel.compiler.functions.gathering import as_column
from ouzel.compiler.types import (
    BIGINT,
    DOUBLE,
    DataType,
    RowType,
)

PAIR_MOMENTS = ("mean_x", "mean_y", "spread_x", "spread_y", "joint")
SHAPE_MOMENTS = ("mean", "second", "third", "fourth")


_OF_ONE = ("regr_avgx", "regr_avgy", "regr_sxx", "regr_syy")
"""What Spark computes of one of the two, so that DISTINCT would mean values, not pairs."""


def _pair(result: DataType) -> AggregateTypeRule:
    def resolve(kind: DataType) -> tuple[DataType, DataType] | None:
        if not isinstance(kind, RowType) or len(kind.fields) != 2:
            return None
        if not all(number_to_double(part) for _, part in kind.fields):
            return None
        return RowType(tuple((name, DOUBLE) for name, _ in kind.fields)), result

    return resolve


def _columns(names: tuple[str, ...]) -> Columns:
    return (("count", BIGINT, False), *((name, DOUBLE, False) for name in names))


def _of_pairs(name: str, doc: str, result: DataType = DOUBLE) -> AggregateFunction:
    spark = SparkForm(
        lambda value: f'F.{name}({as_column(value)}["f0"], {as_column(value)}["f1"])',
        sql_distinct=None if name in _OF_ONE else lambda value: f"{name}(DISTINCT {value}.f0, {value}.f1)",
    )
    return AggregateFunction(
        name, _pair(result), "two numbers", doc, f"{name.upper()}({'y, x' if name.startswith('regr') else 'x, y'})",
        GroupState(lambda argument, result, changes: _columns(PAIR_MOMENTS), "moments of pairs", takes_back=True),
        spark, counts=name == "regr_count", call=CallForm(values=2, needed=(0, 1)),
    )  # fmt: skip


def _of_shape(name: str, doc: str) -> AggregateFunction:
    state = GroupState(lambda argument, result, changes: _columns(SHAPE_MOMENTS), "moments of shape", takes_back=True)
    usage = f"{name.upper()}(value)"
    return AggregateFunction(
        name, number_to_double, "a number", doc, usage, state, SparkForm(by_spark(name)), counts=False
    )


STATISTICS: tuple[AggregateFunction, ...] = (
    _of_pairs("corr", "how far two numbers go together, from -1 to 1"),
    _of_pairs("covar_pop", "the mean product of the distances of two numbers from their means"),
    _of_pairs("covar_samp", "the same, divided by one less than there are pairs"),
    _of_pairs("regr_count", "pairs of which neither is NULL", BIGINT),
    _of_pairs("regr_avgx", "the mean of the second numbers"),
    _of_pairs("regr_avgy", "the mean of the first numbers"),
    _of_pairs("regr_sxx", "the squared distances of the second numbers from their mean"),
    _of_pairs("regr_syy", "the squared distances of the first numbers from their mean"),
    _of_pairs("regr_sxy", "the products of the distances of both from their means"),
    _of_pairs("regr_slope", "the slope of the line that fits best"),
    _of_pairs("regr_intercept", "where the line that fits best has x = 0"),
    _of_pairs("regr_r2", "how much of y the line explains, from 0 to 1"),
    _of_shape("skewness", "how lopsided the values lie around their mean"),
    _of_shape("kurtosis", "how heavy their tails are; 0 of a normal distribution"),
)
"""The aggregates of this module, in the order of the documentation."""
