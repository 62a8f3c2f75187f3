"""Lists, sets and dicts that are attributes of a bolt's class: its tasks in one process share them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel.compiler.catalog import QueryWarning

N = ouzel.schema(n=int)


class Counting(ouzel.BasicBolt):
    """Counts in its class."""

    counts: Counter[int] = Counter()  # noqa: RUF012

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        self.counts.update(frame["n"])
        return []


class CountingOne(ouzel.BasicBolt):
    """By an item, as most do."""

    seen: dict[int, int] = {}  # noqa: RUF012

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        for n in frame["n"]:
            self.seen[abs(n) % 3] += len(frame) * 2
        return []


class Deleting(ouzel.BasicBolt):
    """Takes out of what is not empty."""

    left: dict[int, int] = {1: 2}  # noqa: RUF012

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        del self.left[frame["n"][0]]
        return []


class Grouping(ouzel.BasicBolt):
    """Changes what is in it, and by the name of the class."""

    groups: defaultdict[int, list[int]] = defaultdict(list)  # noqa: RUF012
    last: deque[int] = deque()  # noqa: RUF012

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        for n in frame["n"]:
            self.groups[n % 2].append(n)
            Grouping.last.append(n)
        return []


class Begun(Counting):
    """Its tasks begin with one of their own."""

    def open(self, context: ouzel.Context) -> None:
        self.begin()

    def begin(self) -> None:
        self.counts = Counter()


class Made(Counting):
    """Each object has its own."""

    def __init__(self) -> None:
        self.counts = Counter()


class Reading(ouzel.BasicBolt):
    """Reads what its class has, and changes what is its own."""

    names: dict[int, str] = {1: "one"}  # noqa: RUF012
    places: list[int] = [0, 1]  # noqa: RUF012
    CACHE: dict[int, int] = {}  # noqa: RUF012

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        found: dict[Any, Any] = {}
        found[self.names[1]] = 1
        found["names"] = self.names
        found[tuple(self.places)] = [one for one in self.places if one in self.names]
        del found["names"]
        self.CACHE[1] = 1
        return []


def build(bolt: ouzel.Bolt) -> None:
    ouzel.TopologyBuilder("t").set_bolt("b", bolt, N)


@pytest.mark.parametrize(
    ("bolt", "told"),
    [
        (Counting, {"counts": "Counter()"}),
        (CountingOne, {"seen": "dict()"}),
        (Deleting, {"left": "Deleting.left.copy()"}),
        (Grouping, {"groups": "defaultdict(list)", "last": "deque()"}),
    ],
)
def test_what_a_bolt_changes_of_its_class_is_warned_of(bolt: type[ouzel.Bolt], told: dict[str, str]) -> None:
    with pytest.warns(QueryWarning) as caught:
        build(bolt())
    assert [str(one.message) for one in caught] == [
        f"'b' keeps {bolt.__name__}.{name}, an attribute of the class, which all its tasks in one process share; "
        f"make it in open: self.{name} = {made}"
        for name, made in told.items()
    ]
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bolt", [Begun, Made, Reading])
def test_what_each_task_has_of_its_own_is_right(bolt: type[ouzel.Bolt]) -> None:
    build(bolt())


def test_a_spout_is_warned_of_too() -> None:
    class Given(ouzel.RowSpout):
        fields = ("n",)
        given: list[int] = []  # noqa: RUF012

        def next_row(self) -> Any:
            return (self.given.pop(),) if self.given else None

    with pytest.warns(QueryWarning, match=r"'n' keeps Given\.given, "):
        ouzel.TopologyBuilder("t").set_spout("n", Given(), N)
