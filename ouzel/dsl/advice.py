"""Advice in errors: a verb is called by another library's name, or with a wrong argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from ouzel.compiler.records import MIXED
from ouzel.dsl.expressions import Expr
from ouzel.dsl.producers import ConnectorTable
from ouzel.errors import QueryError
from ouzel.monoid import Monoid

U = TypeVar("U")

KEYED = "map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid)"

WHOLE = "call table() for all its records, or show(n) for the first"

ELSEWHERE = {
    "group_by": KEYED, "groupby": KEYED, "key_by": KEYED, "key_on": KEYED, "group_by_key": KEYED, "combine_per_key": KEYED,
    "reduce": KEYED, "reduce_by_key": KEYED, "fold": KEYED, "aggregate": KEYED, "agg": KEYED, "count": KEYED,
    "sum": KEYED, "distinct": "map to pairs, and call sum_by_key(monoid.Count()).keys()",
    "unique": "map to pairs, and call sum_by_key(monoid.Count()).keys()",
    "window": "call event_time(column, delay), and sum_by_window(monoid, size)",
    "window_by": "call event_time(column, delay), and sum_by_window(monoid, size)",
    "with_columns": "call select(name=expression)", "union": "call merge(other), or write a + b",
    "concat": "call merge(other), or write a + b", "inner_join": "call join(other)", "where": "call filter(condition)",
    "filter_map": "call option_map(function)", "apply": "call map(function)", "sink": "call write(Sink.file(…))",
    "to": "call write(Sink.file(…))", "output": "call write(Sink.file(…))", "to_pandas": "call tables(form='pandas')",
    "head": "call show(n)", "limit": "call show(n), or sql('SELECT … LIMIT n')",
    "with_column": "call select(name=expression)", "rows": "call table().rows()", "results": "call table(), or start()",
    "status": "call start(), whose run has one", "stop": "call start(), whose run has it", "to_list": "call memory(), or table().rows()",
    "sort": "call sql('SELECT … ORDER BY … LIMIT n')", "compute": "call table()", "execute": "call table()",
}  # fmt: skip
"""Verbs of other libraries, and what to write here."""


MONOIDS = {
    sum: "Sum()", max: "Max()", min: "Min()", len: "Count()", any: "Or()", all: "And()", list: "ListOf()", set: "SetOf()",
    "sum": "Sum()", "max": "Max()", "min": "Min()", "count": "Count()", "mean": "Mean()", "avg": "Mean()", "list": "ListOf()",
}  # fmt: skip
"""What others add up by, and the monoid that does."""


def spelled_in_python(error: QueryError, options: Iterable[str]) -> QueryError:
    """The error with options as a program writes them: `csv_delimiter=';'` for SQL's `'csv.delimiter' = ';'`."""

    def respell(text: str) -> str:
        for name in options:
            written = re.sub("[.-]", "_", name)
            text = text.replace(f"'{name}' = ", f"{written}=").replace(f"'{name}'", written)
            if written != name:
                text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", written, text)
        return text.replace(" to WITH:", ":")

    return QueryError(respell(error.problem), instead=respell(error.instead))


def advise_of_type(why: str) -> str:
    """What to write where given records have no type that columns hold, for a reason or none."""
    if not why:
        return "write Source.of(records, tuple[str, int]) with the type of a record"
    if why.startswith(MIXED):
        return "make all of one type, as by str(record)"
    return "make it a dataclass, with @dataclass above the class, or a tuple of what columns hold: docs/dsl.md lists it"


def advise_of_verb(verb: str, fields: Iterable[str]) -> str:
    """What is wrong with an attribute that a stream has not, whose records have these fields."""
    other = re.sub("(?<=[a-z])(?=[A-Z])", "_", verb).lower()
    if other in ELSEWHERE:
        return f"a stream has no {verb}(); {ELSEWHERE[other]}"
    if verb in fields:
        return (
            f"a stream has no {verb}, but its records have; "
            f"write a function of a record, lambda record: record.{verb}, or col({verb!r})"
        )
    return f"a stream has no {verb}; see docs/dsl.md for what it has"


def mapping_of(given: Mapping[Any, U] | None) -> Mapping[Any, U]:
    """What is given to `collect`.

    Raises:
        QueryError: it is no mapping; says what to write.
    """
    if isinstance(given, Mapping):
        return given
    if given is None:
        raise QueryError("collect looks records up in a mapping, and none is given", instead=WHOLE)
    raise QueryError(
        "collect looks records up in a mapping, and this is none", instead="call option_map(function) for a function"
    )


def check_column(verb: str, given: object) -> None:
    """See that something is the name of a column.

    Raises:
        QueryError: it is not.
    """
    if not isinstance(given, str):
        shown = "a function" if callable(given) else f"{given!s:.60}"
        raise QueryError(f"{verb} takes the name of a column, not {shown}", instead=f"write {verb}('ts', delay)")


def check_monoid(verb: str, given: object) -> None:
    """See that something is a monoid.

    Raises:
        QueryError: it is not; says what to write.
    """
    if isinstance(given, Monoid):
        return
    said = given.__name__ if isinstance(given, type) else repr(given)
    made = isinstance(given, type) and issubclass(given, Monoid)
    if isinstance(given, ConnectorTable):
        said = f"the store '{given.name}'"
    known = MONOIDS.get(given) if isinstance(given, str | type) or inspect.isbuiltin(given) else None
    instead = "write a monoid first, sum_by_key(monoid.Sum(), store)"
    if known is not None or inspect.isroutine(given):
        said = given if isinstance(given, str) else getattr(given, "__name__", said)
        instead = f"write monoid.{known}" if known else "write monoid.Sum(), or a monoid.UserDefined(...) that calls it"
    raise QueryError(
        f"{verb} adds up by a monoid, and {said} is none", instead=f"write monoid.{said}()" if made else instead
    )


def check_arity(function: Callable[..., Any], called: str) -> None:
    """See that a function can be called with one record.

    Raises:
        QueryError: it cannot; says what to write.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of many that are written in C nothing is known
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise QueryError(
            f"{called} is given one record and nothing else, and as its arguments are {signature}, that fails: {error}",
            instead="take a pair as one argument: lambda pair: … pair[0] … pair[1]",
        ) from None


def check_records(given: object) -> None:
    """See that these are records, one after the other, and nothing whose parts would be taken for them.

    Raises:
        QueryError: they are not; says what to write.
    """
    kind = type(given).__name__
    if isinstance(given, str | bytes):
        shown = given[:20]
        told, instead = f"{shown!r} is one {kind}, and its parts are no records", f"write Source.of([{shown!r}])"
    elif isinstance(given, Mapping):
        told, instead = (
            "a mapping gives its keys alone",
            "write Source.of(mapping.items()) for pairs, or Source.of(list(mapping))",
        )
    elif hasattr(given, "columns") and hasattr(
        given, "shape"
    ):  # Polars' and pandas' frames: they give columns, and their names
        rows = "rows" if hasattr(given, "rows") else "itertuples"
        arguments = "" if rows == "rows" else "index=False, name=None"
        told = f"a {kind} gives its columns, and they are no records"
        instead = f"write Source.of(frame.{rows}({arguments}), tuple[str, int]) with their types, or read its file: Source.file"
    elif not isinstance(given, Iterable):
        told, instead = f"{given!r} holds no records", "write Source.of([…])"
    else:
        return
    raise QueryError(told, instead=instead)


def check_table(verb: str, given: object, kind: str) -> None:
    """See that something can be written to.

    Raises:
        QueryError: it cannot; says what to write.
    """
    if not isinstance(given, ConnectorTable):
        raise QueryError(f"{verb} writes to a table, and {given!r} is none", instead=f"write {kind}.file('path', …)")


def check_expressions(items: Mapping[str, object]) -> None:
    """See that columns are made by expressions.

    Raises:
        QueryError: one is not; says what to write.
    """
    for name, given in items.items():
        if isinstance(given, Expr):
            continue
        advice = f"write select({name}=lit({given!r}))"
        if callable(given):
            advice = "call map(function), or write an expression: fn.lower(col('name'))"
        if isinstance(given, str):
            advice = f"write select({name}=col({given!r})) for a column, or lit({given!r}) for the text"
        shown = "a function" if callable(given) else f"{given!r:.60}"
        raise QueryError(f"select makes columns by expressions, and {name}={shown} is none", instead=advice)


def check_span(what: str, given: object) -> None:
    """See that something is a span of time.

    Raises:
        QueryError: it is not.
    """
    if not isinstance(given, timedelta):
        raise QueryError(f"{what} is a timedelta, and {given!r} is none", instead="write timedelta(minutes=5)")
