"""Remove projections that change nothing."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Node, Project, Scan, Watermark
from ouzel.planner.rules.dag import Dag


def remove_trivial_projects(dag: Dag) -> Dag:
    """Remove a projection that gives exactly its input's columns, in their order, under their names."""
    return dag.rewritten(_remove)


def _remove(node: Node, shared: Set[int]) -> Node:
    if not (isinstance(node, Project) and _is_trivial(node)):
        return node
    below = node.input
    if not node.written.name or below.written.name or id(below) in shared or isinstance(below, Scan | Watermark):
        return below
    return replace(below, written=replace(node.written, clause=below.written.clause))  # it is the view now


def _is_trivial(node: Project) -> bool:
    same = all(isinstance(value, Column) and value.name == name for name, value in node.items)
    return same and tuple(name for name, _ in node.items) == node.input.schema.names
