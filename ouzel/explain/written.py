"""Which operators a component has, and where in the text of the query each was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from ouzel.compiler.expressions import Expression, walk_expression
from ouzel.compiler.plan import Node
from ouzel.compiler.written import WrittenOperator, WrittenQuery
from ouzel.explain.wording import node_text
from ouzel.planner.topology import Topology

_INPUTS = ("input", "left", "right", "inputs", "written")
"""Fields of nodes that are other nodes, or no part of what the node computes."""


def find_written(topology: Topology, text: str) -> WrittenQuery:
    """The operators of each component of a topology; `text` is that in which the places of its nodes are offsets."""
    return WrittenQuery(
        text, {part.name: tuple(_operator(node, text) for node in part.chain) for part in topology.components}
    )


def _operator(node: Node, text: str) -> WrittenOperator:
    kind, does = node_text(node)
    return WrittenOperator(kind, does, tuple(sorted(set(_lines(node, text)))), node.written.place)


def _lines(node: Node, text: str) -> Iterator[int]:
    """The lines of a node's clause, of the expressions that it computes, and of the node that it is a half of."""
    if not text:
        return
    for offset in (node.written.clause, node.written.begins):
        if 0 <= offset < len(text):
            yield text.count("\n", 0, offset) + 1
    for one in fields(node):
        if one.name in _INPUTS:
            continue
        value = vars(node)[one.name]
        if isinstance(value, Node):
            yield from _lines(value, text)
        yield from (part.written.number for part in _expressions(value) if part.written is not None)


def _expressions(value: object) -> Iterator[Expression]:
    """All expressions in a field of a node: alone, in tuples, and in dataclasses such as calls of aggregates."""
    if isinstance(value, Expression):
        yield from walk_expression(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)
    elif is_dataclass(value) and not isinstance(value, Node | type):
        for one in fields(value):
            yield from _expressions(vars(value).get(one.name))
