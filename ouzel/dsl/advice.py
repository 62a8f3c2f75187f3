"""What is told to who calls a verb as another library spells it, or gives it something else than it takes."""

from __future__ import annotations

from datetime import timedelta

from ouzel.dsl.producers import ConnectorTable
from ouzel.errors import QueryError
from ouzel.monoid import Monoid

KEYED = "map to pairs, map(lambda record: (key, value)), and call sum_by_key(monoid)"

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
    "sort": "call sql('SELECT … ORDER BY … LIMIT n')", "compute": "call table()", "execute": "call table()",
}  # fmt: skip
"""Verbs of other libraries, and what to write here."""


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
    raise QueryError(
        f"{verb} adds up by a monoid, and {said} is none",
        instead=f"write monoid.{said}()" if made else "write a monoid first, sum_by_key(monoid.Sum(), store)",
    )


def check_table(verb: str, given: object, kind: str) -> None:
    """See that something can be written to.

    Raises:
        QueryError: it cannot; says what to write.
    """
    if not isinstance(given, ConnectorTable):
        raise QueryError(f"{verb} writes to a table, and {given!r} is none", instead=f"write {kind}.file('path', …)")


def check_span(what: str, given: object) -> None:
    """See that something is a span of time.

    Raises:
        QueryError: it is not.
    """
    if not isinstance(given, timedelta):
        raise QueryError(f"{what} is a timedelta, and {given!r} is none", instead="write timedelta(minutes=5)")
