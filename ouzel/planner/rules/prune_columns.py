"""Read, compute and send no column that nobody asks for."""

from __future__ import annotations

from ouzel.compiler.expressions import Column
from ouzel.compiler.plan import DistributionKind, Node, Project, needed_columns
from ouzel.planner.rules.dag import Dag


def prune_columns(dag: Dag) -> Dag:
    """Drop columns from projections, aggregates and scans, down to the source; order is kept.

    A frame needs a column to have a height, so one always stays. An expression that is dropped can no longer fail its row, as in Spark. A
    table whose bad records are skipped or set aside is read whole: which records those are must not depend on the query.
    """
    wanted: dict[int, set[str]] = {id(node): set() for node in dag.nodes()}
    for node in reversed(list(dag.nodes())):
        for upstream, needed in zip(node.inputs, needed_columns(node, frozenset(wanted[id(node)])), strict=True):
            wanted[id(upstream)] |= needed & set(upstream.schema.names)
    return dag.rebuilt(lambda node, inputs: _prune(node, frozenset(wanted[id(node)]), inputs))


def _prune(node: Node, wanted: frozenset[str], inputs: tuple[Node, ...]) -> Node:
    needs = zip(inputs, needed_columns(node, wanted), node.distribution, strict=True)
    return node.prune(
        wanted,
        tuple(
            upstream if spread.kind is DistributionKind.ANY else _only(upstream, needed)
            for upstream, needed, spread in needs
        ),
    )


def _only(node: Node, needed: frozenset[str]) -> Node:
    """The node without columns that are not needed: what comes next is a hop to another process."""
    kept = [field for field in node.schema if field.name in needed] or list(node.schema)[:1]
    if len(kept) == len(node.schema):
        return node
    return Project(node, tuple((field.name, Column(field.type, field.name)) for field in kept))
