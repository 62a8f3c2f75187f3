"""Where rows come from, and what of them is event time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ouzel.compiler.catalog import SourceTraits
from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan.base import Leaf, Names, Node, RowWise, SameColumns
from ouzel.compiler.plan.rows import Changelog, RowRole
from ouzel.compiler.types import Schema

OF_BAD_RECORDS = frozenset({"bad.record", "dead-letter.path"})
"""Options that say what becomes of records that cannot be read. They change nothing of where a source stands, and of what others say."""


@dataclass(frozen=True)
class Scan(Leaf):
    """Read a table through a connector.

    `columns` are the physical columns wanted; `metadata` maps a column to the connector's metadata key (`offset`, `partition`, `file` ...).
    `predicate` is a filter the source must apply; a planner rule puts it there. `options` are the WITH options, without 'connector';
    `in_python` says that a program gave them as arguments, so that advice spells them so.
    """

    table: str
    connector: str
    options: tuple[tuple[str, str], ...]
    columns: Schema
    metadata: tuple[tuple[str, str], ...] = ()
    predicate: Expression | None = None
    traits: SourceTraits = field(kw_only=True, compare=False, repr=False)
    in_python: bool = field(default=False, kw_only=True, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        return self.columns

    @property
    def reads_table(self) -> str:
        return self.table

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        """A table that answers for bad records keeps all its columns: what is bad must not depend on the query."""
        if dict(self.options).get("bad.record", "fail") != "fail":
            return self
        filtered = columns_of(self.predicate) if self.predicate else frozenset()
        names = tuple(name for name in self.columns.names if name in wanted | filtered) or self.columns.names[:1]
        metadata = tuple(pair for pair in self.metadata if pair[0] in names)
        return replace(self, columns=self.columns.select(names), metadata=metadata)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    role = RowRole.SINGLE
    is_rowwise = False
    calls_python = False

    @property
    def time_column(self) -> str | None:
        return None

    @property
    def changelog(self) -> Changelog:
        return Changelog.RETRACT if self.traits.changelog else Changelog.APPEND

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset()

    state_bound = ""

    @property
    def component_name(self) -> str:
        return self.table

    @property
    def label(self) -> str:
        where = f" where {self.predicate}" if self.predicate else ""
        return f"Scan {self.table} ({self.connector}){where}"

    def as_meant(self, *, trusts: bool) -> Node:
        return replace(self, options=tuple(pair for pair in self.options if pair[0] not in OF_BAD_RECORDS))

    @property
    def place(self) -> tuple[object, ...]:
        """What tells the table from others: where one is, its source can read on where another stood."""
        return (
            self.table,
            self.connector,
            tuple(sorted(pair for pair in self.options if pair[0] not in OF_BAD_RECORDS)),
        )

    @property
    def identity(self) -> tuple[object, ...]:
        predicate = self.meaning(self.predicate) if self.predicate else None
        return (self.table, self.connector, tuple(sorted(self.options)), predicate)

    def definition(self, column: str) -> tuple[object, ...]:
        return (self.table, column, self.columns[column].type, dict(self.metadata).get(column))


def scans_in(nodes: Iterable[Node]) -> list[Scan]:
    """The tables that are read among these nodes."""
    return [node for node in nodes if isinstance(node, Scan)]


@dataclass(frozen=True)
class Watermark(SameColumns, RowWise):
    """From here on `column` is event time; the watermark is the largest `expression` seen, per partition of the source.

    `idle_after_ms` is how long an input may be silent before it stops holding time back; None is NEVER.
    """

    column: str
    expression: Expression
    idle_after_ms: int | None = 30_000

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted | {self.column} | columns_of(self.expression),)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate,)

    role = RowRole.SINGLE
    waits = (False,)
    calls_python = False

    @property
    def time_column(self) -> str | None:
        return self.column

    @property
    def declares_time(self) -> Expression:
        return self.expression

    @property
    def label(self) -> str:
        idle = "never" if self.idle_after_ms is None else f"{self.idle_after_ms / 1000:g} s"
        return f"Watermark {self.column} = {self.expression}, idle after {idle}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.input.column_ids[self.column], self.input.meaning(self.expression))

    @property
    def rows_id(self) -> str:
        """Its input's: what time it is changes no row."""
        return self.input.rows_id
