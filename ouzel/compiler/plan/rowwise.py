"""Nodes that are computed row by row."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import Node
from ouzel.compiler.types import DataType, Field, Schema


@dataclass(frozen=True)
class Project(Node):
    """Compute the output's columns: (name, expression) in order."""

    input: Node
    items: tuple[tuple[str, Expression], ...]

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, expression.type) for name, expression in self.items))

    @property
    def time_column(self) -> str | None:
        for name, expression in self.items:
            if str(expression) == self.input.time_column:
                return name
        return None

    @property
    def label(self) -> str:
        shown = (name if str(value) == name else f"{value} AS {name}" for name, value in self.items)
        return "Project " + ", ".join(shown)


@dataclass(frozen=True)
class Filter(Node):
    """Keep the rows whose predicate is TRUE."""

    input: Node
    predicate: Expression

    @property
    def label(self) -> str:
        return f"Filter {self.predicate}"


@dataclass(frozen=True)
class Unnest(Node):
    """CROSS JOIN UNNEST: one output row for each element of `array`, appended to the input's columns.

    `names` are the new columns: one, or one a field for an array of ROW, or key and value for a MAP. With `ordinality` the last of them
    counts from 1 (BIGINT). With `outer` an empty or NULL array gives one row of NULLs.
    """

    input: Node
    array: Expression
    names: tuple[tuple[str, DataType], ...]
    ordinality: bool = False
    outer: bool = False

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, *(Field(name, kind) for name, kind in self.names)))

    @property
    def label(self) -> str:
        return f"Unnest {self.array} AS {', '.join(name for name, _ in self.names)}"
