"""What the compiler needs to know of connectors, without importing one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ouzel.compiler.types import DataType, Schema

RESULT = "result"
"""Table and connector of a trailing SELECT."""

VALUES = "values"
"""Table and connector that VALUES and a SELECT without FROM read: a single row."""


@dataclass(frozen=True)
class AskedTraits:
    """How a table is asked by key: by which column, empty if nothing says so, and of how many keys a task remembers the answer how long."""

    key: str
    rows: int
    expires_ms: int


@dataclass(frozen=True)
class SourceTraits:
    """What a plan needs to know of a table that is read: what its connector says of it for its options.

    Args:
        shared: other processes than the user's own can read it.
        at_rest: reading it twice gives the same rows and costs little.
        bounded: it ends.
        changelog: its rows carry weights, as rows may be taken back.
        by_token: after a crash it gives single records again that were not acknowledged, and not all from an offset on.
        kept: a batch can read it, be it by token: what a run has handled is kept.
        spark: the name or import path of Spark's own reader; empty if there is none.
        asked: how it is asked by key, and is no stream; None if it is read.
        fixed_tasks: why the number of tasks that read it cannot change once some have read; empty if it can.
    """

    shared: bool
    at_rest: bool
    bounded: bool
    changelog: bool
    by_token: bool
    kept: bool
    spark: str
    asked: AskedTraits | None = None
    fixed_tasks: str = ""


@dataclass(frozen=True)
class UpsertTraits:
    """How a table is read whose records replace each other by key.

    Args:
        order: metadata keys by which the later of two records of one key is the greater.
        gone: the metadata key that is true of a record which says only that its key is gone; empty if none can.
        deleted: the table's own column that is true of such a record; empty if there is none.
        options: what WITH is to have beside what it has, the key's columns given.
    """

    order: tuple[str, ...]
    gone: str
    deleted: str
    options: Callable[[Sequence[str]], dict[str, str]]


@dataclass(frozen=True)
class SinkTraits:
    """What a plan needs to know of a table that is written.

    Args:
        alone: one task writes it, so that there is one order.
        returned: its rows are handed to whoever started the run.
        once: a batch that comes again after a crash is not written twice.
        spark: the name or import path of Spark's own writer; empty if there is none.
        changes_by: the option and its value without which it only takes new rows, though its modes say more.
        replaces: called with the WITH options; whether a row takes the place of the one that has its key, even where none changes.
        merged: called with the WITH options; by which aggregate each column is added to that of the row that has its key; empty if a
            table does not add up.
        publishes: the rows of an epoch can be made visible all at once, and once.
    """

    alone: bool
    returned: bool
    once: bool
    spark: str
    changes_by: tuple[str, str] | None = None
    replaces: Callable[[Mapping[str, str]], bool] = lambda options: False
    merged: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda options: {}
    publishes: bool = False


def load_named(path: str) -> Any:
    """The object that an import path `package.module:name` names: rows refer to their handlers so, which are imported when first used."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


UNREAD = SourceTraits(shared=False, at_rest=False, bounded=False, changelog=False, by_token=False, kept=False, spark="")
"""Of a table that is only written."""

GIVEN_ROWS = SourceTraits(
    shared=True,
    at_rest=True,
    bounded=True,
    changelog=False,
    by_token=False,
    kept=True,
    spark="given rows",
)
"""Of VALUES, and of records that a program holds."""

RETURNED = SinkTraits(alone=True, returned=True, once=True, spark="shown")
"""Of a trailing SELECT."""


@dataclass(frozen=True)
class FoundTable:
    """What a table holds that declares no columns.

    Args:
        columns: those that were found.
        options: some that WITH lacks, without which the data would be read otherwise than it was looked at.
        notes: sentences for the user.
    """

    columns: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConnectorTraits:
    """One connector as the compiler sees it.

    Args:
        name: what 'connector' = says.
        reads: called with the WITH options, without 'connector'; how such a table is read. None if it cannot be.
        writes: how a table of it is written. None if it cannot be.
        modes: what its sink accepts: append, upsert, retract.
        filters: its source applies a pushed-down predicate.
        upserts: called with the WITH options; how such a table is read if its records replace each other by key, else None.
        can_upsert: whether there are options that ask for that.
        metadata: metadata keys a table may ask for, with their types.
        secrets: called with the WITH options, without 'connector'; which of them hold a secret as it is.
        canonical: called with the WITH options, without 'connector'; the same in the connector's own names; raises QueryError.
        check: called with these; raises QueryError for an unknown, missing or wrong one.
        quoted: called with these; the option that lists columns whose names are quoted in the table's definition, empty if there is none.
        epoch: called with these; what times count that come as numbers (seconds, millis, micros, nanos), empty if they come as times.
        unwritable: called with these; why such a table cannot be written, though others of the connector can; empty if it can.
        infer: called with these; what the table holds, or None where they do not say enough; raises OuzelError. None if columns have to be
            declared.
        functions: names of functions that give a table, as `read_csv`.
        variants: other values of 'connector' that mean this one with some options.
        opens: called with the name of such a function, or with none, a path or what else the query has in quotes, and the named arguments;
            the table's options, or None if it is not this connector that reads it; raises QueryError. None if no query can name it so.
        defines: called with a table's name, these, and the tables that the query declares, each with its options; the statements that such
            a table is made of, and notes for the user; raises OuzelError. None if a table is one.
    """

    name: str
    reads: Callable[[Mapping[str, str]], SourceTraits] | None = None
    writes: SinkTraits | None = None
    modes: tuple[str, ...] = ("append",)
    filters: bool = False
    upserts: Callable[[Mapping[str, str]], UpsertTraits | None] = lambda options: None
    can_upsert: bool = False
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    canonical: Callable[[Mapping[str, str]], dict[str, str]] | None = None
    check: Callable[[Mapping[str, str]], None] | None = None
    secrets: Callable[[Mapping[str, str]], frozenset[str]] | None = None
    quoted: Callable[[Mapping[str, str]], str] | None = None
    epoch: Callable[[Mapping[str, str]], str] | None = None
    unwritable: Callable[[Mapping[str, str]], str] | None = None
    infer: Callable[[Mapping[str, str]], FoundTable | None] | None = None
    functions: tuple[str, ...] = ()
    variants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    opens: Callable[[str, str, Mapping[str, str]], dict[str, str] | None] | None = None
    defines: Callable[[str, Mapping[str, str], Mapping[str, Mapping[str, str]]], tuple[str, list[str]]] | None = None


def connector_of(connectors: Mapping[str, ConnectorTraits], written: str) -> ConnectorTraits | None:
    """The connector that 'connector' = names, by its own name or that of a variant; None if there is none."""
    if written in connectors:
        return connectors[written]
    return next((traits for traits in connectors.values() if written in traits.variants), None)


class QueryWarning(UserWarning):
    """A query is valid, but may not mean what it seems to."""


class SecretWarning(QueryWarning):
    """A secret stands in the text of a query."""


@dataclass(frozen=True)
class Secret:
    """A secret in a query's text: the table and option it is the value of."""

    table: str
    option: str
    value: str = field(repr=False)

    @property
    def variable(self) -> str:
        """The environment variable that holds it while the query runs."""
        return SECRETS + re.sub(r"\W+", "_", f"{self.table}_{self.option}").upper()


SECRETS = "OUZEL_SECRET_"
"""Prefix of the variables that hold a query's secrets."""
