"""Rows that come behind the watermark: what drops them, and where LATE INTO sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import Names, Node, Unary
from ouzel.compiler.plan.distribution import ANY
from ouzel.compiler.plan.rows import WEIGHTED, Changelog
from ouzel.compiler.types import Schema


@dataclass(frozen=True)
class DropsLate(Node):
    """Family of the nodes that may drop a row as late. `late` are, of each input, the columns in which LateRows shows such rows."""

    late: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class LateRows(Unary):
    """The rows that `input` drops as late of its input number `port`, as they reached it, beside what it gives.

    `items` are the columns: the name of each, and what it is called below. A bounded input that is read whole has no late rows, so of a
    batch job's this is an empty table.
    """

    port: int
    items: tuple[tuple[str, str], ...]

    @property
    def dropped(self) -> Node:
        """What the rows are rows of."""
        return self.input.inputs[self.port]

    @property
    def schema(self) -> Schema:
        return Schema(tuple(replace(self.dropped.schema[column], name=name) for name, column in self.items))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """Nothing of what the node gives; what it needs of the rows that are dropped says `DropsLate.late`."""
        return (frozenset(),)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    reads_late = True
    is_rowwise = False
    meets_other_rows = ""
    closes_windows = False
    drops_late = False
    calls_python = False
    distribution = (ANY,)
    waits = (True,)
    time_column = None
    accepts = (WEIGHTED,)

    @property
    def changelog(self) -> Changelog:
        return self.dropped.changelog

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset()

    state_bound = ""
    component_name = ""

    @property
    def label(self) -> str:
        return f"LateRows ({', '.join(self.schema.names)}) that {self.input.component_name} drops"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.port, tuple(self.dropped.column_ids[column] for _, column in self.items))

    def definition(self, column: str) -> tuple[object, ...]:
        return ("late", self.input.rows_id, self.port, self.dropped.column_ids[dict(self.items)[column]])


def needed_columns(node: Node, wanted: Names) -> tuple[Names, ...]:
    """Which columns of each input the node must have to give those `wanted` of it, and to show what it drops."""
    needs = node.needs(wanted)
    if not isinstance(node, DropsLate) or not node.late:
        return needs
    return tuple(need | frozenset(shown) for need, shown in zip(needs, node.late, strict=True))
