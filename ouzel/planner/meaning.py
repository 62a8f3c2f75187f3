"""What an operator's state means: two operators of one meaning have kept the same of the same rows.

The ids of nodes (`stable_id`) say what is computed, and of what, whatever it is called. For state that is to outlive its query they say too
much in one place and too little in three. Too much: where a filter stands, at the source or behind it, depends on who else reads the
source. Too little: what the user's own functions say, what event time is where something waits for it, and what a table held that is read
whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from ouzel.compiler.code_identity import code_id
from ouzel.compiler.expressions import Call, Expression, conjuncts, rewrite, walk_expression
from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.compiler.functions.registry import Function
from ouzel.compiler.plan import (
    Aggregate,
    AggregateCall,
    Filter,
    FinalAggregate,
    Gather,
    Node,
    PartialAggregate,
    PartialTopN,
    Project,
    Scan,
    Served,
    SideJoin,
    Watermark,
    keeps_rows,
    walk,
)
from ouzel.compiler.plan.identity import digest, meaning
from ouzel.compiler.plan.over import OverCall
from ouzel.compiler.plan.python_steps import PythonStep
from ouzel.compiler.types import Schema
from ouzel.planner.topology import Digests, Topology

UNKNOWN = "unknown"
"""The code of a function of which nothing was noted."""


@dataclass(frozen=True)
class Rows:
    """Which rows a node has, apart from what they are filtered by, and the conditions that all of them meet."""

    base: str
    conditions: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """A digest of both."""
        return digest(self.base, *sorted(self.conditions)) if self.conditions else self.base


@dataclass(frozen=True)
class _Input:
    """Stands for an input of a node when that is asked for its ids."""

    schema: Schema
    rows: Rows
    column_ids: Mapping[str, str]
    retracts: bool
    inputs: tuple[_Input, ...]

    @property
    def rows_id(self) -> str:
        return self.rows.id

    def meaning(self, expression: Expression) -> object:
        return meaning(expression, self.column_ids)


class Meanings:
    """The meanings of the nodes of one plan.

    Args:
        code: of the user's functions, by `function_key`, as it was when the plan was made.
        sides: what the tables held that are read whole.
        trusts: a function that is called with a row, and gives what has the same types, counts as the same whatever its code is.
    """

    def __init__(
        self, code: Iterable[tuple[str, str]] = (), sides: Iterable[tuple[str, Digests]] = (), *, trusts: bool = False
    ) -> None:
        self._code, self._sides, self._trusts = dict(code), dict(sides), trusts
        self._known: dict[int, tuple[Node, _Input]] = {}

    def of(self, node: Node) -> str:
        """What the state of a node means."""
        node = whole(node)
        told = self._with_inputs(node)
        return digest(
            type(node).__name__,
            told.identity,
            self._input(node).rows.id,
            self._columns(node, told),
            self._surroundings(node),
        )

    def calls(self, aggregate: Aggregate) -> list[tuple[object, ...]]:
        """What each call of an aggregate computes."""
        told = cast(Aggregate, self._with_inputs(aggregate))
        return [told.definition(call.name) for call in told.calls]

    def conditions(self, node: Node) -> dict[str, Expression]:
        """What rows must meet to reach the node, by what it means."""
        found: dict[str, Expression] = {}
        for below in walk(whole(node)):
            if isinstance(below, Filter):
                told = cast(Filter, self._with_inputs(below))
                pairs = zip(conjuncts(told.predicate), conjuncts(below.predicate), strict=True)
                found |= {digest(told.input.meaning(one)): shown for one, shown in pairs}
            elif isinstance(below, Scan) and below.predicate is not None:
                told_scan = cast(Scan, self._with_code(below))
                assert told_scan.predicate is not None
                pairs = zip(conjuncts(told_scan.predicate), conjuncts(below.predicate), strict=True)
                found |= {digest(told_scan.meaning(one)): shown for one, shown in pairs}
        return found

    def code_of(self, node: Node) -> dict[str, str]:
        """The code of the user's functions that the node or anything before it calls, by what they are called."""
        functions = {key for below in walk(whole(node)) for key, _ in functions_in(below)}
        return {key: self._code.get(key, UNKNOWN) for key in sorted(functions)}

    def times_of(self, node: Node) -> tuple[str, ...]:
        """What event time is before the node; nothing if nobody there waits for it."""
        below = list(walk(whole(node)))
        if not any(any(one.waits) for one in below):
            return ()
        told = (cast(Watermark, self._with_inputs(one)) for one in below if isinstance(one, Watermark))
        return tuple(sorted({digest(*one.identity) for one in told}))

    def sides_of(self, node: Node) -> dict[str, Digests]:
        """What the tables held that are read whole before the node, by their names."""
        joins = [one for one in walk(whole(node)) if isinstance(one, SideJoin)]
        return {table: self._sides.get(table, ()) for one in joins for table in one.tables}

    def _columns(self, node: Node, told: Node) -> tuple[object, ...]:
        """What its columns are, in their order; and those of its inputs, of which all but a GROUP BY keep whole rows."""
        own = tuple(told.column_ids[name] for name in node.schema.names)
        if isinstance(node, Aggregate):
            return own
        return (own, *(tuple(self._input(one).column_ids.values()) for one in node.inputs))

    def _surroundings(self, node: Node) -> tuple[object, ...]:
        return (*self.times_of(node), *(part for pair in sorted(self.sides_of(node).items()) for part in pair))

    def _input(self, node: Node) -> _Input:
        if id(node) not in self._known:
            logical = whole(node)
            told = self._with_inputs(logical)
            ids = {name: told.column_ids[name] for name in logical.schema.names}
            inputs = tuple(map(self._input, node.inputs))
            made = _Input(node.schema, self._rows(logical, told), ids, node.retracts, inputs)
            self._known[id(node)] = node, made
        return self._known[id(node)][1]

    def _rows(self, node: Node, told: Node) -> Rows:
        below = [self._input(one).rows for one in node.inputs]
        match node:
            case Project() | Watermark() | PartialTopN():
                return below[0]
            case Filter():
                assert isinstance(told, Filter)
                met = {digest(told.input.meaning(one)) for one in conjuncts(told.predicate)}
                return replace(below[0], conditions=below[0].conditions | met)
            case Scan():
                assert isinstance(told, Scan)
                base = replace(told, predicate=None).rows_id
                met = (
                    set()
                    if told.predicate is None
                    else {digest(told.meaning(one)) for one in conjuncts(told.predicate)}
                )
                return Rows(base, frozenset(met))
            case _ if node.is_rowwise and len(below) == 1 and not node.calls_python:
                return Rows(digest(type(node).__name__, told.identity, below[0].base), below[0].conditions)
        return Rows(told.rows_id)

    def _with_inputs(self, node: Node) -> Node:
        """The node as it is asked for its ids: it reads what stands for its inputs, and calls functions by name and code."""
        if isinstance(node, PartialAggregate):
            aggregate = cast(Aggregate, self._with_inputs(node.aggregate))
            return replace(node, input=cast(Node, self._input(node.input)), aggregate=aggregate)
        told = self._with_code(node)
        return told.with_inputs(tuple(cast(Node, self._input(one)) for one in node.inputs)) if node.inputs else told

    def _with_code(self, node: Node) -> Node:
        node = node.as_meant(trusts=self._trusts)
        if not list(functions_in(node)):
            return node
        changed = {one.name: self._name_functions(getattr(node, one.name)) for one in fields(node) if one.init}
        return replace(node, **changed)

    def _name_functions(self, value: Any) -> Any:
        """What a node holds, each function of the user's in it called by its name and code."""
        match value:
            case tuple():
                return tuple(map(self._name_functions, value))
            case Expression():
                return rewrite(value, self._call_named)
            case AggregateCall() | OverCall() if value.row is not None:
                return replace(value, function=self._name_code(value.function))
            case PythonStep(id=key):
                return value if self._trusts else replace(value, id=self._name_code(key))
        return value

    def _call_named(self, part: Expression) -> Expression:
        if isinstance(part, Call) and part.row is not None:
            return replace(part, function=part.function if self._trusts else self._name_code(part.function))
        return part

    def _name_code(self, key: str) -> str:
        return f"{key} {self._code.get(key, UNKNOWN)}"


def whole(node: Node) -> Node:
    """The aggregate that a node is a step of: whether it is computed in one step or in two, it keeps the same."""
    return node.aggregate if isinstance(node, FinalAggregate) else node


def keeps_state(node: Node) -> bool:
    """Whether the node's operator keeps what would be lost: not what waits to be emitted, which a pause lets out."""
    return keeps_rows(node) and not isinstance(node, Gather)


def state_id(node: Node) -> str:
    """By what the state of a node's operator goes in snapshots: the last word of its name there."""
    return whole(node).stable_id


def with_code(topology: Topology) -> Topology:
    """The topology with what the user's functions say that it calls: their modules may say something else when it is read again."""
    found: dict[str, str] = {}
    seen = {id(one): one for component in topology.components for node in component.chain for one in walk(node)}
    for node in seen.values():
        for key, function in functions_in(node):
            if key not in found:
                found[key] = code_id(_without_words(function))
    return replace(topology, code=tuple(sorted(found.items())))


_WORDS = frozenset({"doc", "usage", "aliases"})
"""What a row of the registry says to people."""


def _without_words(function: object) -> object:
    if isinstance(function, Function | AggregateFunction):
        return {one.name: getattr(function, one.name) for one in fields(function) if one.name not in _WORDS}
    return function


def functions_in(node: Node) -> Iterator[tuple[str, object]]:
    """The user's functions that a node itself calls, each by what it is called in a meaning."""
    for one in fields(node):
        yield from _functions_of(getattr(node, one.name))
    if isinstance(node, Served):
        yield node.id, type(node.service)


def _functions_of(value: object) -> Iterator[tuple[str, object]]:
    match value:
        case tuple():
            for one in value:
                yield from _functions_of(one)
        case Expression():
            calls = (part for part in walk_expression(value) if isinstance(part, Call))
            yield from ((call.function, call.row) for call in calls if call.row is not None)
        case AggregateCall() | OverCall():
            if value.row is not None:
                yield value.function, value.row
        case PythonStep(id=key, function=function):
            yield key, function
