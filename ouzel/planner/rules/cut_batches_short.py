"""Leave out of each batch, where it is made, the rows that cannot be among the first, before it is sent to the tasks that rank them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from ouzel.compiler.plan import Node, PartialTopN, TopN, Union
from ouzel.planner.rules.dag import Dag


def cut_batches_short(dag: Dag) -> Dag:
    """Put a PartialTopN below each TopN by number whose rows are never taken back.

    Every row renews the time of its partition, if partitions are forgotten, so then none is left out.
    """

    def change(node: Node, _shared: Set[int]) -> Node:
        if (
            not isinstance(node, TopN)
            or node.function != "row_number"
            or node.input.retracts
            or node.lifetime is not None
        ):
            return node
        below = node.input
        if isinstance(below, PartialTopN) or (isinstance(below, Union) and isinstance(below.branches[0], PartialTopN)):
            return node
        return replace(node, input=_partial(below, node))

    return dag.rewritten(change)


def _partial(node: Node, top: TopN) -> Node:
    if not isinstance(node, Union):
        return PartialTopN(node, top)
    return Union(tuple(PartialTopN(branch, top) for branch in node.branches))
