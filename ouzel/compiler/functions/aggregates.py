"""The registry of aggregates: what GROUP BY may call, its result, the state that an operator keeps for it, and its Spark form.

Types and results are those of Spark 4 in ANSI mode. Every aggregate is a commutative monoid over its accumulators, so partial results
merge in any order; COUNT, SUM and AVG are groups too, so they take rows back. MIN, MAX and DISTINCT keep their values where rows can
be taken back.

SUM and AVG of integers and decimals are exact whatever the order: the total is kept in digits of 32 bits and looked at only when it is
emitted. A total that its type cannot hold refuses the row of that group, where Spark fails the query (Spark may also fail on a sum that
only passes the bound on its way). SUM and AVG of floating point carry the rounding error along (Neumaier, "Rundungsfehleranalyse",
ZAMM 54, 1974), so the order hardly shows; infinities and NaN are counted apart, so that they can be taken back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from ouzel.compiler.functions.approximate import APPROXIMATE
from ouzel.compiler.functions.gathering import GATHERING, has_value_order
from ouzel.compiler.functions.statistics import STATISTICS
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    VARCHAR,
    BooleanType,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    NullType,
)
from ouzel.errors import QueryError

LIMB_BITS = 32
"""Totals of integers and decimals are kept in digits of so many bits, each in an Int64, lowest first."""


@dataclass(frozen=True)
class AggregateSignature:
    """What one call resolves to: canonical name, the type its argument is cast to (None for COUNT(*)), and its result."""

    name: str
    parameter: DataType | None
    result: DataType


def _sum(kind: DataType) -> tuple[DataType, DataType] | None:
    match kind:
        case NullType():
            return DOUBLE, DOUBLE
        case IntegerType():
            return kind, BIGINT
        case FloatType():
            return kind, DOUBLE
        case DecimalType(precision, scale):
            return kind, DecimalType(min(38, precision + 10), scale)
    return None


def _average(kind: DataType) -> tuple[DataType, DataType] | None:
    match kind:
        case NullType():
            return DOUBLE, DOUBLE
        case IntegerType() | FloatType():
            return kind, DOUBLE
        case DecimalType(precision, scale):
            return kind, DecimalType(min(38, precision + 4), min(38, scale + 4))
    return None


def _extreme(kind: DataType) -> tuple[DataType, DataType] | None:
    if isinstance(kind, NullType):
        return DOUBLE, DOUBLE
    return (kind, kind) if has_value_order(kind) else None


def _boolean(result: DataType) -> Callable[[DataType], tuple[DataType, DataType] | None]:
    return lambda kind: (BOOLEAN, result) if isinstance(kind, BooleanType | NullType) else None


def _count_state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    return (("count", BIGINT, False),)


def _total_state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    count: Columns = (("count", BIGINT, False),)
    if isinstance(argument, FloatType):
        special = ("nan", "infinity", "minus_infinity") if changes else ()
        return (("sum", DOUBLE, False), ("error", DOUBLE, False), *((name, BIGINT, False) for name in special), *count)
    assert argument is not None
    return (*((f"limb{number}", BIGINT, False) for number in range(limbs(argument))), *count)


def _extreme_state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    return (("value", result, True),)


def _bits(kind: DataType) -> tuple[DataType, DataType] | None:
    if isinstance(kind, NullType):
        return BIGINT, BIGINT
    return (kind, kind) if isinstance(kind, IntegerType) else None


def limbs(kind: DataType) -> int:
    """The number of LIMB_BITS digits that the total of values of `kind` is kept in."""
    return 4 if isinstance(kind, DecimalType) and kind.precision > 18 else 2


def _itself(value: str) -> str:
    return value


def _counting(
    name: str, resolve: AggregateTypeRule, variant: str, words: tuple[str, str, str], spark: SparkForm
) -> AggregateFunction:
    """An aggregate that counts."""
    state = GroupState(_count_state, "count", variant, takes_back=True, merges_changes=True)
    return AggregateFunction(name, resolve, *words, state, spark, counts=True)


def _total(
    name: str, resolve: AggregateTypeRule, variant: str, doc: str, spark: SparkForm, aliases: tuple[str, ...] = ()
) -> AggregateFunction:
    """An aggregate that keeps a total and the number of values."""
    state = GroupState(_total_state, "total", variant, takes_back=True, merges_changes=True)
    usage = f"{name.upper()}(value)"
    return AggregateFunction(name, resolve, "a number", doc, usage, state, spark, counts=False, aliases=aliases)


def _best(
    name: str, resolve: AggregateTypeRule, variant: str, words: tuple[str, str, str], aliases: tuple[str, ...] = ()
) -> AggregateFunction:
    """An aggregate that is one of its values, so that DISTINCT makes no difference."""
    return AggregateFunction(
        name, resolve, *words, GroupState(_extreme_state, "extreme", variant, takes_back=True),
        SparkForm(by_spark(name), alone=_itself), counts=False, aliases=aliases, call=CallForm(distinct=False),
    )  # fmt: skip


def _around_mean(name: str, doc: str, aliases: tuple[str, ...] = ()) -> AggregateFunction:
    """An aggregate of the squares of distances from the mean."""
    columns = (("count", BIGINT, False), ("mean", DOUBLE, False), ("spread", DOUBLE, False))
    state = GroupState(lambda argument, result, changes: columns, "moments", takes_back=True)
    return AggregateFunction(
        name, number_to_double, "a number", doc, f"{name.upper()}(value)", state, SparkForm(by_spark(name)), counts=False, aliases=aliases
    )  # fmt: skip


def _of_bits(name: str, doc: str, distinct: bool) -> AggregateFunction:
    """An aggregate of the bits of whole numbers."""
    columns = (("bits", BIGINT, False), ("count", BIGINT, False))
    state = GroupState(lambda argument, result, changes: columns, "bits", takes_back=True)
    return AggregateFunction(
        name, _bits, "a whole number", doc, f"{name.upper()}(value)", state, SparkForm(by_spark(name)),
        counts=False, call=CallForm(distinct=distinct),
    )  # fmt: skip


_ORDERED_WORDS = "a value that has an order, no MAP and no interval of months"
_LEAST = (_ORDERED_WORDS, "the least value; NaN is the largest number", "MIN(value)")
_LARGEST = (_ORDERED_WORDS, "the largest value; NaN is the largest number", "MAX(value)")
_ALL = ("a BOOLEAN", "whether all values are TRUE", "BOOL_AND(condition)")
_ANY = ("a BOOLEAN", "whether any value is TRUE", "BOOL_OR(condition)")
_ROWS = ("any type", "rows, or those whose value is not NULL", "COUNT(*), COUNT(value)")
_TRUE = ("a BOOLEAN", "rows where the condition is TRUE", "COUNT_IF(condition)")

_COUNT = SparkForm(
    by_spark("count"), by_spark("count_distinct"), lambda value: f"count(DISTINCT {value})", lambda value: f"{value} IS NOT NULL"
)  # fmt: skip
_SUM = SparkForm(by_spark("sum"), by_spark("sum_distinct"), lambda value: f"sum(DISTINCT {value})", _itself)
_AVERAGE, _COUNT_IF = (SparkForm(by_spark(name), alone=_itself) for name in ("avg", "count_if"))

AGGREGATES: tuple[AggregateFunction, ...] = (
    _counting("count", lambda kind: (kind, BIGINT), "rows", _ROWS, _COUNT),
    _total("sum", _sum, "total", "the total; NULL of no values", _SUM),
    _total("avg", _average, "mean", "the mean; NULL of no values", _AVERAGE, ("mean",)),
    _best("min", _extreme, "least", _LEAST, ("any_value",)),
    _best("max", _extreme, "largest", _LARGEST),
    _best("bool_and", _boolean(BOOLEAN), "least", _ALL, ("every",)),
    _best("bool_or", _boolean(BOOLEAN), "largest", _ANY, ("some", "any")),
    _around_mean("var_pop", "the mean of squared distances from the mean; NULL of no values"),
    _around_mean(
        "var_samp", "the same, divided by one less than there are values; NULL of less than two", ("variance",)
    ),
    _around_mean("stddev_pop", "the square root of VAR_POP"),
    _around_mean("stddev_samp", "the square root of VAR_SAMP", ("stddev",)),
    _of_bits("bit_and", "the bits that all values have; NULL of no values", distinct=False),
    _of_bits("bit_or", "the bits that any value has; NULL of no values", distinct=False),
    _of_bits("bit_xor", "the bits that an odd number of values have; NULL of no values", distinct=True),
    _counting("count_if", _boolean(BIGINT), "true", _TRUE, _COUNT_IF),
    *GATHERING,
    *STATISTICS,
    *APPROXIMATE,
)
"""All aggregates, in the order of the documentation."""

_BY_NAME = {name: function for function in AGGREGATES for name in (function.name, *function.aliases)}


def aggregate_names() -> tuple[str, ...]:
    """All names of aggregates."""
    return tuple(_BY_NAME)


def find_aggregate(name: str) -> AggregateFunction | None:
    """The registry's aggregate of this name or alias, in any case."""
    return _BY_NAME.get(name.lower())


def can_aggregate(function: AggregateFunction, argument: DataType) -> bool:
    """Whether the aggregate takes a value of this type."""
    return function.resolve(argument) is not None


def resolve_aggregate(
    name: str, argument: DataType | None, function: AggregateFunction | None = None
) -> AggregateSignature:
    """The signature of a call of `name` on a value of type `argument`; None for `name(*)`. `function` is the user's, if it is theirs.

    Raises:
        QueryError: there is no such aggregate, or it does not take this type.
    """
    function = function or find_aggregate(name)
    if function is None:
        raise QueryError(
            f"there is no aggregate {name.upper()}", instead=f"write one of {', '.join(sorted(_BY_NAME)).upper()}"
        )
    if argument is None:
        if function.variant != "rows":
            raise QueryError(f"{name.upper()} takes no *", instead=f"write {function.usage}")
        return AggregateSignature(function.name, None, BIGINT)
    resolved = function.resolve(argument)
    if resolved is None:
        advice = f"write {function.usage} of such a value"
        if function.resolve(VARCHAR) is not None and function.takes == "VARCHAR":
            advice = f"write {function.usage} of CAST(value AS VARCHAR)"
        raise QueryError(f"{name.upper()} takes {function.takes}, not {argument}", instead=advice)
    return AggregateSignature(function.name, *resolved)
