"""Programs that are wrong as those are whose writers know another library by heart, each with the whole of what it is told."""

# ruff: noqa: E501  # a message is one line
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any

import polars as pl

import ouzel
from ouzel import Sink, Source, StepOptions, col, column_function, fn, monoid
from ouzel.testing import check_laws
from tests.dsl.mistakes import Mistake, numbers, orders, pairs


@dataclass
class Priced:
    """A record with a Decimal."""

    price: Decimal


class Numbers(ouzel.Spout):
    """One batch of the number 1."""

    def next_batch(self, collector: Any) -> bool:
        """Emit it."""
        collector.emit(pl.DataFrame({"n": [1]}), message_id=1)
        return False


class FlatRow(ouzel.RowBolt):
    """Gives a row where a list of rows belongs."""

    fields = ("n",)

    def handle(self, *row: Any) -> Any:
        """The row itself."""
        return row


class Emitting(ouzel.Bolt):
    """Emits what a function makes of a batch."""

    def __init__(self, emit: Callable[[Any, Any], object]) -> None:
        self.emit = emit

    def execute(self, batch: Any, collector: Any) -> None:
        """Call it."""
        self.emit(batch, collector)
        collector.ack(batch)


def _through(bolt: Any) -> object:
    """What comes of a batch in a bolt."""
    builder = ouzel.TopologyBuilder("numbers")
    builder.set_spout("numbers", Numbers(), ouzel.schema(n=int))
    builder.set_bolt("same", bolt, ouzel.schema(n=int)).shuffle_grouping("numbers")
    return ouzel.table(builder.build(), of="same", engine="memory")


def forgets_return(order: Any) -> Any:
    """Computes, and gives nothing."""
    order.amount > 5  # noqa: B015


def one_column(given: pl.Series) -> pl.Series:
    """Takes a record for a column."""
    return given


def shout(text: pl.Series, times: pl.Series) -> pl.Series:
    """Takes two, and is declared with one."""
    return text


def _asked(used: Callable[[Any], object]) -> object:
    """What is told of a call of a run."""
    with pairs().start("memory") as run:
        return used(run)


IN_USE: dict[str, Mistake] = {
    "a condition that is a generator": (
        lambda: numbers(1).filter(lambda n: (n != one for one in [2])),
        "filter lambda n: (n != one for one in [2]) gives a generator, which is true whatever it holds; write any(…) or all(…) of it",
    ),
    "a condition that is a method": (
        lambda: numbers("a").filter(lambda word: word.isupper),
        "filter lambda word: word.isupper gives the function isupper itself; call it: write isupper()",
    ),
    "a condition that is a text": (
        lambda: numbers("a", "c").filter(lambda word: word == "a" or "b"),
        "filter lambda word: word == \"a\" or \"b\" gives the text 'b', which is true; compare with each: record in ('a', 'b')",
    ),
    "a function of nothing": (
        lambda: numbers(1).map(lambda: 1),
        "map lambda : 1 is given one record and nothing else, and as its arguments are (), that fails: too many positional arguments; take it: lambda record: …",
    ),
    "a function of both halves": (
        lambda: pairs().map_values(lambda key, value: value),
        "map_values lambda key, value: value is given the value of each pair and nothing else, and as its arguments are (key, value), that fails: missing a required argument: 'value'; write lambda value: …; or map(lambda pair: … pair[0] … pair[1]) for both",
    ),
    "no monoid": (
        lambda: pairs().sum_by_key(),
        "sum_by_key takes monoid, store: missing a required argument: 'monoid'; write sum_by_key(monoid.Sum())",
    ),
    "a name for a step as an argument": (
        lambda: numbers(1).map(str, name="texts"),
        "map takes function, returns=…: got an unexpected keyword argument 'name'; call name('texts') behind it: map(function).name('texts')",
    ),
    "values of two types": (
        lambda: numbers(1, 2).map(lambda n: n if n > 1 else str(n)),
        "it is not known which type map lambda n: n if n > 1 else str(n) gives: it has no annotation, and no column holds both str and int; give one type for every record, as by str(…), float(…) or None",
    ),
    "a pair where a list of records belongs": (
        lambda: numbers("a").flat_map(lambda word: (word, 1)),
        "flat_map lambda word: (word, 1) gives 'a' and others as records of one stream, and no column holds both str and int; write map(…) for one record of all, or give records of one type",
    ),
    "a dict where a list of records belongs": (
        lambda: numbers("a").flat_map(lambda word: {word: 1}),
        "flat_map lambda word: {word: 1} gives {'a': 1}, which is of type dict, and flat_map gives the records of a list, one by one; return its .items() for pairs, or a list of its keys",
    ),
    "SQL for a condition": (
        lambda: numbers(1).filter("value > 3"),
        "filter takes a function, not 'value > 3'; write filter(lambda record: …), or sql('SELECT * FROM this WHERE value > 3')",
    ),
    "a field's name for a function": (
        lambda: orders().map("amount"),
        "map takes a function, not 'amount'; write map(lambda record: record.amount)",
    ),
    "a short span": (
        lambda: orders().event_time("ts", "90 min"),
        "the delay is a timedelta, and '90 min' is none; write timedelta(minutes=90)",
    ),
    "a window of nothing": (
        lambda: (
            orders().event_time("ts").map(lambda order: (order.customer, 1)).sum_by_window(monoid.Sum(), timedelta(0))
        ),
        "the size of a window is timedelta(0); write one longer than nothing, timedelta(hours=1)",
    ),
    "a slide that does not divide": (
        lambda: (
            orders()
            .event_time("ts")
            .map(lambda order: (order.customer, 1))
            .sum_by_window(monoid.Sum(), timedelta(hours=1), timedelta(minutes=25))
        ),
        "windows of timedelta(hours=1) cannot begin every timedelta(minutes=25); take a slide that divides the size, as timedelta(minutes=30)",
    ),
    "records without an end": (
        lambda: Source.of(count()),
        "Source.of holds the records of the program, and these are more than 5,000,000; write Source.of(list(islice(records, 1_000))), put them into a file, or write an ouzel.Spout for what has no end",
    ),
    "a record in a stream": (
        lambda: 1 in numbers(1),
        "a stream is a plan, and holds no records to look for one; call table().rows() to loop over all its records, table() for a frame of them, or show(n) for the first",
    ),
    "a verb of frames": (
        lambda: numbers(1).changes("memory").print(),
        "frames of a stream have no print; loop over them, for frame in stream.changes(), or call stream.table() for one",
    ),
    "an option of the sink for write": (
        lambda: orders().write(Sink.file("out", format="csv"), mode="overwrite"),
        "write takes sink: got an unexpected keyword argument 'mode'; options are the sink's: write(Sink.file('path', mode='overwrite'))",
    ),
    "two functions for map": (
        lambda: numbers(1).map(abs, abs),
        "map takes function, returns=…: too many positional arguments; write map(function, returns=…)",
    ),
    "the name of a column for the column": (
        lambda: orders().select(who=fn.upper("customer")),
        "fn.upper('customer') is of the text 'customer', and there is a column of that name; write fn.upper(col('customer')) for the column, or lit('customer') for the text",
    ),
    "the name of a column among values": (
        lambda: orders().select(who=fn.concat("customer", col("customer"))),
        "fn.concat('customer', …) is of the text 'customer', and there is a column of that name; write fn.concat(col('customer')) for the column, or lit('customer') for the text",
    ),
    "an aggregate as an expression": (
        lambda: orders().select(total=fn.sum(col("amount"))),
        "fn.sum(…) adds records up, and an expression is of one record; map to pairs, and call sum_by_key(monoid.Sum())",
    ),
    "a function of each value of an expression": (
        lambda: col("amount").apply(abs),
        "an expression has no apply; call map(lambda record: …) of the stream",
    ),
    "a text for parallelism": (
        lambda: StepOptions(parallelism="4"),
        "parallelism is how many tasks compute the step, a whole number from 1 on, and '4' is none; write StepOptions(parallelism=4)",
    ),
    "no task": (
        lambda: StepOptions(parallelism=0),
        "parallelism is how many tasks compute the step, a whole number from 1 on, and 0 is none; write StepOptions(parallelism=1)",
    ),
    "a number for combine": (
        lambda: StepOptions(combine=1),
        "combine is True or False, not 1; write StepOptions(combine=True)",
    ),
    "laws asked of the monoids": (
        lambda: monoid.check_laws,
        "there is no monoid check_laws; write from ouzel.testing import check_laws",
    ),
    "laws of a class": (
        lambda: check_laws(monoid.Sum, [1]),
        "check_laws takes a monoid, and Sum is none; write Sum()",
    ),
    "laws of one value": (
        lambda: check_laws(monoid.Sum(), 5),
        "check_laws takes a list of values, and 5 is none; write check_laws(monoid, [5])",
    ),
    "print as a condition": (
        lambda: orders().filter(print),
        "filter print gives None, whatever it is given; call show(10) for the first records, or write(Sink.print()) for each",
    ),
    "print for each record": (
        lambda: orders().map(partial(print, sep=",")),
        "map partial(print) gives None, whatever it is given; call show(10) for the first records, or write(Sink.print()) for each",
    ),
    "a condition without return": (
        lambda: orders().filter(forgets_return),
        "filter forgets_return has no `return` with a value, so that it gives None; give the value by `return`",
    ),
    "characters of a text": (
        lambda: orders().flat_map(lambda order: "Berlin"),
        "flat_map lambda order: \"Berlin\" gives 'Berlin', which is of type str, and flat_map gives the records of a list, one by one; return a list, or write map(...) for one record",
    ),
    "a function of one column for a record of three": (
        lambda: orders().map(column_function(int)(one_column)),
        "map one_column is given a series of each column, customer, ts, amount, and takes (given: 'pl.Series') -> 'pl.Series': too many positional arguments; take all of them: def one_column(customer, ts, amount)",
    ),
    "fewer types than arguments": (
        lambda: ouzel.function((str,), str)(shout),
        "the function shout takes (text: 'pl.Series', times: 'pl.Series') -> 'pl.Series', and @ouzel.function says the types of its arguments are (VARCHAR): missing a required argument: 'times'; write the type of each argument: @ouzel.function((str, str,), 'VARCHAR')",
    ),
    "a float for a Decimal": (
        lambda: Source.of([Priced(Decimal(1)), Priced(0.1)]),
        "price is Decimal, and the record Priced(price=0.1) has a float there; write Decimal('0.1')",
    ),
    "a generator without a name": (
        lambda: Source.datagen(Priced, rows=10),
        "what the connector datagen reads or writes is a text, and Priced is none; write its path or name first: datagen('path or name', Priced, …)",
    ),
    "a text for a size": (
        lambda: monoid.TopK("3"),
        "size of TopK is a whole number from 1 on, and '3' is none; write TopK(size=10)",
    ),
    "fewer monoids than parts": (
        lambda: numbers(("a", (1, 2))).sum_by_key(monoid.TupleOf((monoid.Sum(),))),
        "TupleOf has 1 parts, and the values have 2; write a monoid for each part of the value: TupleOf((Sum(), Max()))",
    ),
    "the window before the monoid": (
        lambda: pairs().sum_by_window(timedelta(hours=1), monoid.Sum()),
        "sum_by_window adds up by a monoid, and datetime.timedelta(seconds=3600) is none; write a monoid first, sum_by_window(monoid.Sum(), timedelta(hours=1))",
    ),
    "a stream without its name in SQL": (
        lambda: orders().sql("SELECT * FROM this", pairs()),
        "sql takes text, name=…: too many positional arguments; write sql(text, name=…)",
    ),
    "a text for how many": (
        lambda: orders().show("10"),
        "show takes how many records, and '10' is no such number; write show(10)",
    ),
    "fewer than none": (
        lambda: orders().show(-1),
        "show takes how many records, and -1 is no such number; write show(10)",
    ),
    "a number for the name of a step": (
        lambda: orders().name(5),
        "the name of a step is a text, and 5 is none; write name='5'",
    ),
    "a number for the name of a source": (
        lambda: Source.of([1], name=3),
        "the name of a source is a text, and 3 is none; write name='3'",
    ),
    "a frame that is to run": (
        lambda: ouzel.table(pl.DataFrame({"a": [1]})),
        "a DataFrame is nothing that runs; give the text of a query, the Path of its file, a stream, or what ouzel.query or TopologyBuilder.build gives",
    ),
}


IN_USE_WHEN_RUN: dict[str, Mistake] = {
    "a savepoint of a run": (
        lambda: _asked(lambda run: run.stop(savepoint="here")),
        "stop takes no arguments: got an unexpected keyword argument 'savepoint'; a savepoint is of a topology that was submitted: run `ouzel stop NAME --savepoint DIR`",
    ),
    "a text for seconds": (
        lambda: _asked(lambda run: run.wait("10s")),
        "wait takes seconds, a number, and '10s' is none; write wait(10)",
    ),
    "a timedelta for seconds": (
        lambda: _asked(lambda run: run.wait(timedelta(minutes=2))),
        "wait takes seconds, a number, and datetime.timedelta(seconds=120) is none; write wait(120)",
    ),
    "a wish for the status": (
        lambda: _asked(lambda run: run.status("rows")),
        "status takes no arguments: too many positional arguments; write status()",
    ),
    "a row for a list of rows": (
        lambda: _through(FlatRow()),
        "'same' (task 2) failed: TypeError: handle returned (1,), one row and no list of rows; return [(1,)]",
    ),
    "a batch for a frame": (
        lambda: _through(Emitting(lambda batch, collector: collector.emit(batch))),
        "'same' (task 2) emits a Batch, and what travels are Polars data frames (in <lambda>, LINE); write collector.emit(batch.frame, anchors=(batch,))",
    ),
    "a list for a frame": (
        lambda: _through(Emitting(lambda batch, collector: collector.emit([(1,)]))),
        "'same' (task 2) emits a list, and what travels are Polars data frames (in <lambda>, LINE); write pl.DataFrame(rows, schema=['a', 'b'], orient='row')",
    ),
    "a batch for anchors": (
        lambda: _through(Emitting(lambda batch, collector: collector.emit(batch.frame, anchors=batch))),
        "'same' (task 2) failed: TypeError: anchors are several batches; write anchors=(batch,) (in <lambda>, LINE)",
    ),
    "a float for an int": (
        lambda: orders().map(lambda order: order.amount, returns=int).table("memory"),
        "bad record at records[0]: map lambda order: order.amount gave what does not fit (value BIGINT), the type that it has; at LINE; value is BIGINT, and 2.5 is of type float; write int(…), or declare it as float: {\"value\": 2.5}\nthe setting error_policy='skip' or 'dead-letter' goes on without such records",
    ),
    "an int for a text": (
        lambda: orders().map(lambda order: order.customer, returns=str).memory(),
        "bad record: 1 does not fit (value VARCHAR), the type of what is made at LINE; value is VARCHAR, and 1 is of type int; write str(…), or declare it as int",
    ),
    "a dict for a record": (
        lambda: orders().memory(records=[{"customer": 1}]),
        "bad record: {'customer': 1} does not fit (customer BIGINT, ts TIMESTAMP(6), amount DOUBLE), the type of what is made at LINE; a dict is no Order; write Order(**fields)",
    ),
}
