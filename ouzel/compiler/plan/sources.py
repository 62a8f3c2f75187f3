"""Where rows come from, and what of them is event time."""

from __future__ import annotations

from dataclasses import dataclass, field

from ouzel.compiler.catalog import SourceTraits
from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import Node
from ouzel.compiler.types import Schema


@dataclass(frozen=True)
class Scan(Node):
    """Read a table through a connector.

    `columns` are the physical columns wanted; `metadata` maps a column to the connector's metadata key (`offset`, `partition`, `file` ...).
    `predicate` is a filter the source must apply; a planner rule puts it there. `options` are the WITH options, without 'connector'.
    """

    table: str
    connector: str
    options: tuple[tuple[str, str], ...]
    columns: Schema
    metadata: tuple[tuple[str, str], ...] = ()
    predicate: Expression | None = None
    traits: SourceTraits = field(kw_only=True, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        return self.columns

    @property
    def retracts(self) -> bool:
        return self.traits.changelog

    @property
    def time_column(self) -> str | None:
        return None

    @property
    def label(self) -> str:
        where = f" where {self.predicate}" if self.predicate else ""
        return f"Scan {self.table} ({self.connector}){where}"


@dataclass(frozen=True)
class Watermark(Node):
    """From here on `column` is event time; the watermark is the largest `expression` seen, per partition of the source.

    `idle_after_ms` is how long an input may be silent before it stops holding time back; None is NEVER.
    """

    input: Node
    column: str
    expression: Expression
    idle_after_ms: int | None = 30_000

    @property
    def time_column(self) -> str | None:
        return self.column

    @property
    def label(self) -> str:
        idle = "never" if self.idle_after_ms is None else f"{self.idle_after_ms / 1000:g} s"
        return f"Watermark {self.column} = {self.expression}, idle after {idle}"
