"""Part of the batch job of a reconciliation: rows without those that a stream dropped as late."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.aggregates import Aggregate
from ouzel.compiler.plan.base import APPENDS, UNBOUNDED, Changelog, Distribution, Names, Node, SameColumns


@dataclass(frozen=True)
class ExcludeLateRows(SameColumns):
    """The input of `aggregate` without the rows that a run dropped there as late. Only a reconciliation makes these, for its batch job.

    Attributes:
        aggregate: as it was: what its component made of these rows.
        component: the name of what dropped them.
        path: the file of JSON lines that says which.
        combined: whether the file holds what the aggregate makes of each row by itself, instead of the row.
        touched: give only groups that have such rows.
    """

    aggregate: Aggregate
    component: str
    path: str
    combined: bool
    touched: bool

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted | self.aggregate.reads,)

    def pruned(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        return self.with_inputs(inputs)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """Nothing: it excludes so many of each kind of equal rows, and a filter below would change how many there are."""
        return None

    is_rowwise = False

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return self.aggregate.distribution

    waits = (False,)
    accepts = (APPENDS,)
    changelog = Changelog.APPEND
    state_bound = f"{UNBOUNDED}: all rows"

    @property
    def component_name(self) -> str:
        return f"without_{self.component}"

    @property
    def label(self) -> str:
        return f"Without what {self.component} dropped as late"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.component, self.path, self.combined, self.touched)
