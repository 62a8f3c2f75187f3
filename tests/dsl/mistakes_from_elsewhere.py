"""Programs that are wrong as those of engineers are who come from other libraries, each with the whole of what it is told."""

# ruff: noqa: E501  # a message is one line
from __future__ import annotations

from datetime import UTC, datetime
from enum import Enum
from typing import Any, NamedTuple, TypedDict

import polars as pl

import ouzel
from ouzel import Source, Stream, col, monoid
from ouzel.stores import FolderStore
from tests.dsl.mistakes import HOUR, Mistake, Order, numbers, orders, pairs


class Paid(Enum):
    """No type of a column."""

    YES = "yes"


class Tagged(NamedTuple):
    """A field that does not say what is in its list."""

    name: str
    tags: list  # type: ignore[type-arg]


class Either(NamedTuple):
    """A field of two types."""

    number: int | str


class State(NamedTuple):
    """A field of an Enum."""

    paid: Paid


class Typed(TypedDict):
    """A dictionary with types."""

    amount: float


def appended(a: Any, b: Any) -> Any:
    """Takes a value for a total."""
    a.append(b)
    return a


def doubled(number: int) -> int:
    """With annotations, which no decorator reads."""
    return number * 2


class Listing:
    """A service that gives no mapping."""

    def get_many(self, keys: list[str]) -> list[str]:
        """The keys."""
        return keys


def _built(spout: Any) -> object:
    builder = ouzel.TopologyBuilder("words")
    builder.set_spout("lines", spout, ouzel.schema(line=str))
    return builder.build()


class Airline(NamedTuple):
    """A field that the file has not, and one that it has in another type."""

    nmae: str


class Flight(NamedTuple):
    """A time as a text."""

    ts: str


LINES = (
    "CREATE TABLE w (line VARCHAR) WITH ('connector' = 'file', 'path' = 'w.txt', 'format' = 'raw'); SELECT line FROM w;"
)
AIRLINES, FLIGHTS = "sql_examples/data/airlines.parquet", "sql_examples/data/flights.parquet"


def added(a: str) -> str:
    """Counts what no other process sees."""
    global seen
    seen += 1
    return a


seen = 0


FROM_ELSEWHERE: dict[str, Mistake] = {
    "a step by a pipe": (
        lambda: pairs() | str.split,  # type: ignore[operator]
        "a step is no |, but a method of the stream; write stream.map(function), or stream.flat_map(function)",
    ),
    "two streams by a pipe": (
        lambda: pairs() | pairs(),  # type: ignore[operator]
        "streams are not added by |; write a + b, or a.merge(b)",
    ),
    "and without parentheses": (
        lambda: orders().filter(col("amount") > 10 & col("customer") == 1),  # type: ignore[operator]
        "& binds tighter than a comparison, so this is 10 & customer; put parentheses around each comparison: (a > 10) & (col('customer') == b)",
    ),
    "a join on a column": (
        lambda: orders().join(orders(), on="customer"),  # type: ignore[call-arg]
        "join takes other: got an unexpected keyword argument 'on'; pairs are joined by their keys: write a.map(lambda record: (record.customer, record)).join(b.map(lambda record: (record.customer, record)))",
    ),
    "a join how=left": (
        lambda: orders().join(orders(), on="customer", how="left"),  # type: ignore[call-arg]
        "join takes other: got an unexpected keyword argument 'on'; pairs are joined by their keys: write a.map(lambda record: (record.customer, record)).left_join(b.map(lambda record: (record.customer, record)))",
    ),
    "a join how=right_outer": (
        lambda: orders().join(orders(), on="customer", how="right_outer"),  # type: ignore[call-arg]
        "join takes other: got an unexpected keyword argument 'on'; pairs are joined by their keys: write b.map(lambda record: (record.customer, record)).left_join(a.map(lambda record: (record.customer, record)))",
    ),
    "a join how=outer": (
        lambda: orders().join(orders(), on="customer", how="outer"),  # type: ignore[call-arg]
        "join takes other: got an unexpected keyword argument 'on'; map both to pairs, map(lambda record: (record.customer, record)), and call a.left_join(b) and b.left_join(a), or sql() with FULL JOIN",
    ),
    "a join how=left_anti": (
        lambda: orders().join(orders(), on="customer", how="left_anti"),  # type: ignore[call-arg]
        "join takes other: got an unexpected keyword argument 'on'; pairs are joined by their keys: write a.map(lambda record: (record.customer, record)).left_join(b.map(lambda record: (record.customer, record))).filter(lambda pair: pair[1][1] is None)",
    ),
    "a window by another name": (
        lambda: pairs().sum_by_window(monoid.Sum(), every=HOUR),  # type: ignore[call-arg]
        "sum_by_window takes monoid, size, slide, zone=…: missing a required argument: 'size'; write sum_by_window(monoid.Sum(), timedelta(hours=1))",
    ),
    "the slide before the size": (
        lambda: (
            orders().event_time("ts").map(lambda order: (order.customer, 1)).sum_by_window(monoid.Sum(), HOUR, 6 * HOUR)
        ),
        "windows of timedelta(hours=1) cannot begin every timedelta(hours=6); the size comes first: write timedelta(hours=6), timedelta(hours=1)",
    ),
    "a number for the time of all": (
        lambda: pairs().event_time("value"),
        "value is no datetime of tuple[str, int]; map to records with a datetime, datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), and name that",
    ),
    "a window of sums": (
        lambda: (
            orders()
            .event_time("ts")
            .map(lambda order: (order.customer, 1))
            .sum_by_key(monoid.Sum())
            .sum_by_window(monoid.Sum(), HOUR)
        ),
        "there are windows only of streams that have a time, and what comes of LINE has none; call sum_by_window(…) in its place: what that adds up has a time, and its records are (key, window_start, window_end, value)",
    ),
    "an expression of Polars's": (
        lambda: orders().filter(pl.lit(True)),  # type: ignore[arg-type]
        "filter takes a function, not EXPR; write filter with col(…) of ouzel, from ouzel import col, or filter(lambda record: …)",
    ),
    "a frame for a stream": (
        lambda: pairs().left_join(pl.DataFrame({"a": [1]})),
        "left_join takes a stream of pairs or a service, not a DataFrame; write Source.of(frame.rows(), tuple[str, str]) of its pairs",
    ),
    "a dictionary for a store": (
        lambda: pairs().sum_by_key(monoid.Sum(), {}),  # type: ignore[arg-type]
        "sum_by_key writes to a table, and {} is none; write Store.redis('counts', …) or Store.postgres('counts', …), or leave it out: table() gives the totals",
    ),
    "a column for a monoid": (
        lambda: pairs().sum_by_key(monoid.Sum("amount")),  # type: ignore[call-arg]
        "Sum is made of other arguments: too many positional arguments; write Sum(): the total of numbers: SQL's SUM. None of no values",
    ),
    "a monoid without its size": (
        lambda: monoid.TopK(),  # type: ignore[call-arg]
        "TopK is made of other arguments: missing a required argument: 'size'; write TopK(size): the largest values, largest first",
    ),
    "a mean of pairs": (
        lambda: numbers(("a", (1.0, 1))).sum_by_key(monoid.Mean()),
        "Mean() adds up a number, not tuple[float, int]; map each value to one before, or take another monoid",
    ),
    "a fold by its function first": (
        lambda: monoid.UserDefined("longest", max, "", str),  # type: ignore[arg-type]
        "the function `add` of longest is '', which cannot be called; write UserDefined(name, empty, add, result): the total of no values comes first",
    ),
    "a fold in some order": (
        lambda: pairs().sum_by_key(monoid.UserDefined("longest", 0, max, int)).job(),
        "longest depends on the order of its values, and rows come in none; say commutative=True if add(a, b) and add(b, a) give the same; else make a time or a number part of the values, as First and Last do",
    ),
    "a list of anything": (
        lambda: numbers(Tagged("a", [])),
        "the field 'tags' of Tagged: no column holds values of the type list; say what is in it: list[str]",
    ),
    "a field of two types": (
        lambda: numbers(Either(1)),
        "the field 'number' of Either: no column holds values of the type int | str; take one of them, or a field for each: int | str is no one type",
    ),
    "a field of an Enum": (
        lambda: numbers(State(Paid.YES)),
        "the field 'paid' of State: no column holds values of the type Paid; make it the type of its values, str or int, and take its .value",
    ),
    "a dictionary with types": (
        lambda: Source.file("orders.csv", Typed, format="csv"),
        "no column holds values of the type Typed; write class Typed(NamedTuple) with the same fields, or a dataclass; records are read as record.field",
    ),
    "None among expressions": (
        lambda: orders().filter(col("customer") != None),  # noqa: E711
        "customer is compared with None, which equals nothing; write col('customer').is_null(), or ~col('customer').is_null()",
    ),
    "a list of columns": (
        lambda: orders().select(["customer", "amount"]),  # type: ignore[arg-type]
        "select takes names of columns, and expressions by the names of new ones, not ['customer', 'amount']; write select('customer', 'amount')",
    ),
    "a column without its name": (
        lambda: orders().select(col("customer")),  # type: ignore[arg-type]
        "select takes names of columns, and expressions by the names of new ones, not the expression customer; write select('customer')",
    ),
    "an expression without a name": (
        lambda: orders().select(col("customer") * 2),  # type: ignore[arg-type]
        "select takes names of columns, and expressions by the names of new ones, not the expression customer * 2; write select(name=expression)",
    ),
    "a parameter for SQL": (
        lambda: orders().sql("SELECT customer FROM this WHERE amount > :limit", limit=2),  # type: ignore[arg-type]
        'sql() takes streams by name, as tables, and limit=2 is none; write a value into the text: f"… WHERE amount > {limit}"',
    ),
    "two tables of one name": (
        lambda: orders().sql("SELECT o.customer FROM this o JOIN this o ON o.amount = o.amount"),
        "line 1, column 41: the table name o is given more than once in this FROM; write this AS o2\n"
        "  SELECT o.customer FROM this o JOIN this o ON o.amount = o.amount\n"
        "                                          ^",
    ),
    "an INSERT in a program": (
        lambda: orders().sql("INSERT INTO totals SELECT customer FROM this"),
        "sql() takes one SELECT, and this is an INSERT; leave INSERT INTO out, and call write(sink)",
    ),
    "the pair where the value is": (
        lambda: pairs().map_values(lambda pair: pair[1]),
        "map_values lambda pair: pair[1] raises TypeError: 'int' object is not subscriptable on the first records; write lambda value: …; it is given the value of each pair, not the pair",
    ),
    "a service that gives a list": (
        lambda: pairs().left_join(Listing()),  # type: ignore[call-overload]
        "get_many of Listing gave a list, and is to give a mapping of keys to values; return {key: …}, without the keys that it does not know",
    ),
    "a stream that writes nothing": (
        lambda: ouzel.run(pairs(), "memory"),
        "this stream writes nothing; end it with write(sink), or call table() for its records",
    ),
    "a stream for a spout": (
        lambda: _built(pairs()),
        "'lines' is no Spout but Stream[tuple[str, int]]; a stream is a topology by itself: call table(), run() or start() of it",
    ),
    "a store that is asked itself": (
        lambda: FolderStore("totals").get_many(["a"]),  # type: ignore[attr-defined]
        "a batch store has no get_many; call version().get_many(…), of its newest totals, or ask a ClientStore",
    ),
    "the largest of totals": (
        lambda: pairs().sum_by_key(monoid.Sum()).map(lambda pair: (0, pair[1])).sum_by_key(monoid.TopK(2)).job(),
        "the sum at LINE: TopK cannot take back what it has added, and the values change; write sql('SELECT * FROM this ORDER BY value DESC LIMIT 5') for the largest of all",
    ),
    "a program for a store that writes nothing": (
        lambda: pairs().job(answers=False),
        "this stream writes nothing; end it with write(sink)",
    ),
    "a function that says no types": (
        lambda: ouzel.query(LINES, functions=[added]),  # type: ignore[list-item]
        "SQL cannot call added, which says no types of its arguments and its result; put @ouzel.function((str,), str) above def added",
    ),
    "functions by name": (
        lambda: ouzel.query(LINES, functions={"plus": 1}),  # type: ignore[arg-type]
        "functions= takes a list of functions, and not {'plus': 1}; write functions=[function]",
    ),
    "one function": (
        lambda: ouzel.query(LINES, functions=ouzel.function((str,), str)(added)),  # type: ignore[arg-type]
        "functions= takes a list of functions, and not the function added; write functions=[function]",
    ),
    "a monoid for a function": (
        lambda: ouzel.query(LINES, functions=[monoid.TopK(3)]),  # type: ignore[list-item]
        "SQL cannot call TopK(size=3), which says no types of its arguments and its result; write monoid.as_function(TopK(size=3))",
    ),
    "a decorator without types": (
        lambda: ouzel.function(added),  # type: ignore[arg-type]
        "@ouzel.function takes the types of the arguments and of the result, and above added it is given none; write @ouzel.function((str,), str, by_row=True) above def added",
    ),
    "settings as a dictionary": (
        lambda: ouzel.query(LINES, settings={"parallelism": 2}),
        "there is no setting 'settings'; write each setting by its name: parallelism=2",
    ),
    "a delay below nothing": (
        lambda: orders().event_time("ts", -HOUR),
        "the delay is -3600 s, and no record can come before it happened; write timedelta(0) or more",
    ),
    "a verb of another style": (
        lambda: pairs().leftJoin(pairs()),
        "a stream has no leftJoin; did you mean left_join?",
    ),
    "a join of both sides": (
        lambda: pairs().cogroup(pairs()),
        "a stream has no cogroup(); call a.left_join(b) and b.left_join(a), or sql() with FULL JOIN",
    ),
    "tasks of a step": (
        lambda: pairs().set_parallelism(4),
        "a stream has no set_parallelism(); call name('x'), and run(options={'x': StepOptions(parallelism=4)}); the setting parallelism is of all steps",
    ),
    "a source of a list": (
        lambda: Source.from_collection(["a"]),
        "there is no connector 'from_collection'; write Source.of([…]) of the records",
    ),
    "a source by its format": (
        lambda: Source.read_parquet("a.parquet"),
        "there is no connector 'read_parquet'; write Source.file('path', format='parquet')",
    ),
    "a monoid by another name": (
        lambda: monoid.Average(),  # type: ignore[attr-defined]
        "there is no monoid Average; write monoid.Mean()",
    ),
    "a misspelt monoid": (
        lambda: monoid.HyperLoglog(),  # type: ignore[attr-defined]
        "there is no monoid HyperLoglog; write monoid.HyperLogLog()",
    ),
    "two monoids": (
        lambda: pairs().sum_by_key((monoid.Sum(), monoid.Count())),  # type: ignore[arg-type]
        "sum_by_key adds up by a monoid, and (Sum(), Count()) is none; map the values to tuples, one part for each, and write monoid.TupleOf((…, …)) of these monoids",
    ),
    "a tuple of no tuples": (
        lambda: pairs().sum_by_key(monoid.TupleOf((monoid.Sum(), monoid.Max()))),  # type: ignore[arg-type]
        "TupleOf() adds up no BIGINT; map the values to what it takes: of values that are tuples, or ROWs, each field by a monoid of its own: `TupleOf((Sum(), Max()))`",
    ),
    "a stream of a list": (
        lambda: Stream(["a"]),  # type: ignore[arg-type]
        "a stream is not made of ['a']; write Source.of([…]), or Source.file(…)",
    ),
    "a field that a record never had": (
        lambda: orders().map(lambda order: order.zzz),
        "map lambda order: order.zzz raises AttributeError: 'Order' object has no attribute 'zzz' on the first records; it has customer, ts, amount",
    ),
    "a window of a join": (
        lambda: pairs().join(pairs()).sum_by_window(monoid.Count(), HOUR),
        "there are windows only of streams that have a time, and what comes of LINE has none; give its records a datetime, and call event_time(column, delay) behind it",
    ),
    "a set of values": (
        lambda: pairs().map(lambda pair: {pair[0]}),
        "it is not known which type map lambda pair: {pair[0]} gives: it has no annotation, and no column holds values of the type set: make it a list",
    ),
    "a field that the file has not": (
        lambda: Source.file(AIRLINES, Airline, format="parquet").map(lambda one: one.nmae),
        "map lambda one: one.nmae reads a source that cannot be read (at LINE): FOLDER/sql_examples/data/airlines.parquet has no column 'nmae'; it has carrier, name; did you mean name?",
    ),
    "a field of another type": (
        lambda: Source.file(FLIGHTS, Flight, format="parquet").map(lambda one: one.ts),
        "map lambda one: one.ts reads a source that cannot be read (at LINE): FOLDER/sql_examples/data/flights.parquet holds column 'ts' as TIMESTAMP, and the table declares it VARCHAR, which cannot take every value of it; give the field the type that the file has, and map it to another",
    ),
    "a table without a record": (
        lambda: Source.file(AIRLINES, format="parquet").map(lambda one: one.name),  # type: ignore[attr-defined]
        "map lambda one: one.name reads a source that cannot be read (at LINE): FOLDER/sql_examples/data/airlines.parquet has no column 'value'; it has carrier, name; give it the type of its records, a dataclass or a named tuple whose fields are called as these columns",
    ),
    "a type before its path": (
        lambda: Source.file(Order, "orders.csv", format="csv"),  # type: ignore[call-overload]
        "what the connector file reads or writes is a text, and Order is none; write its path or name first: file('path or name', Order, …)",
    ),
    "the format before the record": (
        lambda: Source.file("orders.csv", "csv", Order),  # type: ignore[call-overload]
        "Source.file takes what it reads, then the type of a record, and options by their names, not 'csv', Order; write Source.file('orders.csv', Order, format='csv')",
    ),
    "a setting that is nearly one": (
        lambda: pairs().table("memory", max_pending=1000),
        "there is no setting 'max_pending'; did you mean 'max_pending_rows'?",
    ),
    "settings for an engine": (
        lambda: ouzel.table(pairs(), {"parallelism": 4}),  # type: ignore[arg-type]
        "the engine is a text, and {'parallelism': 4} is none; write heron, memory or spark; settings go by their names, parallelism=4, to the methods of a stream and to ouzel.query",
    ),
    "a frame that is to run": (
        lambda: ouzel.start(pl.DataFrame()),  # type: ignore[arg-type]
        "shape: (0, 0)\n┌┐\n╞╡\n└┘ is nothing that runs; give the text of a query, the Path of its file, a stream, or what ouzel.query or TopologyBuilder.build gives",
    ),
    "a function with annotations that the decorator is not given": (
        lambda: ouzel.function(doubled),  # type: ignore[arg-type]
        "@ouzel.function takes the types of the arguments and of the result, and above doubled it is given none; write @ouzel.function((int,), int, by_row=True) above def doubled",
    ),
    "an expression in a map": (
        lambda: orders().map(col("amount") * 2),  # type: ignore[arg-type]
        "map takes a function, not amount * 2; expressions make columns by select: write select(name=amount * 2)",
    ),
    "a function that gives an expression": (
        lambda: orders().map(lambda order: col("amount")),
        """map lambda order: col("amount") gives the expression amount, which is computed of columns and not of a record; write select(name=amount), or a function of the record: lambda record: record.field""",
    ),
    "records one by one": (
        lambda: Source.of(1, 2, 3),  # type: ignore[call-arg, arg-type]
        "Source.of takes a list of records, and the type of one: too many positional arguments; write Source.of([1, 2, 3])",
    ),
    "a type that is no tuple": (
        lambda: ouzel.function(str, int)(len),  # type: ignore[arg-type]
        "the function len has the parameters <class 'str'>, and they are to be a tuple of types; write @ouzel.function((str,), int)",
    ),
}
"""Told by the call that is wrong."""

FROM_ELSEWHERE_WHEN_RUN: dict[str, Mistake] = {
    "a fold over values": (
        lambda: (
            numbers(("a", "x"), ("a", "y"))
            .sum_by_key(monoid.UserDefined("listed", [], appended, list[str], commutative=True))
            .table("memory")
        ),
        "PLACE: the monoid listed raised AttributeError: 'str' object has no attribute 'append' (at LINE); add(a, b) is given two totals: say lift=function for what makes a total of a value",
    ),
    "a time with a zone": (
        lambda: Source.of([Order(1, datetime(2026, 1, 1, tzinfo=UTC), 2.5)], Order).table("memory"),
        'bad record at records[0]: Source.of records gave what does not fit (customer BIGINT, ts TIMESTAMP(6), amount DOUBLE), the type that it has; at LINE; a TIMESTAMP has no time zone: write time.astimezone(UTC).replace(tzinfo=None), or the field\'s type as Annotated[datetime, \'TIMESTAMP_LTZ(6)\']: {"customer": 1, "ts": "2026-01-01 00:00:00+00:00", "amount": 2.5}\nthe setting error_policy=\'skip\' or \'dead-letter\' goes on without such records',
    ),
}
"""Told when a record comes."""
