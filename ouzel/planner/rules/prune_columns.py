"""Read, compute and send no column that nobody asks for."""

from __future__ import annotations

from dataclasses import replace

from ouzel.compiler.expressions import Column, Expression, columns_of
from ouzel.compiler.plan import (
    Aggregate,
    AssignWindow,
    Filter,
    FinalAggregate,
    Node,
    PartialAggregate,
    Project,
    Scan,
    Sink,
    Unnest,
    Watermark,
    Without,
)
from ouzel.planner.rules.dag import Dag, with_inputs


def prune_columns(dag: Dag) -> Dag:
    """Drop columns from projections, aggregates and scans, down to the source; order is kept.

    A frame needs a column to have a height, so one always stays. An expression that is dropped can no longer fail its row, as in Spark. A
    table whose bad records are skipped or set aside is read whole: which records those are must not depend on the query.
    """
    needed: dict[int, set[str]] = {id(node): set() for node in dag.nodes()}
    for node in reversed(list(dag.nodes())):
        asked = _asks(node, needed[id(node)])
        for upstream in node.inputs:
            needed[id(upstream)] |= asked & set(upstream.schema.names)
    return dag.rebuilt(lambda node, inputs: _narrow(node, needed[id(node)], inputs))


def _asks(node: Node, needed: set[str]) -> set[str]:
    """Columns of its input that the node must have, so that it can give those needed of it. (A union's branches have its names by now.)"""
    match node:
        case Project():
            return {name for _, value in _kept(node, needed) for name in columns_of(value)}
        case Filter(predicate=predicate):
            return needed | columns_of(predicate)
        case Watermark(column=column, expression=expression):
            return needed | {column} | columns_of(expression)
        case Unnest(array=array):
            return needed | columns_of(array)
        case AssignWindow(column=column):
            return needed | {column}
        case Aggregate():
            return _aggregated(_fewer_calls(node, needed))
        case PartialAggregate(aggregate=aggregate):
            return _aggregated(aggregate)
        case Without(aggregate=aggregate):
            return needed | _aggregated(aggregate)
        case FinalAggregate() | Sink():
            return set(node.input.schema.names)
    return needed


def _narrow(node: Node, needed: set[str], inputs: tuple[Node, ...]) -> Node:
    if isinstance(node, Scan):
        return _fewer_columns(node, needed)
    if isinstance(node, Project):
        return replace(node, input=inputs[0], items=_kept(node, needed))
    if isinstance(node, Aggregate):
        fewer = _fewer_calls(node, needed)
        return replace(fewer, input=_only(inputs[0], _aggregated(fewer)))
    return with_inputs(node, inputs)


def _kept(node: Project, needed: set[str]) -> tuple[tuple[str, Expression], ...]:
    return tuple(item for item in node.items if item[0] in needed) or node.items[:1]


def _fewer_calls(node: Aggregate, needed: set[str]) -> Aggregate:
    return replace(node, calls=tuple(call for call in node.calls if call.name in needed) or node.calls[:1])


def _aggregated(node: Aggregate) -> set[str]:
    asked = {name for call in node.calls for name in (call.argument, call.filter) if name}
    return asked | set(node.keys)


def _fewer_columns(scan: Scan, needed: set[str]) -> Scan:
    if dict(scan.options).get("bad.record", "fail") != "fail":
        return scan
    filtered = columns_of(scan.predicate) if scan.predicate else frozenset()
    names = tuple(name for name in scan.columns.names if name in needed | filtered) or scan.columns.names[:1]
    metadata = tuple(pair for pair in scan.metadata if pair[0] in names)
    return replace(scan, columns=scan.columns.select(names), metadata=metadata)


def _only(node: Node, needed: set[str]) -> Node:
    """The node without columns that are not needed: what comes next may be a hop to another process."""
    wanted = [field for field in node.schema if field.name in needed] or list(node.schema)[:1]
    if len(wanted) == len(node.schema):
        return node
    return Project(node, tuple((field.name, Column(field.type, field.name)) for field in wanted))
