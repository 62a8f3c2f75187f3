"""Windows in a job sort once: by no more columns than can be seen to matter, and the longest order first, whose sort serves the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Node, Over, Project, TopN, needed_columns
from ouzel.compiler.plan.base import Names
from ouzel.compiler.types import FloatType, Schema, walk_type
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.rules.fuse_projections import fuse_projections
from ouzel.planner.rules.prune_columns import prune_columns
from ouzel.planner.rules.remove_trivial_projects import remove_trivial_projects
from ouzel.spark.lowering.over_nodes import order_length


def sort_less(dag: Dag) -> Dag:
    """The plan whose windows sort less and give the same rows; the columns that only broke ties are read no more."""
    wanted: dict[int, set[str]] = {id(node): set() for node in dag.nodes()}
    changed: dict[int, Node] = {}
    for node in reversed(list(dag.nodes())):
        asked = frozenset(wanted[id(node)])
        changed[id(node)] = _sort_node_less(node, asked)
        for upstream, needed in zip(node.inputs, needed_columns(changed[id(node)], asked), strict=True):
            wanted[id(upstream)] |= needed & set(upstream.schema.names)
    if all(changed[id(node)] is node for node in dag.nodes()):
        return dag
    made = dag.rebuilt(lambda node, inputs: _keep_columns(node, with_inputs(changed[id(node)], inputs)))
    return remove_trivial_projects(fuse_projections(prune_columns(made)))


def _sort_node_less(node: Node, asked: Names) -> Node:
    match node:
        case Over():
            seen = asked.union(*(call.reads for call in node.calls)) & frozenset(node.input.schema.names)
            calls = tuple(sorted(node.calls, key=lambda call: -order_length(call, node)))
            shorter = replace(node, ties=_list_seen_ties(node, seen), calls=calls)
            return node if (shorter.ties, calls) == (node.ties, node.calls) else shorter
        case TopN():
            ties = _list_seen_ties(node, asked & frozenset(node.input.schema.names))
            return node if ties == node.ties else replace(node, ties=ties)
    return node


def _list_seen_ties(node: Over | TopN, seen: Names) -> tuple[str, ...]:
    """The ties up to the last that is seen: rows that are equal in all of these look alike, whichever comes first.

    All of them stay where rows may look different all the same: in a column that is no part of the order, for a unique key ends the
    ties, or by the sign of a zero. One stays where nothing else is an order, for Spark numbers no rows without one.
    """
    compared = {*node.partition, *(key.column for key in node.sorted_by)}
    if node.lifetime or not seen <= compared or _holds_floats(node.input.schema, seen):
        return node.ties
    last = max((place for place, name in enumerate(node.ties, 1) if name in seen), default=0 if node.order else 1)
    return node.ties[:last]


def _holds_floats(schema: Schema, names: Iterable[str]) -> bool:
    return any(isinstance(part, FloatType) for name in names for part in walk_type(schema[name].type))


def _keep_columns(node: Node, made: Node) -> Node:
    """The node, whose calls may be in another order, with its columns in theirs."""
    if made.schema.names == node.schema.names:
        return made
    return Project(
        made, tuple((field.name, Column(field.type, field.name)) for field in node.schema), written=node.written
    )
