"""Where a component begins, and when a sink stays in the tasks that make its rows instead of costing a hop."""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.compiler.plan import (
    DistributionKind,
    Node,
    PartialAggregate,
    Sink,
    SinkMode,
    Union,
    names_above,
    names_at_top,
)
from ouzel.planner.rules.combine_before_shuffle import wants_partial_key
from ouzel.planner.rules.dag import Dag


def needs_routing(node: Node) -> bool:
    """Whether the node needs certain rows of an input in one task: what makes its rows elsewhere sends them to where they belong."""
    return any(spread.kind is not DistributionKind.ANY for spread in node.distribution)


def starts_component(node: Node, shared: frozenset[int], dag: Dag) -> bool:
    """Whether the node begins a component, or goes on in its input's; `shared` are the ids of nodes that several read."""
    if len(node.inputs) != 1 or isinstance(node.inputs[0], Union):
        return True
    if isinstance(node, Sink):
        return id(node.input) in shared or not _stays(node, shared, dag)
    return needs_routing(node) or (isinstance(node, PartialAggregate) and wants_partial_key(node, dag))


def _stays(sink: Sink, shared: frozenset[int], dag: Dag) -> bool:
    """A sink is fused with a bolt that does not branch and is partitioned by the sink's keys; a spout only reads."""
    hinted = {name for name, _ in (*dag.hints.parallelism, *dag.hints.grouping)}
    if sink.traits.alone or sink.table in hinted:
        return False
    before = list(_down(sink, shared, dag))
    head = before[-1]
    if not head.inputs or any(id(node) in shared for node in before):
        return False
    if sink.mode is SinkMode.APPEND:
        return True
    whole = all(spread.kind in (DistributionKind.KEYS, DistributionKind.SINGLE) for spread in head.distribution)
    return whole and (sink.mode is SinkMode.RETRACT or _keys_reach(sink, before))


def _down(sink: Sink, shared: frozenset[int], dag: Dag) -> Iterator[Node]:
    """The nodes below the sink, down to where their component begins."""
    node: Node = sink.input
    yield node
    while not starts_component(node, shared, dag):
        node = node.inputs[0]
        yield node


def _keys_reach(sink: Sink, before: list[Node]) -> bool:
    """Whether all rows of one key of the sink come from one task: what they are spread by is part of the sink's key."""
    *above, head = before
    return all(
        names_at_top(names_above(head, frozenset({key}), number), above) & set(sink.keys)
        for number, spread in enumerate(head.distribution)
        for key in spread.keys
    )
