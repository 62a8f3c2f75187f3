"""Compute in each branch of a union what would be computed after it."""

from __future__ import annotations

from collections.abc import Set

from ouzel.compiler.plan import Node, Union
from ouzel.planner.rules.dag import Dag


def distribute_over_unions(dag: Dag) -> Dag:
    """Move nodes that work row by row from above a union into its branches, where they fuse with what is there.

    Unions then stand only below what needs a grouping anyway, and cost no hop: their reader just has several inputs.
    """
    return dag.rewritten(_distribute)


def _distribute(node: Node, shared: Set[int]) -> Node:
    if not node.is_rowwise or len(node.inputs) != 1:
        return node
    (union,) = node.inputs
    if not isinstance(union, Union) or id(union) in shared:
        return node
    return Union(tuple(node.with_inputs((branch,)) for branch in union.branches))
