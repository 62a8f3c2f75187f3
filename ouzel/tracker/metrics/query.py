"""Heron's query language over metrics: a text becomes a tree, and the tree becomes series (see docs/ui.md for the rules)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from lark import Lark, Token, Transformer, UnexpectedInput
from lark.exceptions import VisitError

from ouzel.errors import QueryError
from ouzel.tracker.metrics.series import Minutes, MinuteValues, Series, univariate

CHARACTERS_MAX = 10_000
"""Most characters in a query."""

DEPTH_MAX = 50
"""Most calls within one another."""

Fetch = Callable[[str, str | None, str, Minutes], Series]
"""Gives the series of a component, of one instance or all (None), of a metric, over these minutes."""


@dataclass(frozen=True)
class TimeSeries:
    """TS(component, instance or *, metric); `instance` is None for all."""

    component: str
    instance: str | None
    metric: str


@dataclass(frozen=True)
class MetricsCall:
    """One of the functions, with what it is called on."""

    function: str
    arguments: tuple[MetricsExpression, ...]


MetricsExpression = TimeSeries | MetricsCall | float


def parse_metrics_query(text: str) -> TimeSeries | MetricsCall:
    """The tree of a query.

    Raises:
        QueryError: it is none.
    """
    if len(text) > CHARACTERS_MAX:
        raise QueryError(f"the query has {len(text):,} characters", instead=f"write at most {CHARACTERS_MAX:,}")
    _refuse_depth(text)
    try:
        tree: MetricsExpression = _Tree().transform(_parser().parse(text))
    except UnexpectedInput as error:
        place = error.get_context(text, 20).strip("\n") if error.pos_in_stream is not None else text
        raise QueryError(
            f"this is no query of metrics, from here on:\n{place}",
            instead="write as in SUM(TS(counts, *, __emit-count/default))",
        ) from None
    except VisitError as error:
        raise error.orig_exc from None
    if isinstance(tree, float):
        raise QueryError("a number alone is no series", instead="write TS(component, *, metric) in it")
    return tree


def evaluate_query(query: TimeSeries | MetricsCall, minutes: Minutes, fetch: Fetch) -> Series:
    """The series of a query.

    Raises:
        QueryError: two series are of different instances.
    """
    if isinstance(query, TimeSeries):
        return fetch(query.component, query.instance, query.metric, minutes)
    match query.function:
        case "RATE":
            return _rate(_series(query.arguments[0], minutes.with_one_before(), fetch))
        case "DEFAULT":
            return _default(_number(query.arguments[0]), _series(query.arguments[1], minutes, fetch))
        case "PERCENTILE":
            rows = _stack(query.arguments[1:], minutes, fetch)
            return univariate(_percentile(_number(query.arguments[0]), rows))
        case "SUM" | "MAX" as function:
            rows = _stack(query.arguments, minutes, fetch)
            return univariate(_sum(rows) if function == "SUM" else _max(rows))
    one, other = (_series(argument, minutes, fetch) for argument in query.arguments)
    return _combine(query.function, one, other)


class _Tree(Transformer[Token, MetricsExpression]):
    """Makes the tree of what was parsed, and checks what functions are called on."""

    def number(self, items: list[Token]) -> float:
        number = float(items[0])
        if not math.isfinite(number):
            raise QueryError(f"{items[0]} is too large", instead="write a smaller number")
        return number

    def ts(self, items: list[Token]) -> TimeSeries:
        component, instance, metric = (str(item).strip() for item in items)
        return TimeSeries(component, None if instance == "*" else instance, metric)

    def call(self, items: list[Token | MetricsExpression | None]) -> MetricsCall:
        function, *arguments = items
        call = MetricsCall(
            str(function), tuple(one for one in arguments if not (one is None or isinstance(one, Token)))
        )
        _check(call)
        return call


def _check(call: MetricsCall) -> None:
    name, given = call.function, call.arguments
    wanted = {"RATE": 1, "DEFAULT": 2, "DIVIDE": 2, "MULTIPLY": 2, "SUBTRACT": 2}.get(name)
    if wanted is not None and len(given) != wanted:
        raise QueryError(f"{name} is called on {len(given)} arguments", instead=f"write {wanted}")
    if wanted is None and len(given) < (2 if name == "PERCENTILE" else 1):
        raise QueryError(
            f"{name} is called on too few arguments",
            instead=f"write {name}({'90, ' if name == 'PERCENTILE' else ''}TS(…))",
        )
    if name == "RATE" and isinstance(given[0], float):
        raise QueryError("RATE is called on a number", instead="write a series in it")
    if name == "DEFAULT" and (not isinstance(given[0], float) or isinstance(given[1], float)):
        raise QueryError("DEFAULT takes a number and a series", instead="write DEFAULT(0, TS(…))")
    if name == "PERCENTILE" and not (isinstance(given[0], float) and 0 <= given[0] <= 100):
        raise QueryError("PERCENTILE begins with a number from 0 to 100", instead="write PERCENTILE(90, TS(…))")
    if name == "DIVIDE" and given[1] == 0.0:
        raise QueryError("DIVIDE by 0 has no result", instead="write another number, or a series")
    if name in ("DIVIDE", "MULTIPLY", "SUBTRACT", "SUM", "MAX", "PERCENTILE") and all(
        isinstance(one, float) for one in given
    ):
        raise QueryError(f"{name} is called on numbers alone", instead="write a series in it")


def _refuse_depth(text: str) -> None:
    depth = most = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        most = max(most, depth)
    if most > DEPTH_MAX:
        raise QueryError(f"the query has {most} calls within one another", instead=f"write at most {DEPTH_MAX}")


@cache
def _parser() -> Lark:
    return Lark((Path(__file__).with_suffix(".lark")).read_text(), parser="lalr", maybe_placeholders=False)


def _number(expression: MetricsExpression) -> float:
    assert isinstance(expression, float)
    return expression


def _series(expression: MetricsExpression, minutes: Minutes, fetch: Fetch) -> Series:
    """A number is a univariate series that has it in every minute."""
    if isinstance(expression, float):
        return univariate(np.full(minutes.count, expression))
    return evaluate_query(expression, minutes, fetch)


def _stack(expressions: Iterable[MetricsExpression], minutes: Minutes, fetch: Fetch) -> MinuteValues:
    """All series of all arguments, a row each."""
    rows = [_series(one, minutes, fetch).values for one in expressions]
    return np.concatenate([np.empty((0, minutes.count)), *rows])


def _sum(rows: MinuteValues) -> MinuteValues:
    return np.where(_is_empty(rows), np.nan, np.nansum(rows, axis=0))


def _max(rows: MinuteValues) -> MinuteValues:
    filled = np.where(np.isnan(rows), -np.inf, rows)
    return np.where(_is_empty(rows), np.nan, filled.max(axis=0, initial=-np.inf))


def _percentile(share: float, rows: MinuteValues) -> MinuteValues:
    """Of n values the one at int(share (n - 1) / 100), counted from the least."""
    if not len(rows):
        return np.full(rows.shape[1], np.nan)
    counts = (~np.isnan(rows)).sum(axis=0)
    places = (share * np.maximum(counts - 1, 0) / 100.0).astype(np.int64)
    ordered = np.sort(rows, axis=0)  # NaN comes last
    chosen: MinuteValues = np.take_along_axis(ordered, places.reshape(1, -1), axis=0)[0]
    return chosen


def _is_empty(rows: MinuteValues) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isnan(rows).all(axis=0))


def _default(number: float, series: Series) -> Series:
    return Series(series.instances, np.where(np.isnan(series.values), number, series.values))


def _rate(series: Series) -> Series:
    """What has come since the minute before, of minutes that both have a value."""
    return Series(series.instances, np.diff(series.values, axis=1))


def _combine(function: str, one: Series, other: Series) -> Series:
    """Row by row; a univariate series goes with every row of the other."""
    if one.is_univariate or other.is_univariate:
        instances = other.instances if one.is_univariate else one.instances
        return Series(instances, _compute(function, one.values, other.values))
    if set(one.instances) != set(other.instances):
        strangers = sorted(str(name) for name in set(one.instances) ^ set(other.instances))
        raise QueryError(
            f"{function} is called on series of different instances: only one has {', '.join(strangers)}",
            instead="write series of the same instances, or SUM(…) around one of them",
        )
    order = [other.instances.index(name) for name in one.instances]
    return Series(one.instances, _compute(function, one.values, other.values[order]))


def _compute(function: str, one: MinuteValues, other: MinuteValues) -> MinuteValues:
    match function:
        case "MULTIPLY":
            return one * other
        case "SUBTRACT":
            return one - other
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(other == 0, np.nan, one / other)
