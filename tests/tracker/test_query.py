"""Heron's query language: what each function gives, held to a naive model that computes point by point, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import QueryError
from ouzel.tracker.metrics.query import MetricsCall, MetricsExpression, TimeSeries, evaluate_query, parse_metrics_query
from ouzel.tracker.metrics.series import Minutes, Series

MINUTES = Minutes(600, 5)
Points = dict[int, float]
Model = dict[str | None, Points]
"""The naive form of a series: by instance, value by minute."""

values = st.integers(-5, 5).map(float)
points = st.dictionaries(st.sampled_from([540, *MINUTES.stamps]), values)


@dataclass(frozen=True)
class Data:
    """What is known of two components whose instances are alike."""

    components: dict[str, Model]

    def fetch(self, component: str, instance: str | None, _metric: str, minutes: Minutes) -> Series:
        """As History.series."""
        known = {
            name: row
            for name, row in self.components[component].items()
            if instance in (None, name) and row.keys() & set(minutes.stamps)
        }
        rows = [[row.get(stamp, np.nan) for stamp in minutes.stamps] for row in known.values()]
        return Series(tuple(known), np.array(rows).reshape(len(rows), minutes.count))


data = st.fixed_dictionaries(
    {name: st.fixed_dictionaries({"i1": points, "i2": points, "i3": points}) for name in ("a", "b")}
).map(Data)

leaves = st.builds(TimeSeries, st.sampled_from("ab"), st.sampled_from([None, "i1"]), st.just("__emit-count/default"))


def calls(inner: st.SearchStrategy[MetricsExpression]) -> st.SearchStrategy[MetricsExpression]:
    """Calls whose arguments are these."""
    numbers = st.integers(1, 4).map(float)
    operands = st.one_of(inner, numbers)
    pair = st.one_of(st.tuples(inner, operands), st.tuples(operands, inner))
    return st.one_of(
        st.builds(MetricsCall, st.sampled_from(["DIVIDE", "MULTIPLY", "SUBTRACT"]), pair),
        st.builds(
            lambda name, one, more: MetricsCall(name, (one, *more)),
            st.sampled_from(["SUM", "MAX"]),
            inner,
            st.lists(operands, max_size=2),
        ),
        st.builds(
            lambda q, one, more: MetricsCall("PERCENTILE", (q, one, *more)),
            st.integers(0, 100).map(float),
            inner,
            st.lists(operands, max_size=2),
        ),
        st.builds(lambda number, one: MetricsCall("DEFAULT", (number, one)), numbers, inner),
        st.builds(lambda one: MetricsCall("RATE", (one,)), inner),
    )


queries = st.recursive(leaves, calls, max_leaves=5)


class Differ(Exception):
    """The model's word for series of different instances."""


def model(query: MetricsExpression, stamps: list[int], known: Data) -> Model:
    """What a query gives, point by point."""
    match query:
        case float():
            return {None: dict.fromkeys(stamps, query)}
        case TimeSeries(component, instance, _):
            rows = {n: {t: v for t, v in row.items() if t in stamps} for n, row in known.components[component].items()}
            return {name: row for name, row in rows.items() if row and instance in (None, name)}
        case MetricsCall("RATE", (one,)):
            rows = model(one, [stamps[0] - 60, *stamps], known)
            return {
                n: {t: row[t] - row[t - 60] for t in stamps if t in row and t - 60 in row} for n, row in rows.items()
            }
        case MetricsCall("DEFAULT", (float(number), one)):
            return {n: {t: row.get(t, number) for t in stamps} for n, row in model(one, stamps, known).items()}
        case MetricsCall("SUM" | "MAX" | "PERCENTILE" as name, arguments):
            share, rest = (arguments[0], arguments[1:]) if name == "PERCENTILE" else (0.0, arguments)
            rows = [row for one in rest for row in model(one, stamps, known).values()]
            assert isinstance(share, float)
            return {
                None: {t: fold(name, share, found) for t in stamps if (found := [row[t] for row in rows if t in row])}
            }
        case MetricsCall(name, (one, other)):
            return combine(name, model(one, stamps, known), model(other, stamps, known))
    raise AssertionError(query)


def fold(name: str, share: float, found: list[float]) -> float:
    """One point of SUM, MAX or PERCENTILE."""
    ordered = sorted(found)
    return (
        sum(found) if name == "SUM" else ordered[-1] if name == "MAX" else ordered[int(share * (len(found) - 1) / 100)]
    )


def combine(name: str, one: Model, other: Model) -> Model:
    """Arithmetic on two series."""
    if one.keys() == {None}:
        return {n: arithmetic(name, one[None], row) for n, row in other.items()}
    if other.keys() == {None}:
        return {n: arithmetic(name, row, other[None]) for n, row in one.items()}
    if one.keys() != other.keys():
        raise Differ
    return {n: arithmetic(name, row, other[n]) for n, row in one.items()}


def arithmetic(name: str, one: Points, other: Points) -> Points:
    """Arithmetic on two rows: both must have the point, and nothing is divided by zero."""
    found = {t for t in one.keys() & other.keys() if name != "DIVIDE" or other[t] != 0}
    compute = {"DIVIDE": lambda a, b: a / b, "MULTIPLY": lambda a, b: a * b, "SUBTRACT": lambda a, b: a - b}[name]
    return {t: compute(one[t], other[t]) for t in found}


def text_of(query: MetricsExpression) -> str:
    """A query as users write it."""
    match query:
        case float():
            return f"{query:g}"
        case TimeSeries(component, instance, metric):
            return f"TS({component}, {instance or '*'}, {metric})"
        case MetricsCall(name, arguments):
            return f"{name}( {', '.join(map(text_of, arguments))})"
    raise AssertionError(query)


@given(queries, data)
def test_every_query_gives_what_a_naive_model_gives(query: MetricsCall | TimeSeries, known: Data) -> None:
    parsed = parse_metrics_query(text_of(query))
    assert parsed == query
    try:
        expected = model(query, MINUTES.stamps, known)
    except Differ:
        with pytest.raises(QueryError, match="different instances"):
            evaluate_query(parsed, MINUTES, known.fetch)
        return
    series = evaluate_query(parsed, MINUTES, known.fetch)
    assert series.instances == tuple(expected)
    for name, row in zip(series.instances, series.values, strict=True):
        found = {stamp: value for stamp, value in zip(MINUTES.stamps, row, strict=True) if not np.isnan(value)}
        assert found == pytest.approx(expected[name])


ROWS = Data({"a": {"i1": {600: 1.0, 660: 4.0}, "i2": {600: 3.0}}, "b": {"i1": {600: 2.0}, "i9": {600: 1.0}}})


def told(text: str) -> list[tuple[str | None, list[float | None]]]:
    """The answer to a query over ROWS."""
    series = evaluate_query(parse_metrics_query(text), Minutes(600, 2), ROWS.fetch)
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in series.values]
    return list(zip(series.instances, rows, strict=True))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("TS(a, *, m)", [("i1", [1.0, 4.0]), ("i2", [3.0, None])]),
        ("((TS(a, i2, m)))", [("i2", [3.0, None])]),
        ("SUM(TS(a, *, m))", [(None, [4.0, 4.0])]),
        ("SUM(TS(a, i2, m), 10)", [(None, [13.0, 10.0])]),
        ("MAX(TS(a, *, m), 2)", [(None, [3.0, 4.0])]),
        ("PERCENTILE(50, TS(a, *, m))", [(None, [1.0, 4.0])]),
        ("DEFAULT(0, TS(a, i2, m))", [("i2", [3.0, 0.0])]),
        ("DIVIDE(1, TS(a, *, m))", [("i1", [1.0, 0.25]), ("i2", [pytest.approx(1 / 3), None])]),
        ("MULTIPLY(TS(a, *, m), SUM(TS(b, *, m)))", [("i1", [3.0, None]), ("i2", [9.0, None])]),
        ("RATE(TS(a, i1, m))", [("i1", [None, 3.0])]),
    ],
)
def test_a_query_gives(text: str, answer: list[object]) -> None:
    assert told(text) == answer


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SUBTRACT(TS(a, *, m), TS(b, *, m))", "only one has i2, i9"),
        ("", "no query of metrics"),
        ("TS(a, *)", "no query of metrics"),
        ("SUM(TS(a, *, m)", "no query of metrics"),
        ("AVG(TS(a, *, m))", "no query of metrics"),
        ("7", "a number alone"),
        ("SUM(1, 2)", "numbers alone"),
        ("DIVIDE(TS(a, *, m), 0)", "by 0"),
        ("DIVIDE(TS(a, *, m))", "1 arguments"),
        ("PERCENTILE(101, TS(a, *, m))", "0 to 100"),
        ("PERCENTILE(TS(a, *, m), 50)", "0 to 100"),
        ("RATE(3)", "on a number"),
        ("DEFAULT(TS(a, *, m), 3)", "a number and a series"),
        ("SUM(" * 60 + "TS(a, *, m)" + ")" * 60, "within one another"),
        ("SUM(TS(a, *, m), 1e999)", "too large"),
    ],
)
def test_what_is_no_query_is_refused(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        told(text)
