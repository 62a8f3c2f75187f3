"""Where a component begins, and when a sink stays in the tasks that make its rows instead of costing a hop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ouzel.compiler.plan import (
    DistributionKind,
    Node,
    Sink,
    SinkMode,
    names_above,
    names_at_top,
    needs_routing,
    scans_in,
    streamed_inputs,
)
from ouzel.planner.rules.combine_before_shuffle import wants_partial_key
from ouzel.planner.rules.dag import Dag


def starts_component(node: Node, shared: frozenset[int], dag: Dag) -> bool:
    """Whether the node begins a component, or goes on in its input's; `shared` are the ids of nodes that several read."""
    inputs = streamed_inputs(node)
    if len(inputs) != 1 or inputs[0].merges_streams:
        return True
    if node.writes_table:
        sink = next(sink for sink in dag.sinks if sink is node)
        return id(sink.input) in shared or not _can_stay(sink, shared, dag)
    return needs_routing(node) or (bool(node.partial_keys) and wants_partial_key(node, dag))


def _can_stay(sink: Sink, shared: frozenset[int], dag: Dag) -> bool:
    """A sink is fused with what does not branch and is partitioned by the sink's keys.

    With a spout it is if nothing is written twice after a crash: a spout reads again what it has not committed, and as a task of its own
    the sink would know that. An item of a queue is held for so long as another task may fail it, so its spout only reads.
    What is left here as a component of its own may still stay with the only task that makes its rows: see `components.keep_sinks`.
    """
    hinted = dag.hints.placed
    if sink.traits.alone or sink.table in hinted:
        return False
    before = list(_down(sink, shared, dag))
    head = before[-1]
    if any(id(node) in shared for node in before):
        return False
    if not head.inputs:
        by_token = any(scan.traits.by_token for scan in scans_in((head,)))
        return bool(head.reads_table) and sink.mode is SinkMode.APPEND and sink.traits.once and not by_token
    return may_write_in_parts(sink, before)


def may_write_in_parts(sink: Sink, before: Sequence[Node]) -> bool:
    """Whether several tasks that make the sink's rows may each write their own: all changes of one key of the sink come from one task.

    Args:
        sink: what writes.
        before: the nodes below it, from the one that it reads down to where their component begins.
    """
    if sink.traits.alone:
        return False
    if sink.mode is SinkMode.APPEND:
        return True
    whole = all(spread.kind in (DistributionKind.KEYS, DistributionKind.SINGLE) for spread in before[-1].distribution)
    return whole and (sink.mode is SinkMode.RETRACT or _keys_reach(sink, before))


def _down(sink: Sink, shared: frozenset[int], dag: Dag) -> Iterator[Node]:
    """The nodes below the sink, down to where their component begins."""
    node: Node = sink.input
    yield node
    while not starts_component(node, shared, dag):
        (node,) = streamed_inputs(node)
        yield node


def _keys_reach(sink: Sink, before: Sequence[Node]) -> bool:
    """Whether all rows of one key of the sink come from one task: what they are spread by is part of the sink's key."""
    *above, head = before
    return all(
        names_at_top(names_above(head, frozenset({key}), number), above) & set(sink.keys)
        for number, spread in enumerate(head.distribution)
        for key in spread.keys
    )
