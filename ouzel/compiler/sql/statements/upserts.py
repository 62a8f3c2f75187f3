"""A table whose records replace each other by key: the latest record of each key, unless it says that the key is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ouzel.compiler.catalog import ConnectorTraits, UpsertTraits
from ouzel.compiler.expressions import Column, Expression, Literal, columns, conjunction
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Filter, Node, Project, Scan, SortKey, TopN
from ouzel.compiler.sql.queries.scope import fresh
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import CreateTable
from ouzel.compiler.types import BOOLEAN, DataType, Field, Schema
from ouzel.errors import QueryError

MODE = "'changelog.mode' = 'upsert'"
"""What WITH says of such a table."""


@dataclass(frozen=True)
class KeyedLog:
    """How such a table is read, and its key."""

    traits: UpsertTraits
    keys: tuple[str, ...]


def keyed_log(
    source: QueryText,
    statement: CreateTable,
    traits: ConnectorTraits,
    options: Mapping[str, str],
    keys: tuple[str, ...],
    scan: Scan,
) -> KeyedLog | None:
    """How the table is read if its records replace each other by key; None if each is a row of its own.

    Raises:
        QueryError: it has no key, event time, a key that is computed, a value that may be missing, or no such column as its options name.
    """
    asked = traits.upserts(options)
    if asked is None:
        return None
    refuse = _Refusal(source, statement)
    if not keys:
        raise refuse(
            "its records replace each other by key, and it has no PRIMARY KEY", "add PRIMARY KEY (column) NOT ENFORCED"
        )
    for name in keys:
        if name not in scan.schema.names:
            raise refuse(f"the column {name} of its PRIMARY KEY is computed", "name columns that its records have")
    if statement.watermarks:
        raise source.error(
            "a row that is replaced goes at any time after its own, so such a table has no event time",
            statement.watermarks[0].column.span,
            f"leave WATERMARK out; read without {MODE} each record of {statement.name.text} is a row, and can have one",
        )
    if asked.deleted and (asked.deleted not in scan.schema.names or scan.schema[asked.deleted].type != BOOLEAN):
        raise refuse(f"it has no BOOLEAN column {asked.deleted}", "name one in 'changelog.deleted'")
    for field in scan.columns:
        if asked.gone and not field.nullable and field.name not in (*keys, *dict(scan.metadata)):
            raise refuse(
                f"a record without a value has no {field.name}, which is NOT NULL",
                f"leave NOT NULL out of {field.name}",
            )
    return KeyedLog(asked, keys)


@dataclass(frozen=True)
class _Refusal:
    source: QueryText
    statement: CreateTable

    def __call__(self, problem: str, instead: str) -> QueryError:
        name = self.statement.name
        return self.source.error(f"the table {name.text} cannot be read so: {problem}", name.span, instead)


def latest_rows(log: KeyedLog, scan: Scan, metadata: Mapping[str, DataType]) -> Node:
    """The rows that the table has: of each key the last record in the source's order, unless that says that it is gone."""
    traits, taken = log.traits, list(scan.schema.names)
    hidden: dict[str, str] = {}
    for key in (*traits.order, *([traits.gone] if traits.gone else [])):
        hidden[key] = fresh(f"${key}", [*taken, *hidden.values()])
    fields = tuple(replace(field, nullable=field.nullable and field.name not in log.keys) for field in scan.columns)
    beside = tuple(Field(name, metadata[key], False) for key, name in hidden.items())
    read = replace(
        scan,
        columns=Schema((*fields, *beside)),
        metadata=(*scan.metadata, *((name, key) for key, name in hidden.items())),
        options=(*scan.options, *traits.options(log.keys).items()),
    )
    order = tuple(SortKey(hidden[key], descending=True, nulls_last=True) for key in traits.order)
    last = TopN(read, log.keys, order, (), "row_number", 1, written=scan.written)
    names = [hidden[traits.gone]] if traits.gone else []
    kept = [_is_not_true(Column(BOOLEAN, name)) for name in (*names, *([traits.deleted] if traits.deleted else []))]
    left = Filter(last, conjunction(kept), written=scan.written) if kept else last
    shown = columns(Schema(fields))
    return Project(left, tuple(zip(scan.schema.names, shown, strict=True)), written=scan.written)


def _is_not_true(flag: Column) -> Expression:
    return resolve_call("not", [resolve_call("coalesce", [flag, Literal(BOOLEAN, False)])])
