"""Where a component begins, and when a sink stays in the tasks that make its rows instead of costing a hop."""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import Aggregate, FinalAggregate, Node, PartialAggregate, Project, Scan, Sink, SinkMode, Union
from ouzel.planner.rules.combine_before_shuffle import wants_partial_key
from ouzel.planner.rules.dag import Dag

STATEFUL = (Aggregate, FinalAggregate)
"""Nodes that need all rows of a key in one task."""


def starts_component(node: Node, shared: frozenset[int], dag: Dag) -> bool:
    """Whether the node begins a component, or goes on in its input's; `shared` are the ids of nodes that several read."""
    if isinstance(node, (Scan, *STATEFUL)):
        return True
    if isinstance(node, PartialAggregate) and wants_partial_key(node, dag):
        return True
    if isinstance(node.inputs[0], Union) or id(node.inputs[0]) in shared:
        return True
    return isinstance(node, Sink) and not _stays(node, shared, dag)


def _stays(sink: Sink, shared: frozenset[int], dag: Dag) -> bool:
    """A sink stays in a bolt whose tasks each have all that may be said of its rows; a spout only reads."""
    hinted = {name for name, _ in (*dag.hints.parallelism, *dag.hints.grouping)}
    if sink.traits.alone or sink.table in hinted:
        return False
    before = list(_down(sink, shared, dag))
    head = before[-1]
    if isinstance(head, Scan):
        return False
    if sink.mode is SinkMode.APPEND:
        return True
    return isinstance(head, STATEFUL) and (sink.mode is SinkMode.RETRACT or _keys_reach(sink, before))


def _down(sink: Sink, shared: frozenset[int], dag: Dag) -> Iterator[Node]:
    """The nodes below the sink, down to where their component begins."""
    node: Node = sink.input
    yield node
    while not starts_component(node, shared, dag):
        node = node.inputs[0]
        yield node


def _keys_reach(sink: Sink, before: list[Node]) -> bool:
    """Whether all rows of one key of the sink come from one task: what they are dealt by is part of the sink's key."""
    head = before[-1]
    assert isinstance(head, STATEFUL)
    return all(_names_above(key, before[:-1]) & set(sink.keys) for key in dealt_by(head))


def _names_above(key: str, before: list[Node]) -> set[str]:
    names = {key}
    for node in reversed(before):
        if isinstance(node, Project):
            names = {name for name, value in node.items if isinstance(value, Column) and value.name in names}
    return names


def dealt_by(node: Aggregate | FinalAggregate | PartialAggregate) -> tuple[str, ...]:
    """The keys without the window's, for few windows are open at once; the window's end if there is no other."""
    aggregate = node if isinstance(node, Aggregate) else node.aggregate
    if not aggregate.window:
        return aggregate.keys
    return tuple(key for key in aggregate.keys if key not in aggregate.window) or (aggregate.window[1],)
