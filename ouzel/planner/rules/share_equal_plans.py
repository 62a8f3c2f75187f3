"""Compute once what a query asks for in several places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan import DropsLate, Node, keeps_rows
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.rules.predicates import is_deterministic
from ouzel.planner.rules.push_filters_to_sources import push_filters_to_sources


def share_equal_plans(dag: Dag) -> Dag:
    """Let equal nodes be one, where they keep rows or something below them does (hash-consing: Ershov, CACM 1(8), 1958).

    It is no rule of the topology: both engines get what it makes of a plan as it was written. Columns are not pruned yet, so equal parts
    are equal whatever their readers take of them. Parts into which unequal filters can come down stay apart, for each keeps less by itself.
    """
    equal, fit = _find_equal(dag, _marks(dag)), _fit(dag)
    made: dict[int, Node] = {}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        first = equal[id(node)]
        if id(node) not in fit or id(first) not in made:
            made[id(node)] = with_inputs(node, inputs)
            return made[id(node)]
        return made[id(first)]

    return dag.rebuilt(make)


def _find_equal(dag: Dag, mark: Callable[[Node], object]) -> dict[int, Node]:
    """Of each node, by its `id()`, the first that is equal to it and has the same mark."""
    found: dict[int, Node] = {}
    alike: dict[object, list[Node]] = {}
    for node in dag.nodes():
        inputs = tuple(id(found[id(upstream)]) for upstream in node.inputs)
        others = alike.setdefault((type(node), mark(node), inputs), [])
        found[id(node)] = next((other for other in others if node.with_inputs(other.inputs) == other), node)
        if found[id(node)] is node:
            others.append(node)
    return found


def _marks(dag: Dag) -> Callable[[Node], object]:
    """What nodes must have in common, beside being equal, to become one: what a hint says, and which filters come down into them."""
    lowered = push_filters_to_sources(dag)
    equal = _find_equal(lowered, lambda node: None)
    keeping, lower = (filter(keeps_rows, one.nodes()) for one in (dag, lowered))
    filtered = {id(node): id(equal[id(moved)]) for node, moved in zip(keeping, lower, strict=True)}
    streamed = {id(node) for node in dag.streams()}
    return lambda node: (filtered.get(id(node)), node.written.name in dag.hints.combining, id(node) in streamed)


def _fit(dag: Dag) -> set[int]:
    """The nodes that may become one with others.

    With something that keeps rows, or it gains little; without what gives something else each time, and whose late rows are not asked for.
    """
    keeping, whole = set[int](), set[int]()
    for node in dag.nodes():
        below = {id(upstream) for upstream in node.inputs}
        if keeps_rows(node) or below & keeping:
            keeping.add(id(node))
        if below <= whole and _is_repeatable(node):
            whole.add(id(node))
    return (keeping & whole) - {id(sink) for sink in dag.sinks}


def _is_repeatable(node: Node) -> bool:
    shows_late = isinstance(node, DropsLate) and bool(node.late)
    return not shows_late and all(is_deterministic(part) for part in _expressions(node))


def _expressions(value: object) -> Iterator[Expression]:
    """The expressions that a node holds, wherever in it."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _expressions(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            part = getattr(value, field.name)
            if not isinstance(part, Node):
                yield from _expressions(part)
