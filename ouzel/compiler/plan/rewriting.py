"""The same change of every expression of a plan, whatever nodes it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import Node
from ouzel.compiler.plan.sinks import Sink

ChangeWhole = Callable[[Expression], Expression]
"""What becomes of an expression that is no part of another."""


def with_expressions(sinks: Sequence[Sink], change: ChangeWhole) -> tuple[Sink, ...]:
    """The sinks with `change` applied to each whole expression below them; it must keep an expression's type.

    A node that several read stays one node, and one without such an expression stays itself.
    """
    made: dict[int, Node] = {}
    for sink in sinks:
        _rebuild(sink, change, made)
    return tuple(cast(Sink, made[id(sink)]) for sink in sinks)


def _rebuild(top: Node, change: ChangeWhole, made: dict[int, Node]) -> None:
    """Puts what becomes of the node, and of all below it, into `made`, by the id of what it was. Plans may be deeper than a stack."""
    waiting = [top]
    while waiting:
        node = waiting[-1]
        below = [upstream for upstream in node.inputs if id(upstream) not in made]
        if below:
            waiting += below
            continue
        waiting.pop()
        if id(node) not in made:
            inputs = tuple(made[id(upstream)] for upstream in node.inputs)
            is_same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
            made[id(node)] = _rewrite(node if is_same else node.with_inputs(inputs), change)


def _rewrite(node: Any, change: ChangeWhole) -> Any:
    """A node, or a part of one, with its own expressions changed; itself if none did."""
    parts = {field.name: getattr(node, field.name) for field in fields(node) if field.init}
    new = {name: _of_value(part, change) for name, part in parts.items()}
    new = {name: part for name, part in new.items() if part is not parts[name]}
    return replace(node, **new) if new else node


def _of_value(value: Any, change: ChangeWhole) -> Any:
    match value:
        case Expression():
            made = change(value)
            return value if made == value else made
        case Node():
            return value  # an input, which has had its turn
        case tuple():
            items = [_of_value(item, change) for item in value]
            is_same = all(new is old for new, old in zip(items, value, strict=True))
            return value if is_same else tuple(items)
    return _rewrite(value, change) if is_dataclass(value) and not isinstance(value, type) else value
