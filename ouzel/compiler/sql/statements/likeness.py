"""CREATE TABLE ... LIKE: a table with the columns, key, watermark and options of another, as far as it asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.statements.finding import clauses_of
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import (
    ColumnClause,
    CreateTable,
    LikeClause,
    Name,
    WatermarkClause,
    WrittenOption,
)
from ouzel.compiler.types import INTERVAL, INTERVAL_MONTHS, NULL, Field, Schema

_FEATURES = ("CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "WATERMARKS")
_STRATEGIES = ("INCLUDING", "EXCLUDING", "OVERWRITING")


def with_likeness(source: QueryText, statement: CreateTable, like: LikeClause, other: CreateTable) -> CreateTable:
    """The statement with what it takes from another table.

    Raises:
        QueryError: an unknown word, or what both have and only one can.
    """
    chosen = _strategies(source, like)
    columns = _columns(source, statement, like, other, chosen)
    watermarks, keys = statement.watermarks, statement.keys
    if chosen["WATERMARKS"] != "EXCLUDING":
        overwritten = chosen["WATERMARKS"] == "OVERWRITING"
        watermarks = _one(source, like, "WATERMARK", statement.watermarks, other.watermarks, overwritten)
    if chosen["CONSTRAINTS"] != "EXCLUDING":
        keys = _one(source, like, "PRIMARY KEY", statement.keys, other.keys, False)
    options = _options(source, statement, like, other, chosen)
    return replace(statement, columns=columns, watermarks=watermarks, keys=keys, options=options, like=None)


def _strategies(source: QueryText, like: LikeClause) -> dict[str, str]:
    """The strategy for each feature; the empty text has the default."""
    chosen = dict.fromkeys(_FEATURES, "")
    for strategy, feature, span in sorted(like.words, key=lambda word: word[1] != "ALL"):
        known = strategy in _STRATEGIES and (feature in _FEATURES or (feature == "ALL" and strategy != "OVERWRITING"))
        if not known or (strategy, feature) == ("OVERWRITING", "CONSTRAINTS"):
            raise source.error(
                f"LIKE does not know {strategy} {feature}",
                span,
                f"write {', '.join(_STRATEGIES[:-1])} or {_STRATEGIES[-1]}, and ALL, {', '.join(_FEATURES[:-1])} or {_FEATURES[-1]}",
            )
        chosen |= dict.fromkeys(_FEATURES if feature == "ALL" else (feature,), strategy)
    return chosen


def _columns(
    source: QueryText, statement: CreateTable, like: LikeClause, other: CreateTable, chosen: dict[str, str]
) -> tuple[ColumnClause, ...]:
    own = {column.name.text: column for column in statement.columns}
    taken = []
    for column in other.columns:
        feature = "GENERATED" if column.expression else "METADATA" if column.metadata is not None else ""
        if chosen.get(feature) == "EXCLUDING":
            continue
        again = own.get(column.name.text)
        if again is None:
            taken.append(column)
        elif chosen.get(feature) != "OVERWRITING":
            advice = f"rename it, or write OVERWRITING {feature}" if feature else "rename it"
            raise source.error(f"{like.name.text} has a column {column.name.text} too", again.name.span, advice)
    return (*taken, *statement.columns)


Clause = TypeVar("Clause", WatermarkClause, tuple[Name, ...])


def _one(
    source: QueryText, like: LikeClause, what: str, own: Sequence[Clause], others: Sequence[Clause], overwritten: bool
) -> tuple[Clause, ...]:
    """The own clause, or the other's."""
    if own and others and not overwritten:
        first = own[0]
        span = first.column.span if isinstance(first, WatermarkClause) else first[0].span
        feature = "WATERMARKS" if isinstance(first, WatermarkClause) else "CONSTRAINTS"
        raise source.error(f"{like.name.text} has a {what} too", span, f"remove it, or write EXCLUDING {feature}")
    return tuple(own or others)


def _options(
    source: QueryText, statement: CreateTable, like: LikeClause, other: CreateTable, chosen: dict[str, str]
) -> tuple[WrittenOption, ...]:
    """The own options before the other's; those of another connector are not taken unless the statement says so."""
    own = {option.key: option for option in statement.options}
    theirs = {option.key: option for option in other.options}
    strange = "connector" in own and "connector" in theirs and own["connector"].value != theirs["connector"].value
    if chosen["OPTIONS"] == "EXCLUDING" or (strange and not chosen["OPTIONS"]):
        return statement.options
    if chosen["OPTIONS"] == "INCLUDING":
        for key in own.keys() & theirs.keys():
            raise source.error(
                f"{like.name.text} has an option '{key}' too", own[key].span, "write OVERWRITING OPTIONS, or remove it"
            )
    return tuple({**theirs, **own}.values())


def columns_as_clauses(source: QueryText, relation: Relation, span: Span) -> tuple[ColumnClause, ...]:
    """The columns of a view or query, as if they were declared at `span`.

    Raises:
        QueryError: no column can have the type of one.
    """
    shown = [column for column in relation.columns if not column.hidden]
    for column in shown:
        kind = relation.column(column).type
        if kind in (NULL, INTERVAL, INTERVAL_MONTHS):
            raise source.error(
                f"the column {column.name} is {kind}, which a table cannot hold",
                span,
                f"CAST {column.name} in the query",
            )
    return tuple(clauses_of(Schema(tuple(Field(column.name, relation.column(column).type) for column in shown)), span))
