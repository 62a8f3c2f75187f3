"""Types, refusals and Spark's text of aggregates."""

from __future__ import annotations

import polars as pl
import pytest

from ouzel.compiler.functions.aggregates import AGGREGATES, find_aggregate, resolve_aggregate
from ouzel.compiler.plan import WEIGHT, AggregateCall
from ouzel.compiler.plan.aggregates import accumulator_schema
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    VARCHAR,
    DataType,
    DecimalType,
    MapType,
)  # fmt: skip
from ouzel.errors import NotSupported, QueryError
from ouzel.runtime.operators.keyed.accumulators import Tally
from ouzel.runtime.operators.keyed.makers import accumulates, maker_of
from ouzel.spark.lowering.aggregates import spark_aggregate
from tests.operators.nodes import FINAL, call, chain, group, table


@pytest.mark.parametrize(
    ("name", "argument", "result"),
    [
        ("count", None, BIGINT), ("COUNT", VARCHAR, BIGINT), ("sum", INT, BIGINT), ("sum", FLOAT, DOUBLE),
        ("sum", DecimalType(10, 2), DecimalType(20, 2)), ("sum", DecimalType(38, 2), DecimalType(38, 2)), ("avg", INT, DOUBLE),
        ("avg", DecimalType(10, 2), DecimalType(14, 6)), ("avg", DecimalType(38, 36), DecimalType(38, 38)), ("sum", NULL, DOUBLE),
        ("min", VARCHAR, VARCHAR), ("max", DATE, DATE), ("max", BOOLEAN, BOOLEAN), ("every", BOOLEAN, BOOLEAN), ("min", BYTES, BYTES),
    ],
    ids=str,
)  # fmt: skip
def test_results_are_sparks(name: str, argument: DataType | None, result: DataType) -> None:
    assert resolve_aggregate(name, argument).result == result


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("sum", VARCHAR, "SUM takes a number, not VARCHAR; write SUM(value) of such a value"),
        (
            "max",
            MapType(INT, INT),
            "MAX takes a value that has an order, no MAP and no interval of months, not MAP<INT, INT>",
        ),
        ("every", INT, "EVERY takes a BOOLEAN, not INT"),
        ("sum", None, "SUM takes no *; write SUM(value)"),
        (
            "mediane",
            INT,
            "there is no aggregate MEDIANE; write one of ANY, ANY_VALUE, APPROX_COUNT_DISTINCT, APPROX_DISTINCT,",
        ),
        ("corr", INT, "CORR takes two numbers, not INT"),
        ("histogram", MapType(INT, INT), "HISTOGRAM takes a value that has an order, no MAP, not MAP<INT, INT>"),
    ],
)
def test_refused(name: str, argument: DataType | None, message: str) -> None:
    with pytest.raises(QueryError) as error:
        resolve_aggregate(name, argument)
    assert str(error.value).startswith(message)


def test_every_name_is_known() -> None:
    for function in AGGREGATES:
        assert all(map(find_aggregate, (function.name, function.name.upper(), *function.aliases)))
    assert not find_aggregate("upper")


def test_what_accumulates_every_aggregate_is_found_by_its_name_which_no_two_have() -> None:
    assert all(callable(maker_of(function)) for function in AGGREGATES)
    with pytest.raises(ValueError, match="make_count and Tally both accumulate 'count'"):
        accumulates("count")(Tally)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (AggregateCall("n", "count", None, BIGINT), 'F.count("*").alias("n")'),
        (AggregateCall("n", "count", None, BIGINT, filter="f"), 'F.count_if(F.col("f")).alias("n")'),
        (AggregateCall("total", "sum", "x", BIGINT), 'F.sum("x").alias("total")'),
        (AggregateCall("n", "count", "x", BIGINT, distinct=True), 'F.count_distinct("x").alias("n")'),
        (AggregateCall("m", "min", "x", BIGINT, distinct=True), 'F.min("x").alias("m")'),
        (AggregateCall("m", "avg", "x", DOUBLE, True, "f"), 'F.expr("avg(DISTINCT `x`) FILTER (WHERE `f`)").alias("m")'),
    ],
)  # fmt: skip
def test_spark_text(made: AggregateCall, text: str) -> None:
    assert spark_aggregate(made) == text


@pytest.mark.parametrize(
    ("kind", "value", "result"), [(BIGINT, 2**62, BIGINT), (DecimalType(38, 0), 6 * 10**37, DecimalType(38, 0))]
)
def test_a_total_that_its_type_cannot_hold_refuses_the_group(kind: DataType, value: int, result: DataType) -> None:
    source = table(k=VARCHAR, v=kind)
    made = chain(group(source, ["k"], call("sum", source, "v", "total")))
    frame = pl.DataFrame({"k": ["a", "a", "b"], "v": [value, value, value]}, schema=source.schema.polars())
    out = made.process(frame)
    assert out is not None
    assert out["k"].to_list() == ["b"]
    (refused,) = made.take_refused()
    assert (refused.reason, refused.row) == (f"SUM AS total leaves {result}", '{"k": "a"}')
    back = made.process(pl.DataFrame({"k": ["a"], "v": [-value]}, schema=source.schema.polars()))
    assert back is not None
    assert back["total"].to_list() == [value]


@pytest.mark.parametrize(("name", "reason"), [("total", "SUM AS total leaves BIGINT"), ("$1", "SUM leaves BIGINT")])
def test_a_total_without_keys_that_its_type_cannot_hold_is_refused_until_it_fits(name: str, reason: str) -> None:
    source = table(v=BIGINT)
    made = chain(group(source, [], call("sum", source, "v", name)))
    assert made.process(pl.DataFrame({"v": [2**62, 2**62]})) is None
    (refused,) = made.take_refused()
    assert (refused.reason, refused.row) == (reason, "{}")
    back = made.process(pl.DataFrame({"v": [-(2**62)]}))
    assert back is not None
    assert back[name].to_list() == [2**62]


@pytest.mark.parametrize("emit", [None, FINAL])
def test_without_keys_there_is_one_row_even_of_nothing(emit: object) -> None:
    source = table(v=BIGINT)
    node = group(
        source,
        [],
        call("count", source, None, "n"),
        call("sum", source, "v", "total"),
        **({"emit": emit} if emit else {}),
    )  # type: ignore[arg-type]
    made = chain(node)
    (frame,) = made.finish()
    assert frame.select("n", "total").rows() == [(0, None)]
    kept = [state.snapshot() for state in made.states]
    again = chain(node)
    for state, snapshot in zip(again.states, kept, strict=True):
        state.restore([snapshot])
    assert again.finish() == [], "a task that goes on from behind the end of its input has said it"


def test_nothing_leaves_when_nothing_changes() -> None:
    source = table(k=VARCHAR, v=BIGINT)
    made = chain(group(source, ["k"], call("max", source, "v", "top")))
    assert made.process(pl.DataFrame({"k": ["a"], "v": [5]})) is not None
    assert made.process(pl.DataFrame({"k": ["a"], "v": [4]})) is None


def test_what_has_no_partial_aggregate_says_so() -> None:
    source = table(k=VARCHAR, v=BIGINT)
    with pytest.raises(NotSupported, match="DISTINCT"):
        accumulator_schema(group(source, ["k"], call("count", source, "v", distinct=True)))


def test_calls_of_the_same_values_keep_one_bag() -> None:
    source = table(retracts=True, k=VARCHAR, f=BOOLEAN, x=DOUBLE)
    same = [call(name, source, "x") for name in ("min", "max", "stddev_pop", "var_samp")]
    others = [
        call("max", source, "x", "of_some", filter="f"),
        call("stddev_pop", source, "x", "of_each", distinct=True),
    ]
    made = chain(group(source, ["k"], *same, *others))
    frame = pl.DataFrame({"k": ["a"] * 3, "f": [True, True, False], "x": [1.0, 3.0, 8.0], WEIGHT: [1, 1, 1]})
    made.process(frame)
    (state,) = made.states
    bags = {"values min_x", "values of_some", "values of_each", "distinct of_each"}
    assert state.snapshot().parts.keys() == {"groups", "closed_us", "shown", *bags}
    back = made.process(frame[2:].with_columns(pl.lit(-1, pl.Int64).alias(WEIGHT)))
    assert back is not None
    assert back.rows()[1] == ("a", 1.0, 3.0, 1.0, 2.0, 3.0, 1.0, 1)
