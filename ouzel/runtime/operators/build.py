"""From the plan nodes of one component to its chain of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import (
    Aggregate,
    AssignWindow,
    Filter,
    FinalAggregate,
    Node,
    PartialAggregate,
    Project,
    Unnest,
    Watermark,
)
from ouzel.errors import NotSupported
from ouzel.planner.settings import Settings
from ouzel.runtime.operators.aggregate import ChangingAggregation, PartialAggregation, aggregation
from ouzel.runtime.operators.base import Chain, Operator
from ouzel.runtime.operators.rowwise import Projection, Selection, TimeSight, Unnesting
from ouzel.runtime.operators.windows import WindowAssignment

_OPERATORS: dict[type[Node], Callable[[Any, int], Operator]] = {
    Project: lambda node, _seed: Projection(node),
    Filter: lambda node, _seed: Selection(node),
    Watermark: lambda node, _seed: TimeSight(node),
    Unnest: lambda node, _seed: Unnesting(node),
    AssignWindow: lambda node, _seed: WindowAssignment(node),
    Aggregate: lambda node, seed: aggregation(node, seed, partial=False),
    PartialAggregate: lambda node, seed: PartialAggregation(node.aggregate, seed),
    FinalAggregate: lambda node, seed: aggregation(node.aggregate, seed, partial=True),
}


def build_chain(nodes: Sequence[Node], settings: Settings, upsert_by: Sequence[str] = ()) -> Chain:
    """The operators of a component's chain, upstream first, without its Scan and Sink.

    Args:
        nodes: the plan's nodes.
        settings: of the run.
        upsert_by: the key of a sink that takes upserts of what comes out; where these are an aggregate's own keys, the rows that
            its new rows replace are not made at all, and the chain's `consolidated` is true.

    Raises:
        NotSupported: there is no operator for a node, or no kernel for one of its expressions.
    """
    chain = Chain([_operator(node, settings.seed) for node in nodes])
    place = _replaceable(nodes, upsert_by) if upsert_by else -1
    if place >= 0 and isinstance(operator := chain.operators[place], ChangingAggregation):
        operator.upserts = chain.consolidated = True
    return chain


def _replaceable(nodes: Sequence[Node], keys: Sequence[str]) -> int:
    """The place of the aggregate whose group keys these are, seen through projections; -1 if there is none."""
    names = set(keys)
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        if isinstance(node, Project):
            items = dict(node.items)
            if not all(isinstance(items[name], Column) for name in names):
                return -1
            names = {str(items[name]) for name in names}
        elif isinstance(node, Aggregate | FinalAggregate):
            grouped = node.keys if isinstance(node, Aggregate) else node.aggregate.keys
            return place if names == set(grouped) else -1
        else:
            return -1
    return -1


def _operator(node: Node, seed: int) -> Operator:
    make = _OPERATORS.get(type(node))
    if make is None:
        raise NotSupported(f"{type(node).__name__} cannot be computed in a stream")
    return make(node, seed)
