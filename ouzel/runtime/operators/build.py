"""From the plan nodes of one component to its chain of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from ouzel.runtime.operators.aggregate import PartialAggregation, aggregation
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


def build_chain(nodes: Sequence[Node], settings: Settings) -> Chain:
    """The operators of a component's chain, upstream first, without its Scan and Sink.

    Raises:
        NotSupported: there is no operator for a node, or no kernel for one of its expressions.
    """
    return Chain([_operator(node, settings.seed) for node in nodes])


def _operator(node: Node, seed: int) -> Operator:
    make = _OPERATORS.get(type(node))
    if make is None:
        raise NotSupported(f"{type(node).__name__} cannot be computed in a stream")
    return make(node, seed)
