"""What a column cannot hold is refused by every engine, and by plain Python: no total becomes NULL, and none is more than 64 bits."""

from __future__ import annotations

import pickle
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from ouzel import Source, Stream, monoid
from ouzel.errors import BadRecord, OuzelError, TopologyError
from ouzel.spark.io.python_steps import total_lists

LARGE = 2**62
DAY = datetime(2026, 1, 2)


def numbers() -> Stream[int]:
    return Source.of([1, 2, 3])


def large(value: Any = LARGE) -> Stream[tuple[str, Any]]:
    return Source.of([("a", value)] * 3)


def timed(many: int = 3) -> Stream[tuple[str, int]]:
    return (
        Source.of([(DAY + timedelta(hours=hour), hour) for hour in range(many)])
        .event_time("key")
        .map(lambda _: ("a", LARGE))
    )


ADDED = monoid.UserDefined("added", 0, int.__add__, int, commutative=True)
TOLD = monoid.UserDefined("told", 0, int.__add__, int, commutative=True, finish=str)
BOTH = monoid.TupleOf((monoid.Sum(), monoid.Sum()))

UNFIT: dict[str, Callable[[], Stream[Any]]] = {
    "a record of the program": lambda: Source.of([2**63]),
    "a function's result": lambda: numbers().map(lambda n: n * LARGE),
    "half of a pair that nobody reads": lambda: numbers().map(lambda n: (n, n * LARGE)).keys(),
    "a value of a key": lambda: numbers().map(lambda n: (n, n)).map_values(lambda n: n * LARGE),
    "what a mapping has": lambda: numbers().collect({1: 2**63}),
    "a Decimal, which a float would round": lambda: numbers().map(lambda n: Decimal("0.1") if n == 3 else 0.5, returns=float),
    "a Decimal inside a list": lambda: numbers().map(lambda n: [Decimal(n)], returns=list[float]),
    "inside a list": lambda: numbers().map(lambda n: [n * LARGE]),
    "before a join": lambda: numbers().map(lambda n: (n, n * LARGE)).left_join(large().swap().map(lambda one: (1, one[1]))),
    "a sum": lambda: large().sum_by_key(monoid.Sum()),
    "a sum of the user's": lambda: large().sum_by_key(ADDED),
    "a total of another type": lambda: large(1).sum_by_key(TOLD),
    "a sum in a tuple": lambda: large((LARGE, 1)).sum_by_key(BOTH),
    "a sum under a key": lambda: large({"x": LARGE}).sum_by_key(monoid.MapOf(monoid.Sum())),
    "a sum of a window": lambda: timed().sum_by_window(monoid.Sum(), timedelta(days=1)),
    "a running sum": lambda: timed().running_sum(monoid.Sum()),
    "a running sum behind the last value": lambda: timed(2).running_sum(monoid.Sum()),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_what_no_column_holds_is_refused_everywhere(name: str) -> None:
    with pytest.raises(TopologyError, match=r"gave what does not fit|leaves \w+"):
        UNFIT[name]().table("memory")
    with pytest.raises(BadRecord, match=r"does not fit \(.*\), the type of what is made at .*test_holding.py:\d+"):
        UNFIT[name]().memory()


@pytest.mark.parametrize(
    "stream",
    [
        numbers().map(lambda n: n * LARGE).map(lambda n: n // LARGE),
        numbers().map(lambda n: n * LARGE).name("large").filter(lambda n: n < LARGE),
        Source.of([("a", LARGE), ("a", LARGE), ("a", -LARGE)]).sum_by_key(monoid.Sum()),
        large().sum_by_key(monoid.Mean()),
    ],
    ids=["between functions", "under a name", "on the way to a total", "no whole number"],
)
def test_what_is_in_no_column_may_be_larger(stream: Stream[Any]) -> None:
    assert sorted(stream.table("memory").rows()) == sorted(
        record if isinstance(record, tuple) else (record,) for record in stream.memory()
    )


@pytest.mark.parametrize(
    ("adds", "kind", "value", "total"),
    [
        (monoid.MapOf(monoid.Sum()), pa.map_(pa.string(), pa.int64()), lambda n: [("x", n)], [("x", 3)]),
        (BOTH, pa.struct({"a": pa.int64(), "b": pa.int64()}), lambda n: {"a": n, "b": 1}, {"a": 3, "b": 3}),
        (ADDED, pa.int64(), int, 3),
    ],
    ids=["a map", "a tuple", "of the user's"],
)
def test_spark_adds_up_in_python_or_ends(adds: Any, kind: pa.DataType, value: Any, total: object) -> None:
    text = b64encode(pickle.dumps(adds)).decode()
    assert total_lists(text, pa.array([[value(1)] * 3], pa.list_(kind))).to_pylist() == [total]
    with pytest.raises(OuzelError, match=r"gave .*13835058055282163712.*, which .*BIGINT.* does not hold"):
        total_lists(text, pa.array([[value(LARGE)] * 3], pa.list_(kind)))
