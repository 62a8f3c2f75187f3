"""A stream that a node reads twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from ouzel.compiler.plan import Node
from ouzel.planner.rules.align_union_branches import rename_columns
from ouzel.planner.rules.dag import Dag


def separate_twin_branches(dag: Dag) -> Dag:
    """When the same node is two branches of a union, or two inputs of a node, give the second a projection.

    A component reads a stream once. Without it, both copies of a frame would have one id, and a stateful reader would take the second for
    a replay.
    """
    return dag.rewritten(_separate)


def _separate(node: Node, shared: Set[int]) -> Node:
    if node.merges_streams:
        names = node.schema.names
        return node.with_inputs(tuple(_apart([(branch, names) for branch in flat_branches(node)])))
    if len(node.inputs) < 2:
        return node
    return node.with_inputs(tuple(_apart([(upstream, upstream.schema.names) for upstream in node.inputs])))


def _apart(nodes: Sequence[tuple[Node, tuple[str, ...]]]) -> Iterator[Node]:
    seen: set[int] = set()
    for node, names in nodes:
        yield rename_columns(node, names) if id(node) in seen else node
        seen.add(id(node))


def flat_branches(node: Node) -> tuple[Node, ...]:
    """What a reader of the node reads in the end: unions within unions dissolved, left to right."""
    if not node.merges_streams:
        return (node,)
    return tuple(leaf for branch in node.inputs for leaf in flat_branches(branch))
