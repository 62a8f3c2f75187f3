"""UNION ALL matches columns by position; what comes after matches them by name."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Node, Project, Union
from ouzel.planner.rules.dag import Dag


def align_union_branches(dag: Dag) -> Dag:
    """Give each branch of a union a projection to the union's names. Later rules narrow these, and remove those that do nothing."""
    return dag.rewritten(_align)


def _align(node: Node, shared: Set[int]) -> Node:
    if not isinstance(node, Union):
        return node
    names = node.schema.names
    branches = tuple(
        branch if _is_own(branch, names, shared) else rename_columns(branch, names) for branch in node.branches
    )
    return replace(node, branches=branches)


def _is_own(branch: Node, names: tuple[str, ...], shared: Set[int]) -> bool:
    return isinstance(branch, Project) and branch.schema.names == names and id(branch) not in shared


def rename_columns(branch: Node, names: tuple[str, ...]) -> Project:
    """The branch with these column names."""
    pairs = zip(names, branch.schema, strict=True)
    return Project(branch, tuple((name, Column(field.type, field.name)) for name, field in pairs))
