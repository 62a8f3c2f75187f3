"""A stream united with itself."""

from __future__ import annotations

from collections.abc import Set

from ouzel.compiler.plan import Node, Union
from ouzel.planner.rules.align_union_branches import named
from ouzel.planner.rules.dag import Dag


def separate_twin_branches(dag: Dag) -> Dag:
    """When the same node is two branches of a union, give the second a projection: a component reads a stream once.

    Without it, both copies of a frame would have one id, and a stateful reader would take the second for a replay.
    """
    return dag.rewritten(_separate)


def _separate(node: Node, shared: Set[int]) -> Node:
    if not isinstance(node, Union):
        return node
    seen: set[int] = set()
    branches: list[Node] = []
    for branch in flat_branches(node):
        branches.append(named(branch, node.schema.names) if id(branch) in seen else branch)
        seen.add(id(branch))
    return Union(tuple(branches))


def flat_branches(node: Node) -> tuple[Node, ...]:
    """What a reader of the node reads in the end: unions within unions dissolved, left to right."""
    if not isinstance(node, Union):
        return (node,)
    return tuple(leaf for branch in node.branches for leaf in flat_branches(branch))
