"""Programs that are wrong and would run in silence: a step that nothing takes, chance behind a sum, a table that never comes, late rows."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from random import randint
from typing import Any, NamedTuple

import pytest

from ouzel import Source, Stream, monoid
from ouzel.compiler.catalog import QueryWarning


class Event(NamedTuple):
    """When and how much."""

    at: datetime
    amount: int


def totals() -> Stream[Any]:
    return Source.of([("a", 1), ("a", 2)]).sum_by_key(monoid.Sum())


def told(program: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    return [str(one.message) for one in caught if issubclass(one.category, QueryWarning)]


def dropping() -> None:
    numbers = Source.of([1, 2, 3])
    numbers.filter(lambda n: n > 1)


def taking() -> list[int]:
    numbers = Source.of([1, 2, 3])
    large = numbers.filter(lambda n: n > 1)
    return large.merge(numbers).memory()


def test_a_step_that_nothing_takes_is_warned_of() -> None:
    assert told(dropping) == [
        "filter gives a new stream and leaves this one as it is, and nothing takes it; write stream = stream.filter(…)"
    ]
    assert not told(taking)


@pytest.mark.parametrize(
    ("function", "asked"),
    [
        (lambda pair: (pair[0], random.random()), "random.random"),
        (lambda pair: (pair[0], randint(0, 9)), "random.randint"),
        (lambda pair: (pair[0], datetime.now()), "datetime.now"),
        (lambda pair: (pair[0], time.time()), "time.time"),
    ],
)
def test_chance_and_the_clock_behind_a_sum_are_warned_of(function: Callable[[Any], Any], asked: str) -> None:
    (text,) = told(lambda: totals().map(function))
    assert (
        f" asks {asked}, and gives another record each time: behind a sum it is called for the former total again"
        in text
    )


def test_chance_before_a_sum_and_what_is_the_same_each_time_are_not() -> None:
    assert not told(lambda: Source.of([1]).map(lambda n: (n, random.random())))
    assert not told(
        lambda: totals().map(lambda pair: (pair[0], datetime(2026, 1, 1), time.strftime("%Y", time.gmtime(0))))
    )


def never(*_: object) -> None:
    raise RuntimeError("started")


def test_a_table_without_an_end_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.session.start", never)
    endless = Source.datagen("numbers", int)
    with (
        pytest.warns(QueryWarning, match=r"and numbers never ends; write start\(\) or changes\(\)"),
        pytest.raises(RuntimeError, match="started"),
    ):
        endless.table("memory")


def sums(delay: timedelta) -> Stream[Any]:
    times = [datetime(2026, 1, 1) + timedelta(seconds=number * 7919 % 20_000) for number in range(3_000)]
    events = Source.of([Event(at, 1) for at in times]).event_time("at", delay)
    return events.map(lambda event: ("all", event.amount)).sum_by_window(monoid.Sum(), timedelta(minutes=1))


def test_late_rows_of_a_table_are_warned_of_where_nobody_has_said_how_late_they_come() -> None:
    (text,) = told(lambda: sums(timedelta(0)).table("memory", batch_rows=100))
    assert (
        " of 3,000 rows came behind the newest time before them, and with no delay they are in no window; write event_time("
        in text
    )
    assert not told(lambda: sums(timedelta(hours=6)).table("memory", batch_rows=100))
    assert not told(lambda: sums(timedelta(seconds=1)).table("memory", batch_rows=100))
