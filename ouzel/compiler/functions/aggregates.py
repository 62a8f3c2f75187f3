"""The registry of aggregates: what GROUP BY may call, what it gives, what an operator keeps for it, and how Spark says it.

Types and results are those of Spark 4 in ANSI mode. Every aggregate is a commutative monoid over its accumulators, so partial results
merge in any order; COUNT, SUM and AVG are groups too, so they take rows back. MIN, MAX and DISTINCT keep their values where rows can
be taken back.

SUM and AVG of integers and decimals are exact whatever the order: the total is kept in digits of 32 bits and looked at only when it is
emitted. A total that its type cannot hold refuses the row of that group, where Spark fails the query (Spark may also fail on a sum that
only passes the bound on its way). SUM and AVG of floating point carry the rounding error along (Neumaier, "Rundungsfehleranalyse",
ZAMM 54, 1974), so the order hardly shows; infinities and NaN are counted apart, so that they can be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from ouzel.compiler.functions.lowering import backticked, column_name, quoted
from ouzel.compiler.plan import Aggregate, AggregateCall
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    BooleanType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    Field,
    FloatType,
    IntegerType,
    IntervalType,
    NullType,
    Schema,
    TimestampType,
    VarcharType,
)
from ouzel.errors import NotSupported, QueryError

Of = TypeVar("Of")

ROWS = "$rows"
"""Name of the column that counts a group's rows in partial aggregates with a window (for late rows) or of a retracting input."""

LIMB_BITS = 32
"""Totals of integers and decimals are kept in digits of so many bits, each in an Int64, lowest first."""


@dataclass(frozen=True)
class AggregateSignature:
    """What one call resolves to: canonical name, the type its argument is cast to (None for COUNT(*)), and its result."""

    name: str
    parameter: DataType | None
    result: DataType


class Keeps(Enum):
    """What an operator keeps of a group's values."""

    COUNT = "how many there are"
    TOTAL = "their total and how many there are"
    EXTREME = "the least or largest"


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate.

    Args:
        name: canonical name, lower case.
        keeps: what an operator keeps for it.
        resolve: argument type -> (parameter, result), or None when it does not take this type.
        takes: the types it takes, in words for the error.
        doc: one line.
        usage: how a call looks.
        aliases: other names SQL may use.
    """

    name: str
    keeps: Keeps
    resolve: Callable[[DataType], tuple[DataType, DataType] | None]
    takes: str
    doc: str
    usage: str
    aliases: tuple[str, ...] = ()


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


_ORDERED = (BooleanType, IntegerType, FloatType, DecimalType, VarcharType, BytesType, DateType, TimestampType)


def _extreme(kind: DataType) -> tuple[DataType, DataType] | None:
    if isinstance(kind, NullType):
        return DOUBLE, DOUBLE
    ordered = isinstance(kind, _ORDERED) or (isinstance(kind, IntervalType) and not kind.months)
    return (kind, kind) if ordered else None


def _boolean(result: DataType) -> Callable[[DataType], tuple[DataType, DataType] | None]:
    return lambda kind: (BOOLEAN, result) if isinstance(kind, BooleanType | NullType) else None


_ORDERED_WORDS = "a number, text, bytes, a boolean, a date, a timestamp or an interval of days"

AGGREGATES: tuple[AggregateFunction, ...] = (
    AggregateFunction(
        "count",
        Keeps.COUNT,
        lambda kind: (kind, BIGINT),
        "any type",
        "rows, or those whose value is not NULL",
        "COUNT(*), COUNT(value)",
    ),
    AggregateFunction("sum", Keeps.TOTAL, _sum, "a number", "the total; NULL of no values", "SUM(value)"),
    AggregateFunction("avg", Keeps.TOTAL, _average, "a number", "the mean; NULL of no values", "AVG(value)", ("mean",)),
    AggregateFunction(
        "min", Keeps.EXTREME, _extreme, _ORDERED_WORDS, "the least value; NaN is the largest number", "MIN(value)"
    ),
    AggregateFunction(
        "max", Keeps.EXTREME, _extreme, _ORDERED_WORDS, "the largest value; NaN is the largest number", "MAX(value)"
    ),
    AggregateFunction(
        "bool_and",
        Keeps.EXTREME,
        _boolean(BOOLEAN),
        "a BOOLEAN",
        "whether all values are TRUE",
        "BOOL_AND(condition)",
        ("every",),
    ),
    AggregateFunction(
        "bool_or",
        Keeps.EXTREME,
        _boolean(BOOLEAN),
        "a BOOLEAN",
        "whether any value is TRUE",
        "BOOL_OR(condition)",
        ("some", "any"),
    ),
    AggregateFunction(
        "count_if",
        Keeps.COUNT,
        _boolean(BIGINT),
        "a BOOLEAN",
        "rows where the condition is TRUE",
        "COUNT_IF(condition)",
    ),
)
"""All aggregates, in the order of the documentation."""

_BY_NAME = {name: function for function in AGGREGATES for name in (function.name, *function.aliases)}


def is_aggregate(name: str) -> bool:
    """Whether SQL's `name`, in any case, is an aggregate."""
    return name.lower() in _BY_NAME


def keeps(function: str) -> Keeps:
    """What an operator keeps for an aggregate."""
    return _BY_NAME[function].keeps


def by_function(call: AggregateCall, table: Mapping[str, Of]) -> Of:
    """What a table says of the call's function.

    Raises:
        NotSupported: nothing, for it is not listed; nothing is computed by default.
    """
    if call.function not in table:
        raise NotSupported(
            f"{call.function.upper()} cannot be computed here", instead=f"write one of {', '.join(table).upper()}"
        )
    return table[call.function]


def resolves(name: str, argument: DataType) -> bool:
    """Whether the aggregate takes a value of this type."""
    return _BY_NAME[name.lower()].resolve(argument) is not None


def resolve_aggregate(name: str, argument: DataType | None) -> AggregateSignature:
    """The signature of a call of `name` on a value of type `argument`; None for `name(*)`.

    Raises:
        QueryError: there is no such aggregate, or it does not take this type.
    """
    function = _BY_NAME.get(name.lower())
    if function is None:
        raise QueryError(
            f"there is no aggregate {name.upper()}", instead=f"write one of {', '.join(sorted(_BY_NAME)).upper()}"
        )
    if argument is None:
        if function.name != "count":
            raise QueryError(f"{name.upper()} takes no *", instead=f"write {function.usage}")
        return AggregateSignature("count", None, BIGINT)
    resolved = function.resolve(argument)
    if resolved is None:
        raise QueryError(
            f"{name.upper()} takes {function.takes}, not {argument}", instead=f"write {function.usage} of such a value"
        )
    return AggregateSignature(function.name, *resolved)


def is_combinable(aggregate: Aggregate) -> bool:
    """Whether partial aggregates may go before its grouping: not with DISTINCT, nor with MIN or MAX of rows that may be taken back."""
    retracting = aggregate.input.retracts
    return not any(is_distinct(call) or (retracting and _is_extreme(call)) for call in aggregate.calls)


def accumulators(call: AggregateCall, argument: DataType | None, retracting: bool) -> tuple[Field, ...]:
    """The columns that a partial aggregate of `call` has, named `<call name>$<accumulator>`.

    `argument` is the type of the call's argument column, None for COUNT(*); `retracting` whether rows can be taken back.
    """
    return tuple(
        Field(f"{call.name}${name}", kind, nullable)
        for name, kind, nullable in _accumulators(call, argument, retracting)
    )


def accumulator_schema(aggregate: Aggregate) -> Schema:
    """What a PartialAggregate of `aggregate` gives: the keys, the group's rows where they matter, each call's accumulators.

    Raises:
        NotSupported: it cannot be combined (see `is_combinable`).
    """
    if not is_combinable(aggregate):
        raise NotSupported("DISTINCT, and MIN or MAX of rows that may be taken back, have no partial aggregate")
    source, retracting = aggregate.input.schema, aggregate.input.retracts
    keys = tuple(source[key] for key in aggregate.keys)
    rows = (Field(ROWS, BIGINT, False),) if counts_rows(aggregate) else ()
    columns = (
        column
        for call in aggregate.calls
        for column in accumulators(call, source[call.argument].type if call.argument else None, retracting)
    )
    return Schema((*keys, *rows, *columns))


def counts_rows(aggregate: Aggregate) -> bool:
    """Whether its partial aggregates carry ROWS: with a window, so that late rows can be counted, and where rows can be taken back."""
    return aggregate.input.retracts or aggregate.window is not None


def limbs(kind: DataType) -> int:
    """How many digits of LIMB_BITS the total of values of `kind` is kept in."""
    return 4 if isinstance(kind, DecimalType) and kind.precision > 18 else 2


def spark_aggregate(call: AggregateCall, values: Mapping[str, str] | None = None) -> str:
    """The PySpark text of a call, with `F` = pyspark.sql.functions in scope, for example `F.sum("x").alias("total")`.

    `values` are columns that are computed in the call itself, by name; `names_columns` must be false then.
    """
    return f"{_spark_call(call, values or {})}.alias({quoted(call.name)})"


def names_columns(call: AggregateCall) -> bool:
    """Whether its text is SQL that names its columns: DISTINCT calls without a function; there FILTER is much faster than WHEN."""
    return is_distinct(call) and (call.function not in ("count", "sum") or call.filter is not None)


def _spark_call(call: AggregateCall, values: Mapping[str, str]) -> str:
    def column(name: str) -> str:
        return values.get(name) or f"F.col({quoted(column_name(name))})"

    if names_columns(call):
        return f"F.expr({quoted(_sql(call))})"
    function = f"{call.function}_distinct" if is_distinct(call) else call.function
    if call.filter and not call.argument and function == "count":
        return f"F.count_if({column(call.filter)})"  # Spark computes its condition below, faster than WHEN
    if call.filter:
        value = column(call.argument) if call.argument else "F.lit(1)"
        return f"F.{function}(F.when({column(call.filter)}, {value}))"
    if call.argument is None or call.argument in values:
        return f"F.{function}({values[call.argument] if call.argument else ALL_ROWS})"
    return f"F.{function}({quoted(column_name(call.argument))})"


ALL_ROWS = '"*"'
"""What COUNT(*) counts, in PySpark."""


def _sql(call: AggregateCall) -> str:
    assert call.argument is not None
    condition = f" FILTER (WHERE {backticked(call.filter)})" if call.filter else ""
    return f"{call.function}(DISTINCT {backticked(call.argument)}){condition}"


def _is_extreme(call: AggregateCall) -> bool:
    return keeps(call.function) is Keeps.EXTREME


def is_distinct(call: AggregateCall) -> bool:
    """Whether DISTINCT makes a difference to the call."""
    return call.distinct and not _is_extreme(call)  # the least of distinct values is the least of all


def _accumulators(call: AggregateCall, argument: DataType | None, retracting: bool) -> list[tuple[str, DataType, bool]]:
    count: tuple[str, DataType, bool] = ("count", BIGINT, False)
    if _is_extreme(call):
        return [("value", call.type, True)]
    if keeps(call.function) is Keeps.COUNT:
        return [count]
    if isinstance(argument, FloatType):
        special = ("nan", "infinity", "minus_infinity") if retracting else ()
        return [("sum", DOUBLE, False), ("error", DOUBLE, False), *((name, BIGINT, False) for name in special), count]
    assert argument is not None
    return [*((f"limb{number}", BIGINT, False) for number in range(limbs(argument))), count]
