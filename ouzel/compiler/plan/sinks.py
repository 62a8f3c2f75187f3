"""Where rows go."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ouzel.compiler.catalog import ConnectorTraits, SinkTraits
from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import (
    ANY,
    APPENDS,
    WEIGHTED,
    Changelog,
    Distribution,
    Names,
    Node,
    SameColumns,
    by_keys,
)
from ouzel.compiler.plan.ordered import SortKey
from ouzel.compiler.types import Schema

WithOptions = tuple[tuple[str, str], ...]
"""What WITH holds, without 'connector'."""


class SinkMode(Enum):
    """What a sink is given: new rows only; whole rows by key with deletions; or a changelog of +1 and -1."""

    APPEND = "append"
    UPSERT = "upsert"
    RETRACT = "retract"


def choose_mode(table: ConnectorTraits, options: WithOptions, *, changes: bool, keyed: bool) -> SinkMode | None:
    """How a table with these options takes rows that only come, or that change; None if it cannot.

    An option that makes each change a record goes before a key.
    """
    assert table.writes is not None, "one that cannot be written was refused"
    needed = table.writes.changes_by
    takes_changes = "retract" in table.modes and needed in (None, *options)
    if not changes and "append" in table.modes:
        return SinkMode.APPEND
    if keyed and "upsert" in table.modes and not (needed and takes_changes):
        return SinkMode.UPSERT
    return SinkMode.RETRACT if takes_changes else None


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
    def label(self) -> str:
        key = f" by ({', '.join(self.keys)})" if self.keys else ""
        return f"Sink {self.table} ({self.connector}, {self.mode.value}{key})"

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (frozenset(self.input.schema.names),)

    def pruned(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return self.with_inputs(inputs)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    is_rowwise = False

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        """Of changes, those of one key, or of one whole row, go to the same task."""
        if self.mode is SinkMode.APPEND:
            return (ANY,)
        return (by_keys(self.keys or self.input.schema.names),)

    waits = (False,)

    @property
    def accepts(self) -> tuple[frozenset[Changelog], ...]:
        return (APPENDS if self.mode is SinkMode.APPEND else WEIGHTED,)

    state_bound = ""

    @property
    def component_name(self) -> str:
        return self.table

    @property
    def identity(self) -> tuple[object, ...]:
        keys = tuple(self.input.column_ids[key] for key in self.keys)
        return (self.table, self.connector, tuple(sorted(self.options)), self.mode, keys)
