"""Join tables in an order in which each has an equality with one before it, where there is such an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from ouzel.compiler.expressions import Call, Column, Expression, children, columns, columns_of, conjunction, conjuncts
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Filter, Join, JoinKind, Node, Project
from ouzel.planner.rules.dag import Dag, with_inputs


def order_joins(dag: Dag) -> Dag:
    """Join the tables of `FROM a, b, c WHERE a.k = c.k AND c.l = b.l` as a, c, b: rows of a and b meet by key, and not each with each.

    Only inner joins are moved, and only where one of them has no key; otherwise the order is the one that was written.
    """
    shared = dag.find_shared()
    lower = {
        id(below)
        for node in dag.nodes()
        if _is_inner(node) or isinstance(node, Filter)
        for below in node.inputs
        if _is_inner(below) and id(below) not in shared
    }
    chained: set[int] = set()

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = with_inputs(node, inputs)
        if id(node) in lower:
            chained.add(id(made))
            return made
        if isinstance(made, Filter) and id(made.input) in chained:
            return _with_filter(made, chained)
        return _in_order(made, chained, []) if isinstance(made, Join) and _is_inner(made) else made

    return dag.rebuilt(make)


def _is_inner(node: Node) -> bool:
    return type(node) is Join and node.kind is JoinKind.INNER


def _with_filter(node: Filter, chained: Set[int]) -> Node:
    """A filter above joins, whose equalities of columns may be keys of theirs."""
    join, parts = node.input, conjuncts(node.predicate)
    assert isinstance(join, Join)
    equal = [part for part in parts if _is_key(part)]
    made = _in_order(join, chained, equal)
    if made is join:
        return node
    rest = [part for part in parts if part not in equal]
    return replace(node, input=made, predicate=conjunction(rest)) if rest else made


def _is_key(part: Expression) -> bool:
    return (
        isinstance(part, Call)
        and part.function == "eq"
        and all(isinstance(side, Column) for side in part.arguments)
        and part.arguments[0].type == part.arguments[1].type
    )


@dataclass
class _Chain:
    """Tables that are joined, in the order in which they were written, and what their joins say."""

    tables: list[Node] = field(default_factory=list)
    keys: list[tuple[Column, Column]] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    has_cross: bool = False


def _in_order(join: Join, chained: Set[int], equal: Sequence[Expression]) -> Node:
    """The join, or one of the same columns in another order that has these equalities too."""
    chain = _Chain()
    _gather(join, chained, chain)
    whose = {name: table for table in chain.tables for name in table.schema.names}
    for part in equal:
        one, other = children(part)
        assert isinstance(one, Column)
        assert isinstance(other, Column)
        if whose[one.name] is whose[other.name]:
            chain.conditions.append(part)
        else:
            chain.keys.append((one, other))
    order = list(_order_tables(chain))
    if not chain.has_cross or all(one is other for one, other in zip(order, chain.tables, strict=True)):
        return join
    node = order[0]
    for table in order[1:]:
        node = _join(node, table, chain, join)
    names = {column.name: column for column in columns(join.schema)}
    return Project(node, tuple(names.items()), written=join.written)


def _gather(node: Node, chained: Set[int], chain: _Chain) -> None:
    """What a join and those below it that nothing else reads join, left to right."""
    assert isinstance(node, Join)
    for below in node.inputs:
        if id(below) in chained:
            _gather(below, chained, chain)
        else:
            chain.tables.append(below)
    left, right = ({column.name: column for column in columns(below.schema)} for below in node.inputs)
    chain.keys += ((left[one], right[other]) for one, other in node.keys)
    chain.conditions += conjuncts(node.condition) if node.condition is not None else ()
    chain.has_cross |= not node.keys


def _order_tables(chain: _Chain) -> Iterator[Node]:
    """The tables, each the first that was written of those with a key of one before it; the first of all where none has."""
    left = list(chain.tables)
    known: set[str] = set()
    while left:
        follows = [table for table in left if any(_pairs(known, table, chain))]
        table = (follows or left)[0]
        left = [other for other in left if other is not table]
        known |= set(table.schema.names)
        yield table


def _pairs(known: Set[str], table: Node, chain: _Chain) -> Iterator[tuple[Column, Column]]:
    """Keys of tables that are there, each with that of the table that is to be joined."""
    own = set(table.schema.names)
    for one, other in chain.keys:
        if one.name in known and other.name in own:
            yield one, other
        elif other.name in known and one.name in own:
            yield other, one


def _join(node: Node, table: Node, chain: _Chain, join: Join) -> Join:
    """The table beside those that are joined already; no column is in two keys, so what is left of them is a condition."""
    known = set(node.schema.names)
    keys: list[tuple[str, str]] = []
    rest: list[Expression] = []
    for one, other in _pairs(known, table, chain):
        if any(one.name == key or other.name == own for key, own in keys):
            rest.append(resolve_call("eq", [one, other]))
        else:
            keys.append((one.name, other.name))
    both = known | set(table.schema.names)
    rest += (part for part in chain.conditions if columns_of(part) <= both)
    chain.conditions = [part for part in chain.conditions if not columns_of(part) <= both]
    return Join(node, table, JoinKind.INNER, tuple(keys), conjunction(rest) if rest else None, written=join.written)
