"""Summingbird's test graphs, each by its name there, with the same shape: what feeds what, and where it is added up, joined and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ouzel import Sink, Source, Stream, monoid

NUMBERS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]
SERVICE = [(number, f"the {number}") for number in range(0, 8, 2)]

Pairs = Stream[tuple[int, int]]


def source(name: str = "numbers") -> Stream[int]:
    """The numbers."""
    return Source.of(NUMBERS, name=name)


def digits(number: int) -> list[tuple[int, int]]:
    """The number as a key, as often as its last digit of three says."""
    return [(number, one) for one in range(number % 3 + 1)]


def others(number: int) -> list[tuple[int, int]]:
    """Half of it as a key."""
    return [(number // 2, number), (number, -number)]


def pairs(name: str = "numbers") -> Pairs:
    """Keys and values."""
    return source(name).flat_map(digits)


def service() -> Stream[tuple[int, str]]:
    """What is looked up: a table at rest."""
    return Source.of(SERVICE, name="service")


def length(both: tuple[int, str | None]) -> int:
    """Of a value and what was found for its key."""
    return both[0] + len(both[1] or "")


sink = Sink.memory
"""Where graphs write; processes share no memory, and need another one."""


def written(stream: Stream[Any], name: str) -> Stream[Any]:
    """The same, and it is written."""
    return stream.write(sink(name))


def as_row(record: Any) -> tuple[Any, ...]:
    """A record as a row."""
    return record if isinstance(record, tuple) else (record,)


def together(*names: str) -> Stream[Any]:
    """Graphs as one program, whose records say which they are of."""
    found: Stream[Any] | None = None
    for name in names:
        told = GRAPHS[name]().map(lambda record, name=name: (name, repr(as_row(record))), returns=tuple[str, str])
        found = told if found is None else found + told
    assert found is not None
    return found


def depends_on_a_store() -> Pairs:
    """A store's totals joined with what it is made of."""
    sums = pairs().sum_by_key(monoid.Sum())
    return pairs().left_join(sums).map_values(lambda both: both[0] + (both[1] or 0), returns=int)


GRAPHS: dict[str, Callable[[], Stream[Any]]] = {
    "single step": lambda: pairs().sum_by_key(monoid.Sum()),
    "single step map keys": lambda: pairs().map_keys(str, returns=str).sum_by_key(monoid.Sum()),
    "map only": lambda: written(source().map(lambda number: number * 2), "mapped"),
    "filter and option map": lambda: source().option_map(lambda n: n if n > 2 else None).filter(lambda n: n != 5),
    "two sums": lambda: pairs().sum_by_key(monoid.Sum()).map(lambda pair: (pair[1] % 3, pair[0])).sum_by_key(monoid.Sum()),
    "diamond": lambda: (
        written(source(), "seen").flat_map(digits) + source().flat_map(others)
    ).sum_by_key(monoid.Sum()),
    "diamond of one": (lambda one=source: (lambda seen: seen.flat_map(digits) + seen.flat_map(others))(one())),
    "merge of two sources": lambda: (pairs() + source("more").flat_map(others)).sum_by_key(monoid.Max()),
    "multiple summers": lambda: (
        pairs().sum_by_key(monoid.Sum()).also(written(source().flat_map(others).sum_by_key(monoid.Sum()), "beside"))
    ),
    "also": lambda: pairs().sum_by_key(monoid.Max()).also(written(source(), "other")),
    "either": lambda: source().either(service()).option_map(lambda both: both[0]),
    "left join": lambda: pairs().left_join(service()).map_values(length).sum_by_key(monoid.Sum()),
    "left join with flat map values": lambda: (
        pairs().left_join(service()).map_values(length).flat_map_values(range, returns=int).sum_by_key(monoid.Sum())
    ),
    "left join with a store": depends_on_a_store,
    "left join with a store, fanned out": lambda: (
        (lambda joined: joined.sum_by_key(monoid.Sum()).also(written(joined.values(), "fan")))(depends_on_a_store())
    ),
    "left join of repeated tuples": lambda: (
        (pairs() + pairs("again")).left_join(service()).map_values(length).sum_by_key(monoid.Sum())
    ),
    "lookup": lambda: source().lookup(service()).map_values(lambda found: len(found or ""), returns=int).sum_by_key(monoid.Sum()),
    "keys, values and swap": lambda: (
        pairs().swap().keys() + pairs().values() + pairs().keys()
    ).map(lambda n: (n, 1)).sum_by_key(monoid.Count()),
    "flat map keys": lambda: pairs().flat_map_keys(lambda key: [key, key + 1], returns=int).sum_by_key(monoid.Sum()),
    "filter keys and values": lambda: (
        pairs().filter_keys(lambda key: key > 1).filter_values(lambda value: value > 0).sum_by_key(monoid.Count())
    ),
    "collect": lambda: source().collect({1: 10, 5: 50}).map(lambda n: (n, 1)).sum_by_key(monoid.Sum()),
    "named": lambda: pairs().name("pairs").sum_by_key(monoid.Sum()).name("sum"),
    "a sum that goes on": lambda: pairs().sum_by_key(monoid.Sum()).map_values(lambda n: n * 10).values(),
}  # fmt: skip
"""By name; where Summingbird asks a service, here is a stream of pairs joined."""
