"""Apply filters as early as possible, in the source itself where its connector can."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import LONG_CHAIN, Expression, columns_of, conjunction, conjuncts
from ouzel.compiler.plan import Filter, Node, Scan, Watermark
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.predicates import can_move


def push_filters_to_sources(dag: Dag) -> Dag:
    """Move each conjunct of a filter that cannot fail below what it does not depend on.

    A filter goes below a Watermark only when it reaches a source that applies it. Then time is moved only by rows that pass, so the
    watermark is never ahead of where it was: fewer rows are late, and the same windows close in the end. Within one task it would gain
    nothing.
    """

    return _with_filters(dag, lambda node, shared: _split(node, _Descent(shared, dag.filters)))


def tell_sources(dag: Dag) -> Dag:
    """Tell each source that applies a predicate what it is, and leave the filter where it is: for sources that may pass over rows by it."""

    return _with_filters(dag, lambda node, shared: _tell(node, _Descent(shared, dag.filters, source_only=True)))


def _with_filters(dag: Dag, change: Callable[[Filter, Set[int]], Node]) -> Dag:
    """The DAG with each filter changed; the ids are of nodes below it that have several readers."""
    return dag.rewritten(lambda node, shared: change(node, shared) if isinstance(node, Filter) else node)


def _tell(node: Filter, descent: _Descent) -> Node:
    below = node.input
    for conjunct in conjuncts(node.predicate):
        below = (descent.beneath(conjunct, below) if can_move(conjunct) else None) or below
    return replace(node, input=below)


def _split(node: Filter, descent: _Descent) -> Node:
    below, kept = node.input, []
    for conjunct in _gather(conjuncts(node.predicate)):
        lowered = descent.beneath(conjunct, below) if can_move(conjunct) else None
        if lowered is None:
            kept.append(conjunct)
        else:
            below = lowered
    return Filter(below, conjunction(kept)) if kept else below


def _gather(parts: Sequence[Expression]) -> Sequence[Expression]:
    """Of a long AND, the conjuncts that may move and read the same columns as one: they move together."""
    if len(parts) < LONG_CHAIN:
        return parts
    groups: dict[object, list[Expression]] = {}
    for number, part in enumerate(parts):
        groups.setdefault(columns_of(part) if can_move(part) else number, []).append(part)
    return [conjunction(group) for group in groups.values()]


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
        moved = node.passes(predicate)
        if moved is None:
            return None
        way = replace(self, source_only=True) if isinstance(node, Watermark) else self
        lower = [
            below if part is None else way._onto(part, below) for part, below in zip(moved, node.inputs, strict=True)
        ]
        return node.with_inputs(tuple(filter(None, lower))) if None not in lower else None

    def _onto(self, predicate: Expression, node: Node) -> Node | None:
        lower = self.beneath(predicate, node)
        return Filter(node, predicate) if lower is None and not self.source_only else lower

    def _in_source(self, predicate: Expression, scan: Scan) -> Node | None:
        if scan.connector not in self.filters:
            return None
        return replace(scan, predicate=conjunction([*filter(None, [scan.predicate]), predicate]))
