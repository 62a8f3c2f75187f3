"""Set operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Column, Expression, substitute
from ouzel.compiler.plan.base import ANY, WEIGHTED, Changelog, Distribution, Names, Node
from ouzel.compiler.types import Schema


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: columns by position, names of the first input; the binder has cast both sides to one type."""

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return replace(self, branches=inputs)

    @property
    def schema(self) -> Schema:
        return self.branches[0].schema

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        """None: a column is now one branch's, now another's."""
        return {}

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return tuple(
            frozenset(theirs for name, theirs in self._names(branch) if name in wanted) for branch in self.branches
        )

    def pruned(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return self.with_inputs(inputs)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return tuple(
            substitute(
                predicate, {name: Column(branch.schema[theirs].type, theirs) for name, theirs in self._names(branch)}
            )
            for branch in self.branches
        )

    def _names(self, branch: Node) -> zip[tuple[str, str]]:
        return zip(self.schema.names, branch.schema.names, strict=True)

    is_rowwise = True

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return (ANY,) * len(self.branches)

    @property
    def waits(self) -> tuple[bool, ...]:
        return (False,) * len(self.branches)

    @property
    def time_column(self) -> str | None:
        names = {branch.time_column for branch in self.branches}
        return names.pop() if len(names) == 1 else None

    @property
    def accepts(self) -> tuple[frozenset[Changelog], ...]:
        return (WEIGHTED,) * len(self.branches)

    @property
    def changelog(self) -> Changelog:
        kinds = {branch.changelog for branch in self.branches}
        return kinds.pop() if len(kinds) == 1 else Changelog.RETRACT

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset()

    state_bound = ""
    component_name = ""

    @property
    def label(self) -> str:
        return "Union"

    @property
    def identity(self) -> tuple[object, ...]:
        return ()

    def definition(self, column: str) -> tuple[object, ...]:
        place = self.schema.names.index(column)
        return ("union", *(branch.column_ids[branch.schema.names[place]] for branch in self.branches))
