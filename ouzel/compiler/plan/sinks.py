"""Where rows go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from ouzel.compiler.catalog import ConnectorTraits, SinkTraits
from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.aggregates import resolve_aggregate
from ouzel.compiler.plan.base import Names, Node, SameColumns
from ouzel.compiler.plan.distribution import ANY, Distribution, DistributionKind
from ouzel.compiler.plan.ordered import SortKey
from ouzel.compiler.plan.rows import APPENDS, WEIGHTED, Changelog, RowRole
from ouzel.compiler.types import Schema
from ouzel.errors import QueryError

WithOptions = tuple[tuple[str, str], ...]
"""What WITH holds, without 'connector'."""


class SinkMode(Enum):
    """What a sink is given: new rows; new rows that it adds up by key; whole rows by key with deletions; or a changelog of +1 and -1."""

    APPEND = "append"
    MERGE = "merge"
    UPSERT = "upsert"
    RETRACT = "retract"


ADDED = frozenset({SinkMode.APPEND, SinkMode.MERGE})
"""Modes of sinks that are given rows without weights."""

MERGED = "merge"
"""The option that says how a table adds up rows of a key."""


MERGED_BY = {
    "count": "sum",
    "count_if": "sum",
    "sum": "sum",
    "min": "min",
    "max": "max",
    "bool_and": "bool_and",
    "bool_or": "bool_or",
}
"""The aggregate that adds up the results of an aggregate over parts of its rows; of others a store keeps what they are made of."""


def sinks_in(nodes: Iterable[Node]) -> list[Sink]:
    """The tables that are written among these nodes."""
    return [node for node in nodes if isinstance(node, Sink)]


def choose_mode(table: ConnectorTraits, options: WithOptions, *, changes: bool, keyed: bool) -> SinkMode | None:
    """How a table with these options takes rows that only come, or that change; None if it cannot.

    An option that makes each change a record goes before a key. What adds up takes nothing back, and needs a key.
    """
    assert table.writes is not None, "one that cannot be written was refused"
    if table.writes.merged(dict(options)):
        return SinkMode.MERGE if keyed and not changes else None
    needed = table.writes.changes_by
    takes_changes = "retract" in table.modes and needed in (None, *options)
    if not changes and "append" in table.modes and not (keyed and table.writes.replaces(dict(options))):
        return SinkMode.APPEND
    if keyed and "upsert" in table.modes and not (needed and takes_changes):
        return SinkMode.UPSERT
    return SinkMode.RETRACT if takes_changes else None


def check_merged(table: str, merged: Mapping[str, str], keys: tuple[str, ...], columns: Schema) -> None:
    """See that a table that adds up says of each column beside the key how, and that its type can be added up so.

    Raises:
        QueryError: it does not, or it cannot.
    """
    for column in columns:
        if column.name not in keys and column.name not in merged:
            raise QueryError(
                f"nothing says how column '{column.name}' of {table} is added up",
                instead=f"add '{column.name}:sum' to '{MERGED}', or make it a part of the key",
            )
        if column.name not in keys:
            resolve_aggregate(merged[column.name], column.type)
    for name in merged:
        if name in keys or name not in columns:
            what = "part of the key" if name in keys else "no column"
            raise QueryError(f"'{MERGED}' of {table} adds up '{name}', which is {what}", instead="leave it out")


@dataclass(frozen=True)
class Sink(SameColumns):
    """Write to a table through a connector; `keys` is the table's PRIMARY KEY. A trailing SELECT has the connector `result`.

    `sorted_by` is the order in which a result is shown, by its columns; it is no part of what the rows are.
    """

    table: str
    connector: str
    options: WithOptions
    mode: SinkMode
    keys: tuple[str, ...] = ()
    columns: Schema = Schema(())
    sorted_by: tuple[SortKey, ...] = field(default=(), compare=False, repr=False)
    traits: SinkTraits = field(kw_only=True, compare=False, repr=False)

    @property
    def writes_table(self) -> str:
        return self.table

    @property
    def label(self) -> str:
        key = f" by ({', '.join(self.keys)})" if self.keys else ""
        return f"Sink {self.table} ({self.connector}, {self.mode.value}{key})"

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (frozenset(self.input.schema.names),)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    role = RowRole.SINGLE
    is_rowwise = False
    is_one_to_one = True
    meets_other_rows = ""
    closes_windows = False
    drops_late = False
    calls_python = False

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        """Of changes, those of one key, or of one whole row, go to the same task."""
        if self.mode is SinkMode.APPEND:
            return (ANY,)
        return (Distribution(DistributionKind.KEYS, self.keys or self.input.schema.names),)

    waits = (False,)

    @property
    def accepts(self) -> tuple[frozenset[Changelog], ...]:
        return (APPENDS if self.mode in ADDED else WEIGHTED,)

    state_bound = ""

    @property
    def component_name(self) -> str:
        return self.table

    @property
    def identity(self) -> tuple[object, ...]:
        keys = tuple(self.input.column_ids[key] for key in self.keys)
        return (self.table, self.connector, tuple(sorted(self.options)), self.mode, keys)
