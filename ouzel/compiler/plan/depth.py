"""How deep a plan is: views upon views, and subqueries in subqueries."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.compiler.depth import MOST_LEVELS
from ouzel.compiler.plan.base import Node
from ouzel.compiler.plan.rowwise import Project
from ouzel.errors import QueryError

MOST_NODES = 4 * MOST_LEVELS
"""The most nodes on a path from a sink down to a source."""


def refuse_deep_plans(sinks: Sequence[Node]) -> None:
    """Refuse a plan so deep that code which goes down it by recursion would fail.

    Raises:
        QueryError: a path has more than MOST_NODES nodes, or more than MOST_LEVELS projections, which a rule makes one.
    """
    known: dict[int, tuple[int, int]] = {}
    waiting = list(sinks)
    while waiting:
        node = waiting[-1]
        open_ = [below for below in node.inputs if id(below) not in known]
        if open_:
            waiting += open_
            continue
        waiting.pop()
        depths = [known[id(below)] for below in node.inputs]
        nodes = 1 + max((deep for deep, _ in depths), default=0)
        projections = 1 + max((run for _, run in depths), default=0) if isinstance(node, Project) else 0
        if nodes > MOST_NODES or projections > MOST_LEVELS:
            raise QueryError(
                f"views and subqueries are nested too deep: {max(nodes, projections)} steps are below each other",
                instead="write a table in between with INSERT INTO, and read that",
            )
        known[id(node)] = (nodes, projections)
