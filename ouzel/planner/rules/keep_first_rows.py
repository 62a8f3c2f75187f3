"""A filter on the place of a row is Top-N: only rows that can be among the first are kept."""

from __future__ import annotations

from collections.abc import Set

from ouzel.compiler.expressions import Call, Column, Expression, Literal, conjunction, conjuncts
from ouzel.compiler.plan import Filter, Node, Over, TopN
from ouzel.planner.rules.dag import Dag

_PLACES = frozenset({"row_number", "rank", "dense_rank"})


def keep_first_rows(dag: Dag) -> Dag:
    """Make TopN of a filter such as `place <= 3` over the one call ROW_NUMBER, RANK or DENSE_RANK that gives the place.

    Where rows wait for the watermark anyway, Over keeps no more than it must, and stays.
    """
    return dag.rewritten(_make)


def _make(node: Node, shared: Set[int]) -> Node:
    if not isinstance(node, Filter) or not isinstance(node.input, Over) or id(node.input) in shared:
        return node
    over = node.input
    if over.closes or len(over.calls) != 1 or over.calls[0].function not in _PLACES:
        return node
    name = over.calls[0].name
    bounds = [(part, _most(part, name)) for part in conjuncts(node.predicate)]
    known = [bound for _, bound in bounds if bound is not None]
    if not known:
        return node
    ties = over.ties if over.calls[0].function == "row_number" else ()
    top = TopN(
        over.input,
        over.partition,
        over.order,
        ties,
        over.calls[0].function,
        max(min(known), 0),
        0,
        name,
        lifetime=over.lifetime,
        written=over.written,
    )
    rest = [part for part, bound in bounds if bound is None or not _says_all(part)]
    return Filter(top, conjunction(rest), written=node.written) if rest else top


def _most(part: Expression, name: str) -> int | None:
    """The largest place that the condition leaves."""
    match part:
        case Call(
            function="le" | "lt" | "eq" as function, arguments=(Column(name=column), Literal(value=int(value)))
        ) if column == name:
            return value - (function == "lt")
        case Call(
            function="ge" | "gt" | "eq" as function, arguments=(Literal(value=int(value)), Column(name=column))
        ) if column == name:
            return value - (function == "gt")
    return None


def _says_all(part: Expression) -> bool:
    """Whether the condition is but a bound from above: places begin with 1."""
    assert isinstance(part, Call)
    return part.function != "eq" or any(isinstance(value, Literal) and value.value == 1 for value in part.arguments)
