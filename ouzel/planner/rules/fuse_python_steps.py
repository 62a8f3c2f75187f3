"""Call the user's functions one after the other, without columns between them."""

from __future__ import annotations

from collections.abc import Set

from ouzel.compiler.plan import ApplyPython, Node, StepKind
from ouzel.planner.rules.dag import Dag

MOST_BRANCHES = 8
"""So many steps of one loop may give several records: Python's compiler takes twenty blocks in one another, and each is two."""


def fuse_python_steps(dag: Dag) -> Dag:
    """One loop for steps in Python that follow each other, unless others read what is between them. Steps by columns stay alone."""
    return dag.rewritten(_fuse)


def _fuse(node: Node, shared: Set[int]) -> Node:
    if not isinstance(node, ApplyPython):
        return node
    below = node.input
    if not isinstance(below, ApplyPython) or id(below) in shared:
        return node
    steps = (*below.steps, *node.steps)
    branches = sum(step.kind is StepKind.FLAT_MAP for step in steps)
    if any(step.by_columns for step in steps) or branches > MOST_BRANCHES:
        return node
    return node.fuse(below)
