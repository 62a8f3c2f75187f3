"""Programs whose functions fail on a record, or whose sink takes no changes, each with the whole of what it is told."""

# ruff: noqa: E501  # a message is one line
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ouzel import Sink, Source, Stream, monoid
from tests.dsl.mistakes import Mistake, pairs


@dataclass
class Count:
    """A record whose field is also a method of tuples."""

    court: int
    delay: float | None = None


class Named(NamedTuple):
    """The same as a tuple, which has `count` and `index`."""

    court: int
    delay: float | None = None


def both(form: type) -> Stream[Any]:
    """A record with a delay, and one without."""
    return Source.of([form(1, 2.5), form(2, None)])


def matched() -> Stream[Any]:
    """A pair without a match."""
    return Source.of([("b", 2)]).left_join(Source.of([("a", 3)]))


WRITTEN: Mapping[str, Mistake] = {
    "a field that is misspelt": (
        lambda: both(Named).map(lambda e: e.cout),
        "map lambda e: e.cout raises AttributeError: 'Named' object has no attribute 'cout' on the first records; did you mean court?",
    ),
    "a field that is misspelt of a dataclass": (
        lambda: both(Count).map(lambda e: e.time),
        "map lambda e: e.time raises AttributeError: 'Count' object has no attribute 'time' on the first records; it has court, delay",
    ),
    "None without a match": (
        lambda: matched().map_values(lambda v: v[0] + v[1]),
        "map_values lambda v: v[0] + v[1] raises TypeError: unsupported operand type(s) for +: 'int' and 'NoneType' on the first records; v[1] is None in this record: empty, NULL, or without a match; write filter_values(lambda v: v[1] is not None) before it, or give something else where it is None",
    ),
    "changes into a file": (
        lambda: pairs().sum_by_key(monoid.Sum()).write(Sink.file("out", format="csv")).job(),
        "'out' (file) only takes new records, and these change (at LINE); write them to one that replaces rows by key, Sink.kafka, Sink.postgres or Sink.redis, or give this one changelog='true', which makes each change a record; for the answer at the end call table(), and write_csv of that",
    ),
    "changes without a key": (
        lambda: pairs().sum_by_key(monoid.Sum()).map(lambda pair: pair[1]).write(Sink.kestrel("out", servers="a:1", format="json")).job(),
        "'out' (kestrel) only takes new records, and these change (at LINE); write the pairs of sum_by_key themselves, which have a key, to one that replaces rows by key, Sink.kafka, Sink.postgres or Sink.redis; for the answer at the end call table(), and write_csv of that",
    ),
}  # fmt: skip
"""What is wrong as soon as it is planned."""

_GO_ON = "\nthe setting error_policy='skip' or 'dead-letter' goes on without such records"

RUN: Mapping[str, Mistake] = {
    "None in a condition": (
        lambda: both(Named).filter(lambda e: e.delay > 4.0).table("memory"),
        "bad record at records[1]: filter lambda e: e.delay > 4.0 raised TypeError: '>' not supported between instances of 'NoneType' and 'float' (at LINE): [2, null]\n"
        '  lambda: both(Named).filter(lambda e: e.delay > 4.0).table("memory"),\n'
        "e.delay is None in this record: empty, NULL, or without a match; write filter(lambda e: e.delay is not None and e.delay > 4.0)" + _GO_ON,
    ),
    "None in a condition of two parts": (
        lambda: both(Count).filter(lambda e: e.court == 1 or e.delay > 4.0).table("memory"),
        "bad record at records[1]: filter lambda e: e.court == 1 or e.delay > 4.0 raised TypeError: '>' not supported between instances of 'NoneType' and 'float' (at LINE): {\"court\": 2, \"delay\": null}\n"
        '  lambda: both(Count).filter(lambda e: e.court == 1 or e.delay > 4.0).table("memory"),\n'
        "e.delay is None in this record: empty, NULL, or without a match; write filter(lambda e: e.delay is not None and (e.court == 1 or e.delay > 4.0))" + _GO_ON,
    ),
    "a header that is read as numbers": (
        lambda: Source.of(["id;net amount", "1;2"]).map(lambda line: int(line.split(";")[0]), returns=int).table("memory"),
        "bad record at records[0]: map lambda line: int(line.split(\";\")[0]) raised ValueError: invalid literal for int() with base 10: 'id' (at LINE): \"id;net amount\"\n"
        '  lambda: Source.of(["id;net amount", "1;2"]).map(lambda line: int(line.split(";")[0]), returns=int).table("memory"),\n'
        "it looks like the header of a CSV file, which names its fields; write Source.file(path, Row, format='csv', csv_delimiter=';'), where Row is a dataclass with the fields id, net_amount" + _GO_ON,
    ),
    "a field that is misspelt where a type is said": (
        lambda: both(Named).map(lambda e: e.cout, returns=int).table("memory"),
        "bad record at records[0]: map lambda e: e.cout raised AttributeError: 'Named' object has no attribute 'cout' (at LINE): [1, 2.5]\n"
        '  lambda: both(Named).map(lambda e: e.cout, returns=int).table("memory"),\n'
        "did you mean court?" + _GO_ON,
    ),
}  # fmt: skip
"""What fails on a record."""
