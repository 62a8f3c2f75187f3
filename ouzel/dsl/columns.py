"""Nodes of a plan with other columns."""

from __future__ import annotations

from collections.abc import Iterable

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Node, Project


def keep_columns(node: Node, names: Iterable[str]) -> Node:
    """The node with these columns."""
    names = tuple(names)
    if node.schema.names == names:
        return node
    return Project(node, tuple((name, Column(node.schema[name].type, name)) for name in names))


def name_columns(node: Node, names: tuple[str, ...]) -> Node:
    """The node with its columns under these names, in order."""
    if node.schema.names == names:
        return node
    pairs = zip(names, node.schema, strict=True)
    return Project(node, tuple((name, Column(field.type, field.name)) for name, field in pairs))
