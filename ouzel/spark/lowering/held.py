"""What of our operators travels to Spark's workers, which have no compiler: nothing here, nor what it imports, makes texts or reads SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan import WEIGHT, Changelog, Leaf, Node
from ouzel.compiler.plan.base import Names
from ouzel.compiler.types import Schema


@dataclass(frozen=True)
class Given(Leaf):
    """Rows that an operator is given: what it can ask of the node that makes them, without that node."""

    columns: Schema
    changes: Changelog
    time: str | None
    keys: frozenset[Names]
    ids: tuple[str, ...]

    @classmethod
    def of(cls, node: Node) -> Given:
        """What stands for a node whose schema may hold WEIGHT."""
        names = tuple(name for name in node.schema.names if name != WEIGHT)
        changes = Changelog.RETRACT if WEIGHT in node.schema.names else Changelog.APPEND
        ids = (node.rows_id, *(node.column_ids[name] for name in names))
        return cls(node.schema.select(names), changes, node.time_column, node.unique_keys, ids)

    @property
    def schema(self) -> Schema:
        return self.columns

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    is_rowwise = False
    calls_python = False
    state_bound = ""
    component_name = "given"
    label = "Given"

    @property
    def time_column(self) -> str | None:
        return self.time

    @property
    def changelog(self) -> Changelog:
        return self.changes

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.keys

    @property
    def identity(self) -> tuple[object, ...]:
        return self.ids

    def definition(self, column: str) -> tuple[object, ...]:
        return ("given", self.ids[1 + self.columns.names.index(column)])


class HeldOperator(NamedTuple):
    """What of an InState travels to Spark's workers. `gives` is whose rows come out: the operator's own, or those that it drops."""

    operator: Node
    gives: Node
    lag_us: int
    of_tables: bool
