"""Compute adjacent projections in one, and adjacent filters in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace

from ouzel.compiler.expressions import Column, conjunction, is_trivial, substitute, walk_expression
from ouzel.compiler.functions.guards import can_fail
from ouzel.compiler.plan import Filter, Node, Project
from ouzel.planner.rules.dag import Dag


def fuse_projections(dag: Dag) -> Dag:
    """Put the lower projection's expressions into the upper one, unless one would be computed twice; join filters by AND.

    An upper filter that can fail stays by itself: AND would evaluate it on rows where the lower one is NULL.
    """
    return dag.rewritten(_fuse)


def _fuse(node: Node, shared: Set[int]) -> Node:
    if id(next(iter(node.inputs), None)) in shared:
        return node
    match node:
        case Project(input=Project() as lower) if _computes_once(node, lower):
            values = dict(lower.items)
            items = tuple((name, substitute(value, values)) for name, value in node.items)
            return replace(node, input=lower.input, items=items)
        case Filter(input=Filter() as lower) if not can_fail(node.predicate):
            return Filter(lower.input, conjunction([lower.predicate, node.predicate]))
    return node


def _computes_once(upper: Project, lower: Project) -> bool:
    parts = (part for _, value in upper.items for part in walk_expression(value))
    uses = Counter(part.name for part in parts if isinstance(part, Column))
    return all(is_trivial(value) or uses[name] <= 1 for name, value in lower.items)
