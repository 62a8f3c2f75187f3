"""Hints: PARALLELISM, GROUPING and those of joins, by alias or table of a SELECT, or by the name of a component as EXPLAIN shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ouzel.compiler.plan import Hints
from ouzel.compiler.sql.queries.scope import near
from ouzel.compiler.sql.queries.sides import refuse_unused_side
from ouzel.compiler.sql.queries.ttl import refuse_unused
from ouzel.compiler.sql.syntax.shells import read_hints
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import NAMING, HintPair
from ouzel.errors import NotSupported, QueryError

_GROUPINGS = ("shuffle", "fields", "all", "global", "local", "none", "partial-key")


_KNOWN = {"PARALLELISM": "2", "GROUPING": "shuffle", "STATE_TTL": "1d"}
"""Our hints, and a value of each."""

Places = dict[tuple[str, str], Span]
"""Where a hint was written, by its name and the name that it speaks of."""


def gather_hints(
    source: QueryText, scopes: Sequence[tuple[Span, Mapping[str, str]]], bounding: Set[Span]
) -> tuple[Hints, Places]:
    """All hints of the file, and where they stand; an alias of a table stands for the table.

    Of two for one name the last wins, as in Flink. `scopes` are the file's queries, each with the table that its aliases stand for;
    `bounding` is where those stand that say of a join how it is made: STATE_TTL and BROADCAST.

    Raises:
        QueryError: an unknown hint, grouping or number.
    """
    parallelism: dict[str, int] = {}
    grouping: dict[str, str] = {}
    places: Places = {}
    for pair in read_hints(source):
        if pair.hint in _KNOWN and not pair.name:
            advice = f"write {pair.hint}('table' = '{_KNOWN[pair.hint]}')"
            raise source.error(f"the hint {pair.hint} says nothing", pair.span, advice)
        name = _table(pair, scopes)
        places[pair.hint, name] = pair.span
        match pair.hint:
            case "PARALLELISM":
                parallelism[name] = _tasks(source, pair)
            case "GROUPING":
                grouping[name] = _grouping(source, pair)
            case "STATE_TTL":
                if pair.span not in bounding:
                    _refuse_unknown_table(source, pair, scopes)
                    raise refuse_unused(source, pair)
            case hint if hint in NAMING:
                if pair.span not in bounding:
                    raise refuse_unused_side(source, pair, _aliases_of(pair, scopes))
            case _:
                raise _unknown(source, pair)
    return Hints(tuple(parallelism.items()), tuple(grouping.items())), places


def _aliases_of(pair: HintPair, scopes: Sequence[tuple[Span, Mapping[str, str]]]) -> Mapping[str, str]:
    return next((aliases for (start, end), aliases in scopes if start <= pair.span[0] < end), {})


def _table(pair: HintPair, scopes: Sequence[tuple[Span, Mapping[str, str]]]) -> str:
    aliases = _aliases_of(pair, scopes)
    folded = {alias.lower(): table for alias, table in aliases.items()}
    return aliases.get(pair.name) or folded.get(pair.name.lower(), pair.name)


def _refuse_unknown_table(source: QueryText, pair: HintPair, scopes: Sequence[tuple[Span, Mapping[str, str]]]) -> None:
    aliases = _aliases_of(pair, scopes)
    if aliases and pair.name.lower() not in map(str.lower, aliases):
        problem = f"there is no table {pair.name} in the query of this hint"
        raise source.error(problem, pair.span, near(pair.name, aliases))


def _tasks(source: QueryText, pair: HintPair) -> int:
    if not pair.value.isdigit() or int(pair.value) < 1:
        raise source.error(f"'{pair.value}' is not a number of tasks", pair.span, f"write '{pair.name}' = '2'")
    return int(pair.value)


def _grouping(source: QueryText, pair: HintPair) -> str:
    kind = pair.value.lower().replace("_", "-")
    if kind not in _GROUPINGS:
        raise source.error(f"there is no grouping '{pair.value}'", pair.span, f"write one of {', '.join(_GROUPINGS)}")
    return kind


_ELSEWHERE = {
    "LOOKUP": "leave it out: how a table is asked stands in its WITH, as 'lookup.cache' = 'PARTIAL'",
    **dict.fromkeys(
        (
            "SHUFFLE_HASH",
            "SHUFFLE_MERGE",
            "SHUFFLE_REPLICATE_NL",
            "MERGE",
            "MERGEJOIN",
            "NEST_LOOP",
        ),
        "leave it out: rows of both inputs go to the task of their key, or each task reads a small table whole, as BROADCAST says",
    ),
    "MULTI_JOIN": "leave it out",
    "OPTIONS": "write the options into WITH of the CREATE TABLE",
}
"""Hints of Flink and of Spark, and what to write instead."""


def _unknown(source: QueryText, pair: HintPair) -> QueryError:
    if pair.hint in _ELSEWHERE:
        return source.error(f"the hint {pair.hint} is not supported", pair.span, _ELSEWHERE[pair.hint], NotSupported)
    return source.error(
        f"there is no hint {pair.hint}", pair.span, "the hints are PARALLELISM, GROUPING, STATE_TTL and BROADCAST"
    )
