"""Programs whose functions fail on a record, or whose sink takes no changes, each with the whole of what it is told."""

# ruff: noqa: E501  # a message is one line
from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ouzel import Sink, Source, Stream, col, monoid
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


class Misspelt(NamedTuple):
    """A field that JSON spells otherwise."""

    nmae: str


class Texts(NamedTuple):
    """A time as a text."""

    at: str


class Numbered(NamedTuple):
    """A time as a number."""

    ms: int


AIRLINES_JSON = str(Path(tempfile.gettempdir()) / f"airlines-{os.getpid()}.jsonl")
"""A file of one record, which is there while tests run."""

Path(AIRLINES_JSON).write_text('{"carrier": "UA", "name": "United"}\n')
atexit.register(Path(AIRLINES_JSON).unlink, missing_ok=True)


def change(record: Any) -> Any:
    """Changes what it is given."""
    record.court = 3
    return record


def both(form: type) -> Stream[Any]:
    """A record with a delay, and one without."""
    return Source.of([form(1, 2.5), form(2, None)])


def matched() -> Stream[Any]:
    """A pair without a match."""
    return Source.of([("b", 2)]).left_join(Source.of([("a", 3)]))


def joined() -> Stream[Any]:
    """A pair of a key, and of a record and a number."""
    return both(Count).map(lambda one: (one.court, one)).join(Source.of([(1, 2)]))


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
    "None that comes of a field that JSON has not": (
        lambda: Source.file(AIRLINES_JSON, Misspelt, format="json").map(lambda one: (one.nmae, 1)),
        f"map lambda one: (one.nmae, 1) reads a source that gives None (at LINE): no record of {AIRLINES_JSON} that was looked at has a field nmae; its fields are carrier, name; did you mean name?",
    ),
    "a field of a part of a pair": (
        lambda: joined().map(lambda p: p[1].court),
        "map lambda p: p[1].court raises AttributeError: 'tuple' object has no attribute 'court' on the first records; it is a tuple, of which [0] has court",
    ),
    "a name of a pair": (
        lambda: pairs().sum_by_key(monoid.Sum()).map(lambda p: p.value),
        "map lambda p: p.value raises AttributeError: 'tuple' object has no attribute 'value' on the first records; a pair is a tuple: [0] is its key, and [1] its value",
    ),
    "a third of a pair": (
        lambda: joined().map(lambda p: p[2]),
        "map lambda p: p[2] raises IndexError: tuple index out of range on the first records; the record has [0] to [1], and [1] is a tuple again, [1][0] to [1][1]",
    ),
    "a field that is called": (
        lambda: both(Count).map(lambda e: e.court()),
        "map lambda e: e.court() raises TypeError: 'int' object is not callable on the first records; leave the () out: a field is a value",
    ),
    "a text and a number": (
        lambda: Source.of([("a", 1)]).map(lambda p: p[0] + p[1]),
        'map lambda p: p[0] + p[1] raises TypeError: can only concatenate str (not "int") to str on the first records; write str(…) of the int, or f\'{a}{b}\' of both',
    ),
    "a class for a name": (
        lambda: both(Count).filter(col(5) > 1),
        "a column goes by its name, and 5 is no text; write col('amount')",
    ),
    "a power of a column": (lambda: col("n") ** 2, "write fn.power(col('n'), 2)"),
    "a length of a column": (
        lambda: len(col("n")),
        "n has a length in each record; write fn.char_length(col('n')), or fn.cardinality of an array",
    ),
    "an integer of a column": (lambda: int(col("n")), "n has a value in each record; write col('n').cast(int)"),
    "a rounded column": (lambda: round(col("n"), 2), "write fn.round(col('n'), 2)"),
    "an absolute column": (lambda: abs(col("n")), "write fn.abs(col('n'))"),
    "a part of a column": (
        lambda: col("n")[0],
        "parts of n are of each record; write map(lambda record: …), or sql() with n[1]",
    ),
    "a monoid of a function": (
        lambda: monoid.Reduce(max),
        "there is no monoid Reduce; write monoid.UserDefined(name, empty, add, type), whose add takes two totals",
    ),
    "a sink that is not called": (
        lambda: both(Count).write(Sink.print),
        "write writes to a table, and <the sink print, which is not called> is none; call it with what it writes: Sink.print(), or Sink.file('out.csv', format='csv')",
    ),
    "two sinks at once": (
        lambda: both(Count).write(Sink.print(), Sink.print()),
        "write takes sink: too many positional arguments; call it once for each sink: stream.write(a).write(b)",
    ),
    "a sink with a type": (
        lambda: Sink.file("out", Count, format="csv"),
        f"a sink takes where it writes, and options by their names, not {Count!r:.60}; the records say their type: write file('out', format='csv')",
    ),
    "several paths": (
        lambda: Source.file(["a.csv"], Count, format="csv"),
        "what the connector file reads or writes is one text, and ['a.csv'] is none; write a pattern, file('data/*.csv', …), or merge a source of each",
    ),
    "a type by name": (
        lambda: Source.file("a.csv", format="csv", schema=Count),
        "the type of a source's records is no option, schema=Count; write Source.file('a.csv', Count, …)",
    ),
    "a record for its type": (
        lambda: Source.file("a.csv", Count(1), format="csv"),
        "the type of a source's records is a class, and Count(court=1, delay=None) is a record of it; write Source.file('a.csv', Count, …)",
    ),
    "a socket": (
        lambda: Source.socket("localhost", 9999),
        "there is no connector 'socket'; a socket gives nothing again after a crash, and is no source; write Source.kafka('topic', Row, …), or an ouzel.Spout",
    ),
    "text of an expression": (
        lambda: both(Count).select(twice="court * 2"),
        "select makes columns by expressions, and twice='court * 2' is none; write sql('SELECT court * 2 AS twice FROM this'), or an expression of col('amount')",
    ),
    "streams in a list": (
        lambda: both(Count).merge([both(Count)]),
        "a stream is merged with a stream, and [Stream[Count]] is none; give the streams one by one: merge(*streams)",
    ),
    "how a sink writes": (
        lambda: both(Count).write(Sink.file("out", format="csv", mode="overwrite")),
        "the connector 'file' has no option 'mode'; write path of another folder: a sink adds to what is there",
    ),
    "a console": (
        lambda: both(Count).write(Sink.console()),
        "there is no connector 'console'; write Sink.print()",
    ),
    "records that are none": (
        lambda: both(Count).memory(records=5),
        "memory(records=…) takes the records of a source, a list, and 5 is none; write memory(records=[…])",
    ),
    "a name that is a field": (
        lambda: both(Count).map(lambda one: cuort),  # noqa: F821
        "map lambda one: cuort raises NameError: name 'cuort' is not defined on the first records; did you mean record.court?",
    ),
    "a named tuple that is changed": (
        lambda: both(Named).map(change),
        "map change raises AttributeError: can't set attribute on the first records; a record of this class is never changed: return record._replace(name=value)",
    ),
    "a time in a text": (
        lambda: Source.of([Texts("2026-01-01")]).event_time("at"),
        "at is no datetime of Texts; map to records with a datetime, datetime.fromisoformat(record.at), and name that",
    ),
    "a time in a number": (
        lambda: Source.file(AIRLINES_JSON, Numbered, format="json").event_time("ms"),
        "ms is no datetime of Numbered; declare ms: datetime, and give the source timestamp_epoch='millis', or 'seconds', as its numbers are; or map to records with a datetime, datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), and name that",
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
    "a place by name": (
        lambda: pairs().filter(lambda p: p["value"] > 1).table("memory"),
        "bad record at records[0]: filter lambda p: p[\"value\"] > 1 raised TypeError: tuple indices must be integers or slices, not str (at LINE): [\"a\", 1]\n"
        '  lambda: pairs().filter(lambda p: p["value"] > 1).table("memory"),\n'
        "write record.field of a named tuple, and record[0] of a tuple" + _GO_ON,
    ),
    "a day beside a time": (
        lambda: Source.of([datetime(2026, 1, 1)]).filter(lambda at: at > date(2026, 1, 1)).table("memory"),
        "bad record at records[0]: filter lambda at: at > date(2026, 1, 1) raised TypeError: can't compare datetime.datetime to datetime.date (at LINE): \"2026-01-01 00:00:00\"\n"
        '  lambda: Source.of([datetime(2026, 1, 1)]).filter(lambda at: at > date(2026, 1, 1)).table("memory"),\n'
        "write .date() of the datetime" + _GO_ON,
    ),
    "a header that is read as numbers": (
        lambda: Source.of(["id;net amount", "1;2"]).map(lambda line: int(line.split(";")[0]), returns=int).table("memory"),
        "bad record at records[0]: map lambda line: int(line.split(\";\")[0]) raised ValueError: invalid literal for int() with base 10: 'id' (at LINE): \"id;net amount\"\n"
        '  lambda: Source.of(["id;net amount", "1;2"]).map(lambda line: int(line.split(";")[0]), returns=int).table("memory"),\n'
        "it looks like the header of a CSV file, which names its fields; write Source.file(path, Row, format='csv', csv_delimiter=';'), where Row is a dataclass with the fields id, net_amount" + _GO_ON,
    ),
    "milliseconds that are read as seconds": (
        lambda: Source.of([1_700_000_000_000]).map(lambda ms: datetime.fromtimestamp(ms), returns=datetime).table("memory"),
        "bad record at records[0]: map lambda ms: datetime.fromtimestamp(ms) raised ValueError: year 55840 is out of range (at LINE): 1700000000000\n"
        '  lambda: Source.of([1_700_000_000_000]).map(lambda ms: datetime.fromtimestamp(ms), returns=datetime).table("memory"),\n'
        "the number is of milliseconds, or finer, where seconds are wanted: divide it by 1000" + _GO_ON,
    ),
    "a field that is misspelt where a type is said": (
        lambda: both(Named).map(lambda e: e.cout, returns=int).table("memory"),
        "bad record at records[0]: map lambda e: e.cout raised AttributeError: 'Named' object has no attribute 'cout' (at LINE): [1, 2.5]\n"
        '  lambda: both(Named).map(lambda e: e.cout, returns=int).table("memory"),\n'
        "did you mean court?" + _GO_ON,
    ),
}  # fmt: skip
"""What fails on a record."""
