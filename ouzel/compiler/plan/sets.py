"""Set operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ouzel.compiler.expressions import Column, Expression, substitute
from ouzel.compiler.plan.base import UNBOUNDED, Binary, Names, Node, Step, identity_origins
from ouzel.compiler.plan.distribution import ANY, Distribution, DistributionKind
from ouzel.compiler.plan.rows import WEIGHTED, Changelog
from ouzel.compiler.types import Schema


@dataclass(frozen=True)
class Union(Step):
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

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return tuple(
            substitute(
                predicate, {name: Column(branch.schema[theirs].type, theirs) for name, theirs in self._names(branch)}
            )
            for branch in self.branches
        )

    def _names(self, branch: Node) -> zip[tuple[str, str]]:
        return zip(self.schema.names, branch.schema.names, strict=True)

    merges_streams = True
    is_rowwise = True
    joins_rows = False
    closes_windows = False
    drops_late = False
    calls_python = False
    meets_other_rows = ""

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


class SetKind(Enum):
    """How often a row is in the output, as a function of how often it is in each input."""

    INTERSECT = "intersect"
    EXCEPT = "except"


@dataclass(frozen=True)
class SetOperation(Binary):
    """INTERSECT [ALL] and EXCEPT [ALL]: rows of the left, by how often they are in both inputs; NULL equals NULL.

    Both inputs have the same names and types, which is what rows are compared by. With `all` a row comes as often as the smaller of its
    two numbers says, or as their difference; without it once, or not at all.
    """

    kind: SetKind
    all: bool

    @property
    def schema(self) -> Schema:
        return self.left.schema

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """All: each column tells rows apart."""
        return (frozenset(self.schema.names),) * 2

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate, predicate)

    is_rowwise = False
    joins_rows = False
    closes_windows = False
    drops_late = False
    calls_python = False

    @property
    def meets_other_rows(self) -> str:
        return self.kind.value.upper()

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return (Distribution(DistributionKind.KEYS, self.schema.names),) * 2

    waits = (False, False)
    time_column = None
    accepts = (WEIGHTED, WEIGHTED)

    @property
    def changelog(self) -> Changelog:
        """A row that both have stays; one that the right has not got may come there."""
        appends = all(node.changelog is Changelog.APPEND for node in self.inputs)
        return Changelog.APPEND if appends and self.kind is SetKind.INTERSECT else Changelog.RETRACT

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.left.unique_keys | (frozenset() if self.all else {frozenset(self.schema.names)})

    state_bound = f"{UNBOUNDED}: each row of both inputs once"

    @property
    def component_name(self) -> str:
        return self.kind.value

    @property
    def label(self) -> str:
        return f"{self.kind.value.capitalize()}{' ALL' if self.all else ''}"

    @property
    def identity(self) -> tuple[object, ...]:
        sides = (tuple(node.column_ids[name] for name in self.schema.names) for node in self.inputs)
        return (self.kind.value, self.all, *sides)

    def definition(self, column: str) -> tuple[object, ...]:
        raise KeyError(column)
