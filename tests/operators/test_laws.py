"""Any split into batches, any order of retractions: the changelog adds up to what Polars' own group_by says of the whole."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT, Aggregate, Emit, EmitRule
from ouzel.compiler.plan.aggregates import is_combinable
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    TIMESTAMP,
    VARCHAR,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
)
from tests.effort import examples
from tests.operators.nodes import CHANGES, FINAL, call, chain, folded, group, split, table

COLUMNS: dict[str, DataType] = {
    "i": BIGINT, "t": IntegerType(8), "f": DOUBLE, "g": FloatType(32), "d": DecimalType(9, 2), "w": DecimalType(30, 4),
    "s": VARCHAR, "y": BYTES, "b": BOOLEAN, "day": DATE, "at": TIMESTAMP,
}  # fmt: skip
NUMERIC = ("i", "t", "f", "g", "d", "w")
floats = st.sampled_from([0.0, -0.0, 1.5, -2.25, 1e10, math.nan, math.inf, -math.inf])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": st.one_of(st.integers(-3, 3), st.integers(-(2**40), 2**40)),
    "t": st.integers(-128, 127),
    "f": floats,
    "g": floats,
    "d": st.integers(-(10**9) + 1, 10**9 - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-2)),
    "w": st.integers(-(10**30) + 1, 10**30 - 1).map(lambda unscaled: Decimal(f"{unscaled}E-4")),
    "s": st.sampled_from(["", "a", "b", "ä", "zz", "Z", "longer than twelve bytes"]),
    "y": st.binary(max_size=3),
    "b": st.booleans(),
    "day": st.dates(date(1960, 1, 1), date(1980, 1, 1)),
    "at": st.datetimes(datetime(1960, 1, 1), datetime(1980, 1, 1)),
}
KEYS = st.sampled_from(["x", "y", "z", None])
rows = st.lists(st.fixed_dictionaries({"k": KEYS, "keep": st.sampled_from([True, True, False, None]), **{
    name: st.one_of(st.none(), values) for name, values in VALUES.items()
}}), min_size=1, max_size=10)  # fmt: skip


def source(retracts: bool) -> Any:
    return table(retracts, k=VARCHAR, keep=BOOLEAN, **COLUMNS)


def calls(node: Any, **options: Any) -> list[Any]:
    made = [call("count", node, None, "rows", **options)] if not options.get("distinct") else []
    for name in COLUMNS:
        made.append(call("count", node, name, **options))
        if not options.get("distinct"):
            made += [call("min", node, name, **options), call("max", node, name, **options)]
        if name in NUMERIC:
            made += [call("sum", node, name, **options), call("avg", node, name, **options)]
    made += [call(function, node, "b", **options) for function in ("bool_and", "bool_or", "count_if")]
    return made


def oracle(frame: pl.DataFrame, node: Aggregate) -> list[tuple[Any, ...]]:
    """Plain Python over the rows of each group."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        groups.setdefault(tuple(plain(row[key]) for key in node.keys), []).append(row)
    with localcontext(prec=100):
        return [(*key, *(value_of(one, members) for one in node.calls)) for key, members in groups.items()]


def value_of(one: Any, members: list[dict[str, Any]]) -> Any:
    if one.filter:
        members = [row for row in members if row[one.filter]]
    values = [row[one.argument] for row in members if row[one.argument] is not None] if one.argument else members
    if one.distinct:
        values = list({("nan" if value != value else value): value for value in values}.values())
    match one.function:
        case "count":
            return len(values)
        case "count_if":
            return sum(values)
    if not values:
        return None
    order = [(value != value, value) for value in values]
    match one.function:
        case "min" | "bool_and":
            return min(order)[1]
        case "max" | "bool_or":
            return max(order)[1]
    if isinstance(values[0], float):
        total = math.nan if {math.inf, -math.inf} <= set(values) or any(map(math.isnan, values)) else math.fsum(values)
        return total if one.function == "sum" else total / len(values)
    total = sum(values)
    if one.function == "sum":
        return total
    if isinstance(total, int):
        return total / len(values)
    return average(total, len(values), one.type.scale)


def average(total: Decimal, count: int, scale: int) -> Decimal:
    unscaled = int(total.scaleb(scale))
    quotient, rest = divmod(abs(unscaled), count)
    return Decimal((quotient + (2 * rest >= count)) * (-1 if unscaled < 0 else 1)).scaleb(-scale)


def plain(value: Any) -> Any:
    """A value that compares: NaN equals NaN, floats by twelve digits."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value + 0.0:.12g}")
    return value


def table_of(rows: Any) -> list[Any]:
    return sorted((tuple(map(plain, row)) for row in rows), key=repr)


def answers(node: Aggregate, frames: list[pl.DataFrame], *nodes: Any) -> list[Any]:
    made = chain(*(nodes or (node,)))
    return said(node, [made.process(frame) for frame in frames] + made.finish())


def said(node: Aggregate, out: list[pl.DataFrame | None]) -> list[Any]:
    """The table that the changes add up to."""
    for frame in out:
        if frame is not None:
            assert dict(list(frame.schema.items())[: len(node.schema)]) == node.schema.polars()
    total = folded(out, list(node.schema.names))
    normal: dict[Any, int] = {}
    for row, weight in total.items():
        key = tuple(map(plain, row))
        normal[key] = normal.get(key, 0) + weight
    assert set(normal.values()) <= {0, 1}
    return sorted((row for row, weight in normal.items() if weight), key=repr)


def cut(data: st.DataObject, frame: pl.DataFrame) -> list[pl.DataFrame]:
    cuts = sorted(data.draw(st.lists(st.integers(0, frame.height), max_size=4)))
    return [frame[start:stop] for start, stop in zip([0, *cuts], [*cuts, frame.height], strict=True)]


@pytest.mark.parametrize("keys", [["k"], [], ["f", "k"], ["s", "day"]], ids=str)
@pytest.mark.parametrize(
    "options", [{}, {"filter": "keep"}, {"distinct": True}, {"distinct": True, "filter": "keep"}], ids=str
)
@settings(max_examples=examples(20), deadline=None)
@given(rows=rows, data=st.data())
def test_any_split_gives_the_same_table(
    keys: list[str], options: dict[str, Any], rows: Any, data: st.DataObject
) -> None:
    node_source = source(retracts=False)
    some = data.draw(st.permutations(calls(node_source, **options)))[:5]
    node = group(node_source, keys, *some, emit=data.draw(st.sampled_from([CHANGES, FINAL, Emit(EmitRule.DELAY, 10)])))
    frame = pl.DataFrame(rows, schema=node_source.schema.polars(), orient="row")
    expected = table_of(oracle(frame.with_columns(pl.col("f") + 0.0), node))
    frames = cut(data, frame)
    assert answers(node, frames) == expected
    if is_combinable(node):
        assert answers(node, frames, *split(node)) == expected


@pytest.mark.parametrize("keys", [["k"], []], ids=str)
@pytest.mark.parametrize("options", [{}, {"filter": "keep"}, {"distinct": True}], ids=str)
@settings(max_examples=examples(20), deadline=None)
@given(rows=rows, noise=rows, data=st.data())
def test_any_order_of_retractions_gives_the_same_table(
    keys: Any, options: Any, rows: Any, noise: Any, data: st.DataObject
) -> None:
    """The noise comes and goes, in any order: even gone before it comes."""
    node_source = source(retracts=True)
    some = data.draw(st.permutations(calls(node_source, **options)))[:5]
    node = group(node_source, keys, *some, emit=data.draw(st.sampled_from([CHANGES, FINAL, Emit(EmitRule.DELAY, 10)])))
    changes = data.draw(
        st.permutations([(row, 1) for row in rows] + [(row, 1) for row in noise] + [(row, -1) for row in noise])
    )
    frame = pl.DataFrame([row for row, _ in changes], schema=node_source.schema.polars(), orient="row")
    expected = table_of(oracle(pl.DataFrame(rows, schema=node_source.schema.polars(), orient="row"), node))
    frame = frame.with_columns(pl.Series(WEIGHT, np.array([weight for _, weight in changes])))
    frames = cut(data, frame)
    assert answers(node, frames) == expected
    if is_combinable(node):
        assert answers(node, frames, *split(node)) == expected


def test_state_of_groups_that_vanish_is_let_go() -> None:
    node_source = source(retracts=True)
    node = group(node_source, ["i"], *calls(node_source), *[call("count", node_source, "s", "ds", distinct=True)])
    operator = chain(node).operators[0]
    for start in range(0, 3_000, 1_000):
        rows = pl.DataFrame({"i": np.arange(start, start + 1_000)}).select(
            pl.col(name) if name == "i" else pl.lit("v" if name == "s" else None, dtype=kind).alias(name)
            for name, kind in node_source.schema.polars().items()
        )
        for weight in (1, -1):
            operator.process(rows.with_columns(pl.lit(weight, pl.Int64).alias(WEIGHT)))
    assert len(operator._groups.table.index) == 0  # type: ignore[attr-defined]
    assert operator._groups.table.index.limit == 1_000  # type: ignore[attr-defined]
