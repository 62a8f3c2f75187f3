"""Aggregates that keep a summary of bounded size of their values, and are right but for a known error.

Both engines give the same, whatever the order and the batches, and rows can be taken back, for what is kept is linear: how many rows there
are in each of few classes of values, and the class is a function of the value alone.

- APPROX_COUNT_DISTINCT is Spark's: HyperLogLog++ over XXH64 (Heule, Nunkesser and Hall, "HyperLogLog in Practice", EDBT 2013). A class is
  a register and the rank that a value's hash has in it; a register shows the largest rank that is there.
- APPROX_PERCENTILE is PERCENTILE_CONT of values rounded to so many binary digits that they are off by no more than the error. The classes
  are those of a DDSketch whose logarithm is linear between powers of two (Masson, Rim and Lee, VLDB 2019), each told by the number in its
  middle, so whole numbers of few digits are exact. A rank error, as of Greenwald and Khanna or KLL, would depend on order or on dice.
"""

from __future__ import annotations

import math

from ouzel.compiler.functions.aggregate_function import (
    AggregateFunction,
    CallForm,
    CallOrder,
    Columns,
    Constant,
    GroupState,
    SparkForm,
    number_to_double,
)
from ouzel.compiler.functions.gathering import Orders, as_column, ascending_fraction
from ouzel.compiler.types import (
    BIGINT,
    DOUBLE,
    INT,
    ArrayType,
    BooleanType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    RowType,
    TimestampType,
    VarcharType,
)

LARGEST_ROUNDED = 2.0**960
"""From here on numbers are kept as they are: what rounds them would overflow."""

_HASHED = (
    BooleanType | BytesType | DateType | DecimalType | FloatType | IntegerType | NullType | TimestampType | VarcharType
)


def register_bits(error: float) -> int:
    """How many bits of a hash say the register, so that the standard error is at most this: as Spark has it."""
    return math.ceil(2 * math.log(1.106 / error) / math.log(2))


def splitter(error: float) -> float:
    """By what a number is multiplied to be split into its first binary digits and the rest (Dekker, Numer. Math. 18, 1971).

    They are so many that half a unit of the last is at most `error` of the number.
    """
    return 2.0 ** (53 - math.ceil(-math.log2(error))) + 1


def _countable(kind: DataType) -> tuple[DataType, DataType] | None:
    days = isinstance(kind, IntervalType) and not kind.months
    return (kind, BIGINT) if days or isinstance(kind, _HASHED) else None


def _state(accumulators: str, kind: DataType) -> GroupState:
    """A partial aggregate has each class, a value of `kind`, with its weight."""
    columns: Columns = (("bag", ArrayType(RowType((("value", kind), ("weight", BIGINT)))), True),)
    return GroupState(lambda argument, result, changes: columns, accumulators, takes_back=True, merges_changes=True)


def _round(value: str, error: float) -> str:
    """The text of a number without the digits that the error allows to leave out."""
    times, whole = splitter(error), as_column(value)
    rounded = f"{whole} * {times} - ({whole} * {times} - {whole})"
    return f"F.when(F.abs({value}) < {LARGEST_ROUNDED}, {rounded}).otherwise({whole})"


def _spark_percentile(value: str, orders: Orders, fraction: float, error: float) -> str:
    return f"F.percentile({_round(value, error)}, {ascending_fraction(orders, fraction)})"


def _spark_percentile_of_distinct(value: str, orders: Orders, fraction: float, error: float) -> str:
    """Values are told apart before they are rounded, as a topology does it."""
    place = f"(F.lit({ascending_fraction(orders, fraction)}) * (F.size(all) - 1))"
    low, high = (_round(f'F.get(all, F.{side}({place}).cast("int"))', error) for side in ("floor", "ceil"))
    between = "lambda at: F.when(at[0] == at[1], at[0]).otherwise((F.ceil(at[2]) - at[2]) * at[0] + (at[2] - F.floor(at[2])) * at[1])"
    inner = f"F.transform(F.array(F.array({low}, {high}, {place})), {between})[0]"
    return f"F.transform(F.array(F.sort_array(F.collect_set({value}))), lambda all: {inner})[0]"


_FRACTION = Constant("fraction", DOUBLE, least=0, most=1)
_RELATIVE = Constant("error", DOUBLE, 0.01, least=0.0001, most=0.25)
_STANDARD = Constant("error", DOUBLE, 0.05, least=0.01, most=0.05)

APPROXIMATE: tuple[AggregateFunction, ...] = (
    AggregateFunction(
        "approx_count_distinct", _countable, "a single value, no ARRAY, MAP, ROW and no interval of months",
        "how many distinct values there are, with a standard error of 0.05, or what is given, down to 0.01",
        "APPROX_COUNT_DISTINCT(value [, error])", _state("approximate distinct count", INT),
        SparkForm(lambda value, error: f"F.approx_count_distinct({value}, {error})"), counts=True,
        aliases=("approx_distinct",), call=CallForm(constants=(_STANDARD,), distinct=False, over=False),
    ),
    AggregateFunction(
        "approx_percentile", number_to_double, "a number",
        "PERCENTILE_CONT of values that are rounded by at most 0.01 of themselves, or what is given; what is kept is bounded",
        "APPROX_PERCENTILE(value, 0.5 [, error])", _state("approximate percentile", DOUBLE),
        SparkForm(_spark_percentile, _spark_percentile_of_distinct), counts=False, aliases=("approx_quantile", "percentile_approx"),
        call=CallForm(order=CallOrder.VALUE, constants=(_FRACTION, _RELATIVE), over=False, keeps_values=True),
    ),
)  # fmt: skip
"""The aggregates of this module, in the order of the documentation."""
