"""Functions that change what they are given, end their process or give no number: every engine computes the same, or says so."""

from __future__ import annotations

import pickle
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import ouzel
from ouzel import Source, Stream, col, monoid
from ouzel.errors import BadRecord, TopologyError
from ouzel.spark.io.python_steps import total_lists


@dataclass
class Counter:
    n: int


async def awaits(*given: Any) -> Any:
    return given


async def awaits_each(given: int) -> Any:
    yield given


def yields(given: int) -> Any:
    yield given


class Awaiting:
    async def __call__(self, given: int) -> int:
        return given

    async def get_many(self, keys: Any) -> Any:
        return {}


class AwaitingBolt(ouzel.RowBolt):
    async def handle(self, *row: Any) -> Any:
        return [row]


NEVER_COMPUTED: dict[str, tuple[Callable[[], object], str]] = {
    "a condition": (lambda: Source.of([1]).filter(awaits), r"filter awaits is an `async def`"),
    "a condition that yields": (lambda: Source.of([1]).filter(yields), r"filter yields has a `yield`"),
    "a partial condition": (lambda: Source.of([1]).filter(partial(awaits, 1)), r"an `async def`"),
    "an object that is called": (lambda: Source.of([1]).map(Awaiting(), returns=int), r"an `async def`"),
    "records": (lambda: Source.of([1]).flat_map(awaits_each, returns=int), r"flat_map awaits_each is an `async def`"),
    "a service": (
        lambda: Source.of([(1, 2)]).lookup(Awaiting(), returns=int), r"get_many of Awaiting is an `async def`",
    ),
    "a total": (
        lambda: Source.of([("a", 1)]).sum_by_key(monoid.UserDefined("late", 0, awaits, int, commutative=True)).table("memory"),
        r"add of late is an `async def`",
    ),
    "a function of SQL": (lambda: ouzel.function(("INT",), "INT", by_row=True)(awaits), r"the function awaits is an `async"),
    "a bolt": (lambda: ouzel.TopologyBuilder("t").set_bolt("b", AwaitingBolt()), r"handle of 'b' is an `async def`"),
}  # fmt: skip


@pytest.mark.parametrize("case", NEVER_COMPUTED.values(), ids=NEVER_COMPUTED)
def test_what_a_call_does_not_compute_is_refused_before_anything_runs(case: tuple[Callable[[], object], str]) -> None:
    """A coroutine counts as true: a filter let every record through."""
    write, problem = case
    with pytest.raises(ouzel.QueryError, match=problem):
        write()


def count_up(counter: Counter) -> Counter:
    counter.n += 1
    return counter


def add_in_place(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    for key, value in b.items():
        a[key] = a.get(key, 0) + value
    return a


COUNTED = monoid.UserDefined("counted", {}, add_in_place, dict[str, int], commutative=True)


def counters() -> Stream[Counter]:
    return Source.of([Counter(1), Counter(2)])


CHANGING: dict[str, tuple[Callable[[], Stream[Any]], list[Any]]] = {
    "a record that shows the type": (lambda: counters().map(lambda counter: count_up(counter)), [(2,), (3,)]),
    "a record that another step reads": (lambda: (one := counters()).map(count_up).merge(one), [(1,), (2,), (2,), (3,)]),
    "a record of two steps": (
        lambda: (one := counters().map(count_up)).map(count_up).merge(one.map(count_up)), [(3,), (3,), (4,), (4,)],
    ),
    "the total of no values": (
        lambda: Source.of([("a", {"x": 1}), ("b", {"x": 2}), ("a", {"x": 3})]).sum_by_key(COUNTED).map_values(lambda total: total["x"]),
        [("a", 4), ("b", 2)],
    ),
    "the total of no values under a key": (
        lambda: Source.of([("a", {"k": {"x": 1}, "l": {"x": 2}})]).sum_by_key(monoid.MapOf(COUNTED))
        .map(lambda pair: (pair[1]["k"]["x"], pair[1]["l"]["x"])),
        [(1, 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGING)
def test_a_function_that_changes_what_it_is_given_changes_nothing_else(name: str) -> None:
    make, expected = CHANGING[name]
    stream = make()
    assert sorted(stream.table("memory").rows()) == expected
    for _ in range(2):
        plain = [(one.n,) if isinstance(one, Counter) else one for one in stream.memory()]
        assert sorted(plain) == expected


def test_spark_begins_each_sum_with_an_empty_total_of_its_own() -> None:
    text = b64encode(pickle.dumps(COUNTED)).decode()
    lists = pa.array([[[("x", 1)], [("x", 2)]], [[("x", 3)]]], pa.list_(pa.map_(pa.string(), pa.int64())))
    assert total_lists(text, lists).to_pylist() == [[("x", 3)], [("x", 3)]]


def leave(n: int) -> int:
    if n == 2:
        sys.exit("no more")
    return n


def panic(n: int) -> int:
    if n == 2:
        raise pl.exceptions.PanicException("index out of bounds")
    return n


@pytest.mark.parametrize(("function", "told"), [(leave, "SystemExit: no more"), (panic, "PanicException: index out")])
def test_what_is_no_exception_refuses_its_record_like_one(function: Callable[[int], int], told: str) -> None:
    numbers = Source.of([1, 2, 3]).map(function)
    with pytest.raises(TopologyError, match=rf"map {function.__name__} raised {told}.*test_careless.py"):
        numbers.table("memory")
    assert sorted(numbers.table("memory", error_policy="skip")["value"]) == [1, 3]


def fail(a: object, b: object = None) -> int:
    raise ValueError("no sum")


@pytest.mark.parametrize("part", ["add", "lift", "finish"])
def test_a_monoid_that_raises_is_named_with_its_line(part: str) -> None:
    functions: dict[str, Any] = {"add": int.__add__, part: fail}
    wrong = monoid.UserDefined("wrong", 0, result=int, commutative=True, **functions)
    with pytest.raises(
        TopologyError, match=r"the monoid wrong\w* raised ValueError: no sum \(at .*test_careless.py:\d+\)"
    ):
        Source.of([("a", 1), ("a", 2)]).sum_by_key(wrong).table("memory")


@pytest.mark.parametrize("given", [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")])
@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: [one], lambda one: {"k": one}], ids=["plain", "list", "map"]
)
def test_a_decimal_that_is_no_number_fits_no_column(given: Decimal, wrap: Callable[[Decimal], Any]) -> None:
    stream = Source.of([1, 2]).map(lambda n: wrap(Decimal(n) if n == 1 else given))
    with pytest.raises(TopologyError, match="gave what does not fit"):
        stream.table("memory")
    assert stream.table("memory", error_policy="skip").height == 1
    with pytest.raises(BadRecord, match="does not fit"):
        stream.memory()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_run_in_memory_that_ends_by_no_exception_has_failed(error: type[BaseException]) -> None:
    class Leaving(ouzel.RowSpout):
        fields = ("n",)

        def next_row(self) -> tuple[int]:
            raise error

    builder = ouzel.TopologyBuilder("leaving")
    builder.set_spout("numbers", Leaving(), ouzel.schema(n=int))
    with pytest.raises(TopologyError, match=error.__name__):
        ouzel.table(builder.build(), of="numbers", engine="memory")


def test_what_a_filter_leaves_out_fails_in_no_step_behind_it() -> None:
    """Sums have no FILTER of their own: two conditions are two branches, and neither costs the other a record."""
    numbers = Source.of([0, 1, 2, 0, 5])
    parts = numbers.filter(lambda n: n != 0).map(lambda n: ("parts", 10 // n))
    large = numbers.filter(lambda n: n > 1).map(lambda n: ("large", 10 // n))
    every = numbers.map(lambda n: ("every", 1))
    total = parts.merge(large).merge(every).sum_by_key(monoid.Sum())
    for policy in ("fail", "skip"):
        found = total.table("memory", error_policy=policy)
        assert dict(found.iter_rows()) == {"parts": 17, "large": 7, "every": 5}, policy


def test_what_an_expression_filters_is_not_computed_behind_it() -> None:
    """The rules that move filters and projections leave it before what it guards."""
    counters = Source.of([Counter(n) for n in (0, 1, 2, 0, 5)])
    parts = counters.filter(col("n") != 0).select(part=10 / col("n"), n=col("n"))
    few = parts.filter(col("part") < 10)
    assert sorted(few.table("memory", error_policy="skip")["part"].to_list()) == [2, 5]
    assert sorted(few.table("memory")["n"].to_list()) == [2, 5]
