"""Programs that are wrong as those of a first day are, each with the whole of what it is told."""

# ruff: noqa: E501  # a message is one line
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ouzel import Sink, Source, StepOptions, Stream, col, column_function, monoid

HOUR = timedelta(hours=1)


@dataclass
class Order:
    """What somebody bought."""

    customer: int
    ts: datetime
    amount: float


class Plain:
    """No dataclass."""


def orders() -> Stream[Any]:
    """One order."""
    return Source.of([Order(1, datetime(2026, 1, 1), 2.5)])


def pairs() -> Stream[Any]:
    """Three pairs."""
    return Source.of([("a", 1), ("b", 2), ("a", 3)])


def numbers(*given: Any) -> Stream[Any]:
    return Source.of(list(given))


def _running(used: Callable[[Any], object]) -> object:
    """What is told of the handle of a run, which ends with it."""
    with pairs().start("memory") as run:
        return used(run)


Mistake = tuple[Callable[[], object], str]

WHEN_WRITTEN: dict[str, Mistake] = {
    "a function of two": (
        lambda: numbers(1, 2).map(lambda a, b: a + b),
        "map lambda a, b: a + b is given one record and nothing else, and as its arguments are (a, b), that fails: missing a required argument: 'b'; take a pair as one argument: lambda pair: … pair[0] … pair[1]",
    ),
    "no pairs": (
        lambda: orders().sum_by_key(monoid.Sum()),
        "sum_by_key needs pairs of a key and a value, and these records are Order; map them to (key, value) first",
    ),
    "a class for a monoid": (
        lambda: pairs().sum_by_key(monoid.Sum),
        "sum_by_key adds up by a monoid, and Sum is none; write monoid.Sum()",
    ),
    "a function of Python's for a monoid": (
        lambda: pairs().sum_by_key(sum),
        "sum_by_key adds up by a monoid, and sum is none; write monoid.Sum()",
    ),
    "a name for a monoid": (
        lambda: pairs().sum_by_key("mean"),
        "sum_by_key adds up by a monoid, and mean is none; write monoid.Mean()",
    ),
    "a verb of Spark's": (
        lambda: pairs().group_by_key(),
        "a stream has no group_by_key(); map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid)",
    ),
    "a format for a connector": (
        lambda: Source.csv("orders.csv"),
        "csv is a format, and no connector; write Source.file('path', format='csv')",
    ),
    "no format": (
        lambda: Source.file("orders.csv", Order),
        "the connector 'file' needs format; add format='csv': what the files hold",
    ),
    "an option without its format": (
        lambda: Source.file("orders.csv", Order, format="csv", delimiter=";"),
        "the connector 'file' has no option 'delimiter'; did you mean csv_delimiter?",
    ),
    "a format that nobody has": (
        lambda: pairs().write(Sink.file("out", format="xlsx")),
        "format cannot be 'xlsx'; write 'parquet' or 'csv' or 'json' or 'debezium-json' or 'maxwell-json' or 'canal-json' or 'raw'",
    ),
    "a format in capitals": (
        lambda: Source.file("orders.csv", Order, format="CSV"),
        "format cannot be 'CSV'; write 'csv'",
    ),
    "no servers": (
        lambda: Source.kafka("orders", Order, format="json"),
        "the connector 'kafka' needs bootstrap_servers; add bootstrap_servers='...': brokers to ask first, host:port separated by commas",
    ),
    "no records": (
        lambda: numbers(),
        "the records do not show what type they are; write Source.of(records, tuple[str, int]) with the type of a record",
    ),
    "a class that is no record": (
        lambda: numbers(Plain()),
        "no column holds values of the type Plain; make it a dataclass, with @dataclass above the class, or a tuple of what columns hold: docs/dsl.md lists it",
    ),
    "print for a function": (
        lambda: numbers("x").map(lambda text: None),
        "map lambda text: None gives None for the first records; return what is to become of a record, or write map(…, returns=str | None) if others give more",
    ),
    "a list of two types": (
        lambda: numbers(1).map(lambda n: [n, str(n)]),
        "map lambda n: [n, str(n)] gives [1, '1'], and no column holds both int and str; return a tuple, whose parts have types of their own",
    ),
    "a dictionary of two types": (
        lambda: numbers(1).map(lambda n: {"n": n, "text": str(n)}),
        "map lambda n: {\"n\": n, \"text\": str(n)} gives {'n': 1, 'text': '1'}, and no column holds both int and str; make a dataclass or a named tuple of it: Record(**fields); or, before a sum, a pair: (key, value)",
    ),
    "a misspelt field": (
        lambda: orders().map(lambda order: order.amout),
        "map lambda order: order.amout raises AttributeError: 'Order' object has no attribute 'amout' on the first records; did you mean amount?",
    ),
    "a record as a dictionary": (
        lambda: orders().map(lambda order: order["amount"]),
        "map lambda order: order[\"amount\"] raises TypeError: 'Order' object is not subscriptable on the first records; write record.field: the fields of a dataclass are its attributes",
    ),
    "a function that always fails": (
        lambda: orders().map(lambda order: order.amount + "EUR"),
        "map lambda order: order.amount + \"EUR\" raises TypeError: unsupported operand type(s) for +: 'float' and 'str' on the first records; mend it; or, if it can be called in a run only, write map(…, returns=tuple[str, int])",
    ),
    "a dictionary for a service": (
        lambda: pairs().left_join({"a": "Ada"}),
        "left_join takes a stream of pairs or a service, not the mapping {'a': 'Ada'}; write Source.of(list(mapping.items()))",
    ),
    "numbers joined": (
        lambda: pairs().join(numbers(1)),
        "join needs pairs of a key and a value, and these records are int; map them to (key, value) first",
    ),
    "keys of two types": (
        lambda: pairs().join(numbers((1, "x"))),
        "join joins pairs of one type of key, not tuple[str, int] and tuple[int, str]; their keys are str and int; write .map_keys(int) behind the pairs whose key is a str",
    ),
    "keys of two types of time": (
        lambda: orders().map(lambda one: (one.ts, 1)).join(orders().map(lambda one: (one.ts.date(), 1))),
        "join joins pairs of one type of key, not tuple[datetime, int] and tuple[date, int]; their keys are datetime and date; call map_keys(function) of one of them",
    ),
    "no such time": (
        lambda: orders().event_time("time", HOUR),
        "Order has no 'time'; name one that is a datetime: 'ts'",
    ),
    "a number for a time": (
        lambda: orders().event_time("customer", HOUR),
        "customer is no datetime of Order; name one that is a datetime: 'ts'",
    ),
    "records without a time": (
        lambda: pairs().event_time("key", HOUR),
        "key is no datetime of tuple[str, int]; give the records a datetime, and name it",
    ),
    "a text for a delay": (
        lambda: orders().event_time("ts", "1 hour"),
        "the delay is a timedelta, and '1 hour' is none; write timedelta(hours=1)",
    ),
    "seconds for a window": (
        lambda: orders().event_time("ts").map(lambda order: (order.customer, 1)).sum_by_window(monoid.Sum(), 3600),
        "the size of a window is a timedelta, and 3600 is none; write timedelta(seconds=3600)",
    ),
    "a misspelt column": (
        lambda: orders().filter(col("amuont") > 10),
        "there is no column amuont; did you mean amount?",
    ),
    "and between expressions": (
        lambda: orders().filter(col("amount") > 10 and col("customer") > 1),
        "whether amount > 10 is true is known of each record only; write (a > 1) & (b > 2) for and, | for or, ~ for not, with parentheses around each part, and fn.iff(condition, a, b) for a if condition else b",
    ),
    "a text that is multiplied": (
        lambda: orders().select(total=col("amount") * "x"),
        "amount * 'x' is DOUBLE * VARCHAR, which is not possible; cast one of them, as col(...).cast(int)",
    ),
    "a table of SQL that is not there": (
        lambda: orders().sql("SELECT customer FROM orders"),
        "line 1, column 22: there is no table orders; this stream is called `this`: write FROM this; give others by name, sql(text, other=stream)\n  SELECT customer FROM orders\n                       ^^^^^^",
    ),
    "nothing written": (
        lambda: numbers(1).run("memory"),
        "this stream writes nothing; end it with write(sink), or call table() for its records",
    ),
    "a path for a sink": (
        lambda: pairs().write("out.csv"),
        "write writes to a table, and 'out.csv' is none; write stream.write(Sink.file('out.csv', format='csv'))",
    ),
    "a list for a sink": (
        lambda: pairs().write([]),
        "write writes to a table, and [] is none; write stream.write(Sink.file('out.csv', format='csv')), or Sink.print() for the terminal",
    ),
    "a path whose end says nothing": (
        lambda: pairs().write(Path("out")),
        "write writes to a table, and PosixPath('out') is none; write stream.write(Sink.file('out', format='csv'))",
    ),
    "an engine that nobody has": (
        lambda: pairs().table("memroy"),
        "there is no engine 'memroy'; write heron, memory or spark",
    ),
    "a misspelt setting": (
        lambda: pairs().table("memory", paralellism=2),
        "there is no setting 'paralellism'; did you mean 'parallelism'?",
    ),
    "the length of a stream": (
        lambda: len(pairs()),
        "a stream is a plan, and has no length; call table() and take len() of that",
    ),
    "a loop over a stream": (
        lambda: list(pairs()),
        "a stream is a plan, and holds no records to iterate over; call table().rows() to loop over all its records, table() for a frame of them, or show(n) for the first",
    ),
    "the first of a stream": (
        lambda: pairs()[0],
        "a stream is a plan, and holds no records to index; call table().rows() to loop over all its records, table() for a frame of them, or show(n) for the first",
    ),
    "the first row of a run": (
        lambda: _running(lambda run: run[0]),
        "a run gives its rows as they come, and none by place; write for row in run, or results() for what has come; table() of the query or stream gives all rows",
    ),
    "the rows of a run": (
        lambda: _running(lambda run: run.rows()),
        "a run has no rows; write for row in run, or results() for what has come; table() of the query or stream gives all rows",
    ),
    "the end of a run": (
        lambda: _running(lambda run: run.cancel()),
        "a run has no cancel; call stop(), which brings the run to rest, or end(), which ends it at once",
    ),
    "a joined list": (
        lambda: pairs().left_join([("a", "Ada")]),
        "left_join takes a stream of pairs or a service, not [('a', 'Ada')]; write Source.of([...]) of its pairs",
    ),
    "a mapping that is looked up in": (
        lambda: numbers("a").lookup({"a": "Ada"}),
        "lookup takes a stream of pairs or a service, not the mapping {'a': 'Ada'}; write Source.of(list(mapping.items()))",
    ),
    "a field by its name": (
        lambda: numbers(("a", 1)).map(lambda pair: pair["key"]),
        'map lambda pair: pair["key"] raises TypeError: tuple indices must be integers or slices, not str on the first records; write record.field of a named tuple, and record[0] of a tuple',
    ),
    "an option of pandas": (
        lambda: Source.file("orders.csv", Order, format="csv", sep=";"),
        "the connector 'file' has no option 'sep'; did you mean csv_delimiter?",
    ),
    "an option of nobody": (
        lambda: Source.file("orders.parquet", Order, format="parquet", engine="c"),
        "the connector 'file' has no option 'engine'; it takes path, format, json_array, follow, partitions, partition_by, changelog, flush_interval_ms, flush_rows, changelog_mode, changelog_deleted, parquet_compression, bad_record, dead_letter_path, timestamp_epoch",
    ),
    "values for pairs": (
        lambda: pairs().sum_by_key(monoid.MinBy()),
        "MinBy() adds up pairs (by, value) that have an order, not BIGINT; map to (key, (by, value)) before",
    ),
    "a dictionary for a type": (
        lambda: Source.file("orders.csv", {"customer": int}, format="csv"),
        "a record's type is a class, and {'customer': <class 'int'>} is none; write a dataclass or a named tuple with these fields, or tuple[int, str]",
    ),
    "a function for an expression": (
        lambda: orders().select(much=lambda order: order.amount > 10),
        "select makes columns by expressions, and much=a function is none; call map(function), or write an expression: fn.lower(col('name'))",
    ),
    "a name for an expression": (
        lambda: orders().select(much="amount"),
        "select makes columns by expressions, and much='amount' is none; write select(much=col('amount')) for a column, or lit('amount') for the text",
    ),
    "a method that is not called": (
        lambda: numbers("a").map(lambda line: line.upper),
        "map lambda line: line.upper gives the function upper itself; call it: write upper()",
    ),
    "a generator in map": (
        lambda: numbers("a b").map(lambda line: (word for word in line.split())),
        "map lambda line: (word for word in line.split()) gives a generator, which is looped over for its values; write flat_map(…) for each of them as a record, or return a list",
    ),
    "collecting records as Spark does": (
        lambda: pairs().collect(),
        "collect looks records up in a mapping, and none is given; call table().rows() to loop over all its records, table() for a frame of them, or show(n) for the first",
    ),
    "collecting by a function": (
        lambda: pairs().collect(lambda pair: pair),  # type: ignore[arg-type]
        "collect looks records up in a mapping, and this is none; call option_map(function) for a function",
    ),
    "a method of a column": (
        lambda: orders().select(who=col("customer").abs()),
        "an expression has no abs; write fn.abs(col('customer'), ...)",
    ),
    "an alias of a column": (
        lambda: orders().select(who=col("customer").alias("who")),
        "an expression has no alias; write select(name=expression)",
    ),
    "a method of no function": (
        lambda: orders().select(who=col("customer").frobnicate()),
        "an expression has no frobnicate; see docs/functions.md, and write fn.name(...)",
    ),
    "event time by a function": (
        lambda: orders().event_time(lambda order: order.ts),  # type: ignore[arg-type]
        "event_time takes the name of a column, not a function; write event_time('ts', delay)",
    ),
    "records that are dictionaries": (
        lambda: numbers({"a": 1, "b": "x"}),
        "a dict is a MAP, whose values are of one type, and no column holds both int and str; make a dataclass or a named tuple of each: Record(**fields)",
    ),
    "options as a dictionary": (
        lambda: pairs().name("total").table("memory", options={"total": {"parallelism": 2}}),  # type: ignore[dict-item]
        "the options of 'total' are StepOptions, and {'parallelism': 2} is none; write StepOptions(parallelism=2)",
    ),
    "options of no name": (
        lambda: pairs().name("total").table("memory", options=StepOptions(parallelism=2)),  # type: ignore[arg-type]
        "options are a mapping of names of steps to StepOptions; write {'total': StepOptions(parallelism=2)}",
    ),
    "a type in quotes": (
        lambda: numbers("a").map(lambda line: line, returns="str"),  # type: ignore[call-overload]
        "a record's type is a class, and the text 'str' is none; write the class without quotes: str, tuple[str, int], or a dataclass",
    ),
    "a decorator without its type": (
        lambda: column_function(orders),
        "column_function takes the type of the records that come of orders, not the function itself; write @column_function(str) above def orders",
    ),
    "a fraction in percent": (
        lambda: pairs().sum_by_key(monoid.Quantile(95)),
        "Quantile takes fractions from 0 to 1, and 95 is none; write 0.95",
    ),
    "fractions in percent": (
        lambda: pairs().sum_by_key(monoid.Quantiles((0.5, -1))),
        "Quantiles takes fractions from 0 to 1, and -1 is none; write 0.5 for the median",
    ),
    "a field of the stream": (
        lambda: orders().filter(orders().amount > 5),
        "a stream has no amount, but its records have; write a function of a record, lambda record: record.amount, or col('amount')",
    ),
    "a verb in capitals": (
        lambda: pairs().reduceByKey(max),
        "a stream has no reduceByKey(); map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid)",
    ),
    "rows of a stream": (
        lambda: pairs().rows(),
        "a stream has no rows(); call table().rows()",
    ),
}
"""Told by the call that is wrong."""

WHEN_RUN: dict[str, Mistake] = {
    "None among numbers": (
        lambda: numbers(1, None, 3).map(lambda n: n + 1, returns=int).table("memory"),
        "bad record at records[1]: map lambda n: n + 1 raised TypeError: unsupported operand type(s) for +: 'NoneType' and 'int' (at LINE): null\n  lambda: numbers(1, None, 3).map(lambda n: n + 1, returns=int).table(\"memory\"),\nn is None in this record: empty, NULL, or without a match; write filter(lambda n: n is not None) before it, or give something else where it is None\nthe setting error_policy='skip' or 'dead-letter' goes on without such records",
    ),
    "text that is no number": (
        lambda: numbers("1", "x").map(int).table("memory"),
        'bad record at records[1]: map int raised ValueError: invalid literal for int() with base 10: \'x\' (at LINE): "x"\n  lambda: numbers("1", "x").map(int).table("memory"),\nthe setting error_policy=\'skip\' or \'dead-letter\' goes on without such records',
    ),
    "division by zero": (
        lambda: numbers(3, 0).map(lambda n: 10 // n).table("memory"),
        "bad record at records[1]: map lambda n: 10 // n raised ZeroDivisionError: integer division or modulo by zero (at LINE): 0\n  lambda: numbers(3, 0).map(lambda n: 10 // n).table(\"memory\"),\nthe setting error_policy='skip' or 'dead-letter' goes on without such records",
    ),
}
"""Told when a record comes, with the line of the program."""
