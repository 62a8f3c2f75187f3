"""From the plan nodes of one component to its chain of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ouzel.compiler import plan
from ouzel.compiler.plan.tables import NodeTable, Refused
from ouzel.planner.refused import NOT_IN_TOPOLOGIES, TOPOLOGIES
from ouzel.planner.settings import Settings
from ouzel.planner.topology import DEFAULT_STREAM, Output
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.chain import Chain, Edges
from ouzel.runtime.operators.joined.asof_join import AsofJoining
from ouzel.runtime.operators.joined.interval_join import IntervalJoining
from ouzel.runtime.operators.joined.join import Joining
from ouzel.runtime.operators.joined.sets import Comparing
from ouzel.runtime.operators.joined.side_join import SideJoining
from ouzel.runtime.operators.keyed.aggregate import ChangingAggregation, PartialAggregation, aggregation
from ouzel.runtime.operators.keyed.gathering import Gathering
from ouzel.runtime.operators.keyed.key_lifetimes import over
from ouzel.runtime.operators.keyed.sessions import SessionAssignment
from ouzel.runtime.operators.lateness import Lateness
from ouzel.runtime.operators.ordered.first_rows import PartialTop
from ouzel.runtime.operators.ordered.top_n import top_n
from ouzel.runtime.operators.rowwise.elements import GatheringElements
from ouzel.runtime.operators.rowwise.outer_unnest import OuterUnnesting
from ouzel.runtime.operators.rowwise.python_steps import PythonSteps
from ouzel.runtime.operators.rowwise.rows import Passing, Projection, Selection, Unnesting, WatermarkAssigner
from ouzel.runtime.operators.rowwise.windows import WindowAssignment

OPERATORS: NodeTable[Callable[[Any, int], Operator]] = NodeTable(
    TOPOLOGIES,
    {
        plan.Scan: lambda _node, _seed: Passing(),  # the task reads
        plan.Project: lambda node, _seed: Projection(node),
        plan.Filter: lambda node, _seed: Selection(node.predicate),
        plan.Watermark: lambda node, _seed: WatermarkAssigner(node),
        plan.GatherElements: lambda node, _seed: GatheringElements(node),
        plan.Unnest: lambda node, _seed: Unnesting(node) if node.condition is None else OuterUnnesting(node),
        plan.ApplyPython: lambda node, _seed: PythonSteps(node),
        plan.AssignSession: lambda node, seed: SessionAssignment(node, seed),
        plan.AssignWindow: lambda node, _seed: WindowAssignment(node),
        plan.Aggregate: lambda node, seed: aggregation(node, seed, partial=False),
        plan.PartialAggregate: lambda node, seed: PartialAggregation(node.aggregate, seed),
        plan.FinalAggregate: lambda node, seed: aggregation(node.aggregate, seed, partial=True),
        plan.Join: lambda node, seed: Joining(node, seed),
        plan.SideJoin: lambda node, seed: SideJoining(node, seed),
        plan.SetOperation: lambda node, seed: Comparing(node, seed),
        plan.AsofJoin: lambda node, seed: AsofJoining(node, seed),
        plan.IntervalJoin: lambda node, seed: IntervalJoining(node, seed),
        plan.Over: over,
        plan.TopN: top_n,
        plan.PartialTopN: lambda node, _seed: PartialTop(node),
        plan.Union: lambda _node, _seed: Passing(),  # its reader has several inputs
        plan.Gather: lambda node, _seed: Gathering(node),
        plan.LateRows: lambda node, _seed: Lateness(node),
        plan.Served: Refused("only a join can ask for its rows"),
        plan.Sink: lambda _node, _seed: Passing(),  # the task writes
        **NOT_IN_TOPOLOGIES,
    },
)
"""How a task makes each node's operator, with the seed of the run."""


def build_chain(
    nodes: Sequence[plan.Node], settings: Settings, upsert_by: Sequence[str] = (), outputs: Sequence[Output] = ()
) -> Chain:
    """The operators of a component's chain, upstream first.

    Args:
        nodes: the plan's nodes.
        settings: of the run.
        upsert_by: the key of a sink that takes upserts of what comes out; where these are an aggregate's own keys, the rows that
            its new rows replace are not made at all, and the chain's `consolidated` is true.
        outputs: the streams that the nodes write; without any, the last node's rows are the default stream.

    Raises:
        NotSupported: there is no operator for a node, or no kernel for one of its expressions.
    """
    made = [OPERATORS[type(node)](node, settings.seed) for node in nodes]
    chain = Chain(made, _edges(nodes, outputs))
    _share(chain)
    place = _replaceable(nodes, upsert_by) if upsert_by else -1
    if place >= 0 and nodes[place].retracts and isinstance(operator := made[place], ChangingAggregation):
        operator.upserts = chain.consolidated = True
    return chain


def _share(chain: Chain) -> None:
    """Have a filter hand on what the projection that alone reads its rows computes as well."""
    for operator, edges in zip(chain.operators, chain.edges, strict=True):
        if isinstance(operator, Selection) and len(edges.readers) == 1 and not edges.streams and not edges.late:
            reader = chain.operators[edges.readers[0]]
            if isinstance(reader, Projection):
                operator.hand_on(reader)


def _edges(nodes: Sequence[plan.Node], outputs: Sequence[Output]) -> list[Edges]:
    """Where the rows of each node go: to those of the others that read it, and into its streams; and where those that it drops."""
    streams = [(output.place % len(nodes), output.stream) for output in outputs] or [(len(nodes) - 1, DEFAULT_STREAM)]
    readers = [
        [reader for reader, other in enumerate(nodes) if any(node is one for one in plan.streamed_inputs(other))]
        for node in nodes
    ]
    return [
        Edges(
            tuple(reader for reader in found if not nodes[reader].reads_late),
            tuple(stream for writer, stream in streams if writer == place),
            tuple(reader for reader in found if nodes[reader].reads_late),
        )
        for place, found in enumerate(readers)
    ]


def _replaceable(nodes: Sequence[plan.Node], keys: Sequence[str]) -> int:
    """The place of the aggregate whose group keys these are, seen through projections; -1 if there is none."""
    names = frozenset(keys)
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        if node.groups:
            return place if names in node.unique_keys else -1
        below = plan.names_below(node, names) if node.is_one_to_one else None
        if below is None:
            return -1
        names = below
    return -1
