"""EXPLAIN STATE: what each operator keeps, of what, for how long, and how it could be kept from growing for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ouzel.compiler.plan import (
    UNBOUNDED,
    Aggregate,
    DistributionKind,
    FinalAggregate,
    Join,
    Node,
    Over,
    SetOperation,
    TopN,
    scans_in,
    walk,
)
from ouzel.explain.wording import node_text
from ouzel.planner.topology import Component, Topology

_GROUPS = (
    "group by windows of time: TUMBLE, HOP or CUMULATE",
    "forget keys that have had no row for a while: /*+ STATE_TTL('table' = '1d') */, or by SESSION",
    "by fewer keys",
)
_ROWS = (
    "order by event time, with frames that look back",
    "partition by the window of an aggregate",
    "forget partitions that have had no row for a while: /*+ STATE_TTL('table' = '1d') */",
)
WAYS_OUT: dict[type[Node], tuple[str, str, str]] = {
    Aggregate: _GROUPS,
    FinalAggregate: _GROUPS,
    Join: (
        "join within a span of time: AND b.ts BETWEEN a.ts - INTERVAL '1' HOUR AND a.ts",
        "forget rows in event time: /*+ STATE_TTL('a' = '1d', 'b' = '1d') */",
        "join a table of versions as of a time, by ASOF JOIN, and a small table at rest by the hint /*+ BROADCAST(b) */",
    ),
    Over: _ROWS,
    TopN: _ROWS,
    SetOperation: ("compare windows, with window_start in the rows", "compare fewer columns", "filter both inputs"),
}
"""Of each class of nodes whose state may grow for ever three ways to bound it."""


def list_state(made: Topology) -> Iterator[dict[str, Any]]:
    """What is kept, operator by operator: its component, what it does, what it keeps, by which key, in how many tasks."""
    for component in made.components:
        for node in component.chain:
            if node.state_bound:
                unbounded = node.state_bound.startswith(UNBOUNDED)
                yield {
                    "component": component.name,
                    "operator": " ".join(node_text(node)),
                    "keeps": node.state_bound.removeprefix(f"{UNBOUNDED}: "),
                    "by": _describe_key(node),
                    "tasks": component.parallelism,
                    "bounded": not unbounded,
                    "ways_out": list(WAYS_OUT[type(node)]) if unbounded else [],
                }


def list_growing(made: Topology) -> Iterator[tuple[Component, Node]]:
    """The operators whose state grows for ever, with their components."""
    for component in made.components:
        yield from ((component, node) for node in component.chain if node.state_bound.startswith(UNBOUNDED))


def warn_of_growth(made: Topology, endless: frozenset[str]) -> Iterator[str]:
    """A sentence for each operator whose state grows as long as the `endless` tables that it reads do."""
    for component, node in list_growing(made):
        tables = sorted({scan.table for scan in scans_in(walk(node))} & endless)
        if tables:
            ways = "; or ".join(WAYS_OUT[type(node)])
            yield f"the state of {component.name} is {node.state_bound}, and grows as long as {', '.join(tables)} does: {ways}"


def _describe_key(node: Node) -> str:
    """The columns by which the state is dealt to tasks."""
    if any(spread.kind is DistributionKind.OWN for spread in node.distribution):
        return "nothing: each task has all"
    keys = dict.fromkeys(", ".join(spread.keys) for spread in node.distribution if spread.kind is DistributionKind.KEYS)
    return " = ".join(keys) or "nothing: one task has all"
