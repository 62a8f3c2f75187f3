"""Aggregate each batch where it is made, before it is sent to the tasks that own its keys (Summingbird, VLDB 2014, section 4)."""

from __future__ import annotations

from collections.abc import Set

from ouzel.compiler.plan import (
    Aggregate,
    FinalAggregate,
    Node,
    PartialAggregate,
    Union,
    keeps_rows,
    needs_routing,
    streamed_inputs,
)
from ouzel.compiler.plan.aggregates import is_combinable
from ouzel.planner.rules.dag import Dag


def combine_before_shuffle(dag: Dag) -> Dag:
    """Split an aggregate into a partial one, fused with what it reads, and a final one, where that is possible and pays.

    It pays where a batch holds few groups: with a window, whose rows of one time come together, and without keys. A running aggregate by
    key may have as many groups as rows, so it is split only when a hint asks for it, or for partial-key grouping, which needs it. So is one
    that may drop rows as late, if these are to be told: a partial aggregate is no row.
    """

    def change(node: Node, _shared: Set[int]) -> Node:
        if not isinstance(node, Aggregate) or not is_combinable(node):
            return node
        asked = node.written.name in dag.hints.combining or wants_partial_key(node, dag)
        pays = node.window is not None or not node.keys
        tells = dag.tells_late and node.drops_late
        return FinalAggregate(_partial(node.input, node), node) if asked or (pays and not tells) else node

    return dag.rewritten(change)


def wants_partial_key(node: Node, dag: Dag) -> bool:
    """Whether a hint asks for partial-key grouping of a table that the node reads, with nothing stateful between."""
    wanted = {name for name, kind in dag.hints.grouping if kind.lower().replace("_", "-") == "partial-key"}
    return bool(wanted & set(tables_before(node)))


def tables_before(node: Node) -> tuple[str, ...]:
    """The tables whose rows reach the node through stateless nodes only."""
    tables: list[str] = []
    for upstream in streamed_inputs(node):
        if upstream.reads_table:
            tables.append(upstream.reads_table)
        elif not (keeps_rows(upstream) or needs_routing(upstream)):
            tables.extend(tables_before(upstream))
    return tuple(tables)


def _partial(node: Node, aggregate: Aggregate) -> Node:
    if not isinstance(node, Union):
        return PartialAggregate(node, aggregate)
    return Union(tuple(PartialAggregate(branch, aggregate) for branch in node.branches))
