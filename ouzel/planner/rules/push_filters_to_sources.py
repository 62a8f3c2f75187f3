"""Apply filters as early as possible, in the source itself where its connector can."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Column, Expression, columns_of
from ouzel.compiler.plan import Aggregate, AssignWindow, Filter, Node, Project, Scan, Union, Unnest, Watermark
from ouzel.compiler.types import FloatType
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.predicates import can_move, conjunction, conjuncts, is_trivial, substitute


def push_filters_to_sources(dag: Dag) -> Dag:
    """Move each conjunct of a filter that cannot fail below what it does not depend on.

    A filter goes below a Watermark only when it reaches a source that applies it. Then time is moved only by rows that pass, so the
    watermark is never ahead of where it was: fewer rows are late, and the same windows close in the end. Within one task it would gain
    nothing.
    """

    def change(node: Node, shared: Set[int]) -> Node:
        return _split(node, _Descent(shared, dag.filters)) if isinstance(node, Filter) else node

    return dag.rewritten(change)


def _split(node: Filter, descent: _Descent) -> Node:
    below, kept = node.input, []
    for conjunct in conjuncts(node.predicate):
        lowered = descent.beneath(conjunct, below) if can_move(conjunct) else None
        if lowered is None:
            kept.append(conjunct)
        else:
            below = lowered
    return Filter(below, conjunction(kept)) if kept else below


@dataclass(frozen=True)
class _Descent:
    """The way down of one predicate; `source_only` allows no place but a source."""

    shared: Set[int]
    filters: frozenset[str]
    source_only: bool = False

    def beneath(self, predicate: Expression, node: Node) -> Node | None:
        """The node with the predicate applied somewhere below it, or None when it must stay above."""
        if id(node) in self.shared:
            return None
        if isinstance(node, Scan):
            return self._in_source(predicate, node)
        if isinstance(node, Union):
            return self._in_branches(predicate, node)
        if isinstance(node, Watermark):
            return self._one(replace(self, source_only=True), predicate, node)
        moved = _through(predicate, node)
        return self._one(self, moved, node) if moved is not None else None

    def _onto(self, predicate: Expression, node: Node) -> Node | None:
        lower = self.beneath(predicate, node)
        return Filter(node, predicate) if lower is None and not self.source_only else lower

    def _one(self, way: _Descent, predicate: Expression, node: Node) -> Node | None:
        lower = way._onto(predicate, node.inputs[0])
        return replace(node, input=lower) if lower is not None else None  # type: ignore[call-arg]

    def _in_source(self, predicate: Expression, scan: Scan) -> Node | None:
        if scan.connector not in self.filters:
            return None
        return replace(scan, predicate=conjunction([*filter(None, [scan.predicate]), predicate]))

    def _in_branches(self, predicate: Expression, union: Union) -> Node | None:
        lower = []
        for branch in union.branches:
            own = zip(union.schema, branch.schema, strict=True)
            renamed = substitute(predicate, {ours.name: Column(theirs.type, theirs.name) for ours, theirs in own})
            lower.append(self._onto(renamed, branch))
        return Union(tuple(node for node in lower if node is not None)) if None not in lower else None


def _through(predicate: Expression, node: Node) -> Expression | None:
    """The predicate as it reads below the node, or None when it depends on what the node does."""
    read = columns_of(predicate)
    match node:
        case Filter():
            return predicate
        case Project(items=items):
            values = {name: value for name, value in items if name in read}
            return substitute(predicate, values) if all(map(is_trivial, values.values())) else None
        case AssignWindow(names=names):
            return None if read & set(names) else predicate
        case Unnest():
            return predicate if read <= set(node.input.schema.names) else None
        case Aggregate(keys=keys):
            # 0.0 and -0.0 are one group but not one value, so a filter on a float key must see the group's
            exact = {key for key in keys if not isinstance(node.schema[key].type, FloatType)}
            return predicate if read and read <= exact else None
    return None
