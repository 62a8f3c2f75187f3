"""Remove projections that change nothing."""

from __future__ import annotations

from collections.abc import Set

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Node, Project
from ouzel.planner.rules.dag import Dag


def remove_trivial_projects(dag: Dag) -> Dag:
    """Remove a projection that gives exactly its input's columns, in their order, under their names."""
    return dag.rewritten(_remove)


def _remove(node: Node, shared: Set[int]) -> Node:
    return node.input if isinstance(node, Project) and _is_trivial(node) else node


def _is_trivial(node: Project) -> bool:
    same = all(isinstance(value, Column) and value.name == name for name, value in node.items)
    return same and tuple(name for name, _ in node.items) == node.input.schema.names
