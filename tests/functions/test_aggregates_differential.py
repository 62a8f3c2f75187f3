"""Every aggregate of the registry, on every type that it takes, gives what Spark gives; rows that were taken back leave no trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.functions.aggregate_function import AggregateFunction, CallOrder, ValueOrder
from ouzel.compiler.functions.aggregates import AGGREGATES, resolve_aggregate
from ouzel.compiler.functions.approximate import APPROXIMATE
from ouzel.compiler.functions.gathering import GATHERING
from ouzel.compiler.functions.statistics import STATISTICS
from ouzel.compiler.plan import WEIGHT, Aggregate, AggregateCall
from ouzel.compiler.plan.aggregates import is_combinable, is_distinct
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    MapType,
    RowType,
)
from ouzel.errors import QueryError
from ouzel.spark.lowering.aggregates import spark_aggregate
from tests.functions.registry_cases import TYPES, column, table
from tests.law.compare import difference, plain_fold
from tests.operators import nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEY, SOMETIMES, NEVER, ALL = "k", "sometimes", "never", "all"
GROUPS, ALL_NULL = 7, 6
TOTALS = ("sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "kurtosis")
TAME = 10**6
"""Totals are of values within this: one that leaves its type fails a whole query of Spark."""

CALLS_AT_ONCE, ROWS_AT_ONCE = 24, 40
KINDS: dict[str, DataType] = {f"v{number}": kind for number, kind in enumerate(TYPES)} | {
    f"t{number}": kind for number, kind in enumerate(TYPES) if isinstance(kind, IntegerType | FloatType | DecimalType)
}
PAIRS: dict[str, DataType] = {
    "numbers": RowType((("f0", DOUBLE), ("f1", DOUBLE))),
    "ordered": RowType((("f0", BIGINT), ("f1", VARCHAR))),
    "keyed": RowType((("f0", BIGINT), ("f1", VARCHAR))),
    "kept": RowType((("f0", VARCHAR),)),
}
"""What an aggregate of several values is of: pairs of numbers; what is ordered by and a value; a value that may be NULL."""

FEW: dict[str, DataType] = {"whole": BIGINT, "float": DOUBLE, "text": VARCHAR, "day": DATE}
"""What is gathered as it is whatever its type is tried of these."""

COLUMNS: dict[str, DataType] = {KEY: BIGINT, SOMETIMES: BOOLEAN, NEVER: BOOLEAN, **KINDS, **PAIRS, **FEW}
OF_PAIRS = tuple(function.name for function in STATISTICS if function.call.values == 2)

PLAIN, MIXED = (ValueOrder(),), (ValueOrder(True, False), ValueOrder())
DESCENDING, ASCENDING = (ValueOrder(True, True), ValueOrder(True, True)), (ValueOrder(), ValueOrder())


def _without_sign(value: pl.Expr, kind: DataType) -> pl.Expr:
    return pl.when(value == 0).then(0.0).otherwise(value) if kind == DOUBLE else value


@cache
def rows() -> pl.DataFrame:
    """A column of each type (`v`, and `t` of tame numbers): NULLs, extremes, NaN; one key has nothing but NULLs."""
    key = pl.int_range(pl.len(), dtype=pl.Int64) % GROUPS
    values = []
    for name, kind in KINDS.items():
        value = pl.col(column(kind, 0).name)
        special = ~value.is_finite() if isinstance(kind, FloatType) else pl.lit(False)
        tame = value.is_between(-TAME, TAME) | special
        kept = (key != ALL_NULL) & tame if name.startswith("t") else key != ALL_NULL
        values.append(pl.when(kept).then(value).alias(name))
    values += [
        pl.when(key != ALL_NULL).then(_without_sign(pl.col(column(kind, 1).name), kind)).alias(name)
        for name, kind in FEW.items()
    ]
    text, number, first, second = (
        pl.when(key != ALL_NULL).then(pl.col(column(kind, place).name))
        for kind, place in ((VARCHAR, 2), (BIGINT, 2), (DOUBLE, 2), (DOUBLE, 3))
    )
    both = (first.abs() < TAME) & (second.abs() < TAME)
    values += [
        pl.when(both).then(pl.struct(f0=first, f1=second)).alias("numbers"),
        pl.when(text.is_not_null()).then(pl.struct(f0=number % 5, f1=text)).alias("ordered"),
        pl.when(number.is_not_null()).then(pl.struct(f0=number % 5, f1=text)).alias("keyed"),
        pl.struct(f0=text).alias("kept"),
    ]
    conditions = (pl.col(column(BOOLEAN, 1).name).alias(SOMETIMES), pl.lit(False).alias(NEVER))
    return table(seed=11).select(key.alias(KEY), *conditions, *values)


def calls() -> Iterator[AggregateCall]:
    """A call of every aggregate on every type that it takes as it is: plain, DISTINCT, with a FILTER that takes some rows, and none."""
    yield from _spelled("count", None)
    for function in AGGREGATES:
        if function in (*GATHERING, *STATISTICS, *APPROXIMATE):
            yield from _several(function)
            continue
        for name, kind in KINDS.items():
            if name.startswith("t") == (function.name in TOTALS) and _takes(function.name, kind):
                yield from _spelled(function.name, name)


def _several(function: AggregateFunction) -> Iterator[AggregateCall]:
    """Calls of an aggregate of several values, or of values in an order."""
    constants = {"separator": "; ", "fraction": 0.3}
    given = tuple(constants.get(constant.name, constant.default) for constant in function.call.constants)
    if function.call.values == 2:
        made = _spelled(function.name, "numbers" if function.name in OF_PAIRS else "keyed")
        refused = function.call.distinct and function.spark.distinct is function.spark.sql_distinct is None
        yield from (call for call in made if not (call.distinct and refused))
        return
    if function.call.order in (CallOrder.VALUES, CallOrder.NEEDED):
        for way, orders in {"mixed": MIXED, "down": DESCENDING, "up": ASCENDING}.items():
            (made, *_) = _spelled(function.name, "ordered", VARCHAR)
            yield replace(made, name=f"{made.name}_{way}", parameters=(orders, *given))
    if function.call.order is CallOrder.NEEDED:
        return
    if not function.call.needed:
        yield from (replace(made, parameters=(PLAIN,)) for made in _spelled(function.name, "kept", VARCHAR))
        return
    parameters = () if function.call.order is CallOrder.NONE else (PLAIN, *given)
    if not function.call.distinct:  # what it makes of each type matters
        every = [name for name, kind in KINDS.items() if name.startswith("v") and _takes(function.name, kind)]
        yield from (replace(next(_spelled(function.name, name)), parameters=given) for name in every)
        return
    tame = {f"t{TYPES.index(DOUBLE)}": DOUBLE} if function.name in TOTALS else FEW
    for name, kind in tame.items():
        if _takes(function.name, kind):
            yield from (replace(made, parameters=parameters) for made in _spelled(function.name, name))
            (made, *_) = _spelled(function.name, name)
            if function.call.order is CallOrder.VALUE:
                yield replace(made, name=f"{made.name}_down", parameters=((ValueOrder(True, True),), *given))


def _takes(name: str, kind: DataType) -> bool:
    try:
        return resolve_aggregate(name, kind).parameter == kind
    except QueryError:
        return False


def _spelled(function: str, argument: str | None, kind: DataType | None = None) -> Iterator[AggregateCall]:
    kind = kind or (COLUMNS[argument] if argument else None)
    made = AggregateCall(f"{function}_{argument}", function, argument, resolve_aggregate(function, kind).result)
    for condition in (None, SOMETIMES, NEVER):
        yield replace(made, name=f"{made.name}_{condition}", filter=condition)
        if argument and not isinstance(kind, MapType):
            yield replace(made, name=f"{made.name}_{condition}_distinct", filter=condition, distinct=True)


CALLS = list(calls())
CHUNKS = [CALLS[start : start + CALLS_AT_ONCE] for start in range(0, len(CALLS), CALLS_AT_ONCE)]


def answer(made: Sequence[nodes.Node], frame: pl.DataFrame) -> pl.DataFrame:
    """What the changes add up to when the rows come in pieces."""
    chain = nodes.chain(*made)
    pieces = [chain.process(frame[start : start + ROWS_AT_ONCE]) for start in range(0, frame.height, ROWS_AT_ONCE)]
    pieces += chain.finish()
    assert not chain.take_refused()
    return plain_fold([piece for piece in pieces if piece is not None], list(made[-1].schema.names))


def weighted(frame: pl.DataFrame, weight: int) -> pl.DataFrame:
    """The rows with a weight each."""
    return frame.with_columns(pl.lit(weight, pl.Int64).alias(WEIGHT))


def ways(
    chunk: Sequence[AggregateCall], keys: Sequence[str]
) -> Iterator[tuple[str, Sequence[nodes.Node], pl.DataFrame]]:
    """The ways to come to the same answer: at once, in two steps, and with rows that come and go."""
    node = nodes.group(nodes.table(**COLUMNS), keys, *chunk)
    yield "rows", (node,), rows()
    short = replace(node, calls=tuple(call for call in chunk if not is_distinct(call)))
    assert is_combinable(short)
    yield "partial aggregates", nodes.split(short), rows()
    # one key in three of these goes on existing, and its values are others; the keys from 100 on are gone altogether
    guests = rows().with_columns(pl.when(pl.col(KEY) < 3).then(KEY).otherwise(pl.col(KEY) + 100)).reverse()
    told = [weighted(guests, 1), weighted(rows(), 1), weighted(guests, -1)]
    yield "rows that come and go", (nodes.group(nodes.table(True, **COLUMNS), keys, *chunk),), pl.concat(told)


@pytest.fixture(scope="module")
def in_spark(spark: SparkSession) -> DataFrame:
    """The rows in Spark."""
    from pyspark.sql import functions as F

    frame = spark.createDataFrame(rows().to_arrow(compat_level=pl.CompatLevel.oldest())).coalesce(1)
    for name, kind in KINDS.items():
        if kind == TIMESTAMP:  # Spark takes Arrow's for a TIMESTAMP_LTZ
            frame = frame.withColumn(name, F.col(name).cast("timestamp_ntz"))
        elif isinstance(kind, MapType):
            frame = frame.withColumn(name, F.map_from_entries(name))
    return frame.cache()


@pytest.mark.spark
@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: f"{chunk[0].name}-{chunk[-1].name}")
def test_every_aggregate_answers_as_spark(in_spark: DataFrame, chunk: list[AggregateCall]) -> None:
    """Of groups and of all rows, which Spark answers by one job."""
    from pyspark.sql import functions as F

    asked = [eval(spark_aggregate(call), {"F": F}) for call in chunk]
    both = in_spark.groupingSets([[KEY], []], KEY).agg(*asked, F.grouping_id().alias(ALL))
    expected = pl.DataFrame(pl.from_arrow(both.toArrow()))
    problems = []
    for keys, spark_says in (((KEY,), expected.filter(pl.col(ALL) == 0)), ((), expected.filter(pl.col(ALL) == 1))):
        for way, made, frame in ways(chunk, keys):
            mine = answer(made, frame)
            for call in made[-1].calls if isinstance(made[-1], Aggregate) else made[-1].aggregate.calls:
                told = difference(spark_says.select(*keys, call.name), mine.select(*keys, call.name))
                problems += [f"{call} of {way} by {keys}: {told}"] if told else []
    assert not problems, "\n".join(problems)


@pytest.mark.spark
@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: f"{chunk[0].name}-{chunk[-1].name}")
def test_every_aggregate_of_nothing_answers_as_spark(in_spark: DataFrame, chunk: list[AggregateCall]) -> None:
    from pyspark.sql import functions as F

    asked = [eval(spark_aggregate(call), {"F": F}) for call in chunk]
    expected = pl.DataFrame(pl.from_arrow(in_spark.where(F.lit(False)).agg(*asked).toArrow()))
    for retracting in (False, True):
        node = nodes.group(nodes.table(retracting, **COLUMNS), (), *chunk)
        frame = pl.concat([weighted(rows(), 1), weighted(rows(), -1)]) if retracting else rows().head(0)
        assert not difference(expected, answer((node,), frame))


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: f"{chunk[0].name}-{chunk[-1].name}")
def test_whatever_was_taken_back_leaves_what_is_computed_anew(chunk: list[AggregateCall]) -> None:
    """At every step of rows that come and go, what has been said is what the rows that are there give."""
    changing = nodes.chain(nodes.group(nodes.table(True, **COLUMNS), [KEY], *chunk))
    anew = nodes.group(nodes.table(**COLUMNS), [KEY], *chunk)
    said: list[pl.DataFrame] = []
    for step in range(3):
        batch = rows()[step * ROWS_AT_ONCE : (step + 1) * ROWS_AT_ONCE]
        gone = rows()[(step - 1) * ROWS_AT_ONCE : (step - 1) * ROWS_AT_ONCE + ROWS_AT_ONCE // 2] if step else batch[:0]
        out = changing.process(pl.concat([weighted(batch, 1), weighted(gone, -1)]))
        said += [] if out is None else [out]
        there = [rows()[at * ROWS_AT_ONCE + ROWS_AT_ONCE // 2 : (at + 1) * ROWS_AT_ONCE] for at in range(step)]
        problem = difference(answer((anew,), pl.concat([*there, batch])), plain_fold(said, list(anew.schema.names)))
        assert not problem, f"after step {step}: {problem}"


def test_every_aggregate_has_a_case() -> None:
    assert {call.function for call in calls()} == {function.name for function in AGGREGATES}
