"""Compute in each branch of a union what would be computed after it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from ouzel.compiler.plan import Node, Union
from ouzel.planner.rules.dag import STATELESS, Dag


def distribute_over_unions(dag: Dag) -> Dag:
    """Move stateless nodes from above a union into its branches, where they fuse with what is there.

    Unions then stand only below what needs a grouping anyway, and cost no hop: their reader just has several inputs.
    """
    return dag.rewritten(_distribute)


def _distribute(node: Node, shared: Set[int]) -> Node:
    if not isinstance(node, STATELESS) or not isinstance(node.input, Union) or id(node.input) in shared:
        return node
    return Union(tuple(replace(node, input=branch) for branch in node.input.branches))
