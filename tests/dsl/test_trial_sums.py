"""Monoids of the user's are tried when a sum is written: one that keeps no law is told of with the values that show it."""

from __future__ import annotations

import math
import random
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

import ouzel
from ouzel import Source, monoid
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.types import BIGINT, DataType
from ouzel.monoid.python import InPython


def own(name: str, empty: Any, add: Callable[[Any, Any], Any], result: Any = float, **more: Any) -> monoid.UserDefined:
    return monoid.UserDefined(name, empty, add, result, commutative=True, **more)


class Difference(InPython[int, int, int]):
    """The difference of values."""

    name = "difference"
    zero = 0
    inverse = None

    def prepare(self, value: int | None) -> int:
        return value or 0

    def plus(self, a: int, b: int) -> int:
        return a - b

    def present(self, total: int) -> int:
        return total

    def result_type(self, value_type: DataType) -> DataType:
        return BIGINT


AVG = own("avg2", 0.0, lambda a, b: (a + b) / 2)
WRONG: dict[str, tuple[Any, Sequence[Any], str]] = {
    "a mean of means": (
        AVG, [2.0, 4.0, 6.0],
        "avg2(avg2(2.0, 4.0), 6.0) is 4.5, and avg2(2.0, avg2(4.0, 6.0)) is 3.5; add is given two totals: keep what adds up",
    ),
    "a fold that counts": (
        own("count", 0, lambda a, b: a + 1, int), [7, 8, 9], "count(count(7, 8), 9) is 9, and count(7, count(8, 9)) is 8",
    ),
    "the first value": (
        own("first", "", lambda a, b: a, str), ["x", "y"], "first('x', 'y') is 'x', and first('y', 'x') is 'y'; the order",
    ),
    "an empty total that shows": (
        own("product", 0, lambda a, b: a * b, int), [2, 3], "product(0, 2) is 0, and not 2; the empty total must change nothing",
    ),
    "a class": (Difference(), [5, 3, 1], "plus(plus(5, 3), 1) is 1, and plus(5, plus(3, 1)) is 3"),
    "a part of a tuple": (
        monoid.TupleOf((monoid.Count(), AVG)), [(1, 2.0), (1, 4.0), (1, 6.0)], "avg2(avg2(2.0, 4.0), 6.0) is 4.5",
    ),
    "what is in maps": (
        monoid.MapOf(AVG), [{"a": 2.0}, {"a": 4.0}, {"a": 6.0}], "avg2(avg2(2.0, 4.0), 6.0) is 4.5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_monoid_that_keeps_no_law_is_refused_with_the_values(name: str) -> None:
    adds, values, told = WRONG[name]
    with pytest.raises(ouzel.QueryError, match=re.escape(told)):
        Source.of([("k", value) for value in values]).sum_by_key(adds)


def add_in_place(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    for word, n in b.items():
        a[word] = a.get(word, 0) + n
    return a


@dataclass
class Price:
    currency: str
    amount: float


class Seen:
    """Keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, a: int, b: int) -> int:
        self.calls.append((a, b))
        return a + b


RIGHT: dict[str, tuple[Any, Sequence[tuple[str, Any]]]] = {
    "sums of floats": (own("sum", 0.0, lambda a, b: a + b), [("k", 1e16), ("k", 1.0), ("k", -1e16), ("k", 0.1)]),
    "whole and other numbers": (own("sum", 0, lambda a, b: a + b), [("k", 0.1), ("k", 0.2), ("k", 0.3)]),
    "no number": (own("largest", -math.inf, max), [("k", math.nan), ("k", 1.0), ("k", 2.0)]),
    "what changes its argument": (own("words", {}, add_in_place, dict[str, int]), [("k", {"a": 1}), ("k", {"b": 2})]),
    "a list that is shown in order": (
        own("all", [], lambda a, b: a + b, list[str], lift=lambda value: [value], finish=sorted), [("k", "b"), ("k", "a")],
    ),
    "values that are alike in each key": (
        own("money", ("", 0.0), lambda a, b: (a[0] or b[0], a[1] + b[1]), tuple[str, float]),
        [("eur", ("eur", 1.0)), ("usd", ("usd", 2.0))],
    ),
    "dice": (own("any", 0.0, lambda a, b: random.random()), [("k", 1.0), ("k", 2.0)]),
    "what raises": (own("fails", 0, lambda a, b: a / 0), [("k", 1), ("k", 2)]),
    "records": (
        own("dearest", None, lambda a, b: max(a or b, b or a, key=lambda one: one.amount), Price),
        [("k", Price("eur", 1.0)), ("k", Price("usd", 2.0))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_monoid_that_is_right_but_for_rounding_is_taken(name: str) -> None:
    adds, pairs = RIGHT[name]
    Source.of(list(pairs)).sum_by_key(adds)


def test_a_trial_changes_nothing() -> None:
    seen, values = Seen(), [{"a": 1}, {"b": 2}]
    Source.of([("k", 1), ("k", 2)]).sum_by_key(own("sum", 0, seen, int))
    assert seen.calls == []
    words = own("words", {}, add_in_place, dict[str, int])
    pairs = Source.of([("k", value) for value in values]).sum_by_key(words)
    assert words.empty == {}
    assert values == [{"a": 1}, {"b": 2}]
    assert pairs.memory() == [("k", {"a": 1, "b": 2})]


def test_no_function_is_called_that_was_not_tried_before() -> None:
    """One whose type is said may ask a server."""
    called: list[int] = []

    def pair(n: int) -> tuple[str, float]:
        called.append(n)
        return "k", float(n)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Source.of([2, 4, 6]).map(pair).sum_by_key(AVG)
    assert called == []


def test_what_was_tried_is_tried_with_its_monoid() -> None:
    with pytest.raises(ouzel.QueryError, match="avg2"):
        Source.of([2, 4, 6]).map(lambda n: ("k", float(n))).sum_by_key(AVG)


class Reading(NamedTuple):
    ts: datetime
    value: float


def test_a_monoid_of_windows_is_warned_of() -> None:
    """Only values of one window are added up, and of the first values the windows are not known."""
    given = [Reading(datetime(2026, 4, 1, 0, minute), float(minute)) for minute in (2, 4, 6)]
    pairs = Source.of(given).event_time("ts").map(lambda one: ("k", one.value))
    with pytest.warns(QueryWarning, match=r"sum_by_window adds up by avg2, .* is 4\.5") as told:
        pairs.sum_by_window(AVG, timedelta(hours=1))
    assert told[0].filename == __file__


def test_of_built_in_monoids_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.dsl.trial_sums.LawTrial", None)
    Source.of([("k", 1), ("k", 2)]).sum_by_key(monoid.Reservoir(2))
