"""Nodes that are computed row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import (
    Call,
    Cast,
    Column,
    Expression,
    Literal,
    columns_of,
    conjuncts,
    is_trivial,
    substitute,
)
from ouzel.compiler.plan.base import Names, Node, RowWise, SameColumns, identity_origins, names_above
from ouzel.compiler.plan.identity import meaning
from ouzel.compiler.plan.rows import RowRole
from ouzel.compiler.types import DataType, Field, IntegerType, Schema


@dataclass(frozen=True)
class Project(RowWise):
    """Compute the output's columns: (name, expression) in order."""

    items: tuple[tuple[str, Expression], ...]

    @property
    def schema(self) -> Schema:
        return Schema(tuple(Field(name, expression.type) for name, expression in self.items))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {name: (0, value.name) for name, value in self.items if isinstance(value, Column)}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (frozenset(name for _, value in self._keep(wanted) for name in columns_of(value)),)

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return replace(self, input=inputs[0], items=self._keep(wanted))

    def _keep(self, wanted: Names) -> tuple[tuple[str, Expression], ...]:
        return tuple(item for item in self.items if item[0] in wanted) or self.items[:1]

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        read = columns_of(predicate)
        values = {name: value for name, value in self.items if name in read}
        return (substitute(predicate, values),) if all(map(is_trivial, values.values())) else None

    role = RowRole.KEEPS
    is_one_to_one = True
    waits = (False,)
    calls_python = False

    @property
    def time_column(self) -> str | None:
        for name, expression in self.items:
            if str(expression) == self.input.time_column:
                return name
        return None

    @property
    def unique_keys(self) -> frozenset[Names]:
        handed_on = {inner for _, inner in self.origins.values()}
        return frozenset(names_above(self, key) for key in self.input.unique_keys if key <= handed_on)

    @property
    def label(self) -> str:
        shown = (name if str(value) == name else f"{value} AS {name}" for name, value in self.items)
        return "Project " + ", ".join(shown)

    @property
    def identity(self) -> tuple[object, ...]:
        return ()

    @property
    def rows_id(self) -> str:
        """Its input's: only columns are others."""
        return self.input.rows_id

    def expression_of(self, column: str) -> Expression:
        return dict(self.items)[column]

    def definition(self, column: str) -> tuple[object, ...]:
        return ("computed", self.input.meaning(self.expression_of(column)))


@dataclass(frozen=True)
class Filter(SameColumns, RowWise):
    """Keep the rows whose predicate is TRUE."""

    predicate: Expression

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted | columns_of(self.predicate),)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate,)

    role = RowRole.KEEPS
    waits = (False,)
    calls_python = False

    @property
    def unique_keys(self) -> frozenset[Names]:
        keys, constant = self.input.unique_keys, constant_columns(self.predicate)
        return keys | {key - constant for key in keys} if constant else keys

    @property
    def label(self) -> str:
        return f"Filter {self.predicate}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.input.meaning(self.predicate),)


def constant_columns(predicate: Expression) -> Names:
    """The columns that have one value in all rows for which a condition is TRUE."""
    return frozenset(
        column.name
        for part in conjuncts(predicate)
        if isinstance(part, Call) and part.function == "eq"
        for one, other in (part.arguments, part.arguments[::-1])
        if isinstance(column := _strip_widening(one), Column) and isinstance(other, Literal)
    )


def _strip_widening(value: Expression) -> Expression:
    """What a number was before it was made a wider one for a comparison."""
    if isinstance(value, Cast) and isinstance(value.type, IntegerType) and isinstance(value.operand.type, IntegerType):
        return value.operand
    return value


@dataclass(frozen=True)
class ReadsElements(RowWise):
    """A node that looks at the elements of one array, or map, of each row; within it they are called `names`."""

    array: Expression
    names: tuple[tuple[str, DataType], ...]

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate,) if columns_of(predicate) <= self.origins.keys() else None

    waits = (False,)
    calls_python = False

    @property
    def time_column(self) -> str | None:
        return self.input.time_column

    def own_ids(self) -> dict[str, str]:
        """What identifies each element's column, whatever its name."""
        return {name: f"element {place}" for place, (name, _) in enumerate(self.names)}


@dataclass(frozen=True)
class Unnest(ReadsElements):
    """CROSS JOIN UNNEST: one output row for each element of `array`, appended to the input's columns.

    `names` are the new columns: one, or one a field for an array of ROW, or key and value for a MAP. With `ordinality` the last of them
    counts from 1 (BIGINT). With `outer` an empty or NULL array gives one row of NULLs, and with a `condition`, over the input's columns
    and the new ones, an array none of whose elements meets it; the others' elements that do not are left out.
    """

    ordinality: bool = False
    outer: bool = False
    condition: Expression | None = None

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, *(Field(name, kind) for name, kind in self.names)))

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        read = columns_of(self.array) | (columns_of(self.condition) if self.condition else frozenset())
        return ((wanted | read) - dict(self.names).keys(),)

    @property
    def unique_keys(self) -> frozenset[Names]:
        position = self.names[-1][0]
        return frozenset(key | {position} for key in self.input.unique_keys) if self.ordinality else frozenset()

    @property
    def label(self) -> str:
        shown = f"Unnest {self.array} AS {', '.join(name for name, _ in self.names)}"
        return f"{shown} ON {self.condition}" if self.condition else shown

    @property
    def identity(self) -> tuple[object, ...]:
        if self.condition is None:
            return (self.input.meaning(self.array), self.ordinality, self.outer)
        kept = meaning(self.condition, {**self.input.column_ids, **self.own_ids()})
        return (self.input.meaning(self.array), self.ordinality, self.outer, kept)

    def definition(self, column: str) -> tuple[object, ...]:
        return ("element", *self.identity, list(dict(self.names)).index(column))
