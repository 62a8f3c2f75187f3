"""Which nodes of a streaming query Spark computes by its own, and which our operators compute inside its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ouzel.compiler.expressions import Column, Literal
from ouzel.compiler.plan import (
    WEIGHT,
    Aggregate,
    ApplyPython,
    IntervalJoin,
    Join,
    JoinKind,
    Node,
    Project,
    SideJoin,
    Union,
    walk,
)
from ouzel.compiler.plan.aggregates import is_distinct
from ouzel.compiler.plan.tables import Refused
from ouzel.compiler.types import BIGINT
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.spark.lowering.state_nodes import Given, InState, InTasks, ours_of
from ouzel.spark.lowering.streaming_nodes import STREAMING, StreamScan, check_set, copy_scan

NO_CHANGES = "Spark's own takes no rows back"


def with_our_operators(dag: Dag) -> Dag:
    """The plan with our operators where Spark's own streams have nothing that means the same; rows that are taken back carry WEIGHT."""
    lags: dict[int, int] = {}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        lag_us = max((lags[id(below)] for below in inputs), default=0)
        own = with_inputs(node, inputs)
        if not (why := _why_not_own(own, lag_us)):
            made = _in_tasks(own) if own.asks_tables else _carry_weights(own)
            lags[id(made)] = lag_us
            return made
        below = [each for upstream in node.inputs for each in walk(upstream)]
        of_tables = all(each.is_rowwise or not any(each.waits) for each in below)
        ours = _in_state(own, inputs, lag_us, of_tables, why)
        lags[id(ours)] = lag_us + _delay_us(ours.operator)
        return ours

    return dag.rebuilt(make)


def _why_not_own(node: Node, lag_us: int) -> str:
    """Why Spark's own node would not do, or would not mean the same; empty if it does. The node's inputs may carry WEIGHT."""
    if node.declares_time:
        return ""
    weighted = any(WEIGHT in below.schema.names for below in node.inputs)
    if (check := _OWN.get(type(node))) is not None and (why := check(node, lag_us, weighted)) is not None:
        return why
    entry = STREAMING.entries.get(type(node))
    return entry.why if isinstance(entry, Refused) else ""


def _why_not_own_join(node: Join, lag_us: int, weighted: bool) -> str:
    if node.kind is not JoinKind.INNER or weighted:
        return "of joins without a span of time Spark's own has inner ones alone, of rows that are never taken back"
    return "" if node.keys else "Spark's own joins streams by equal keys alone"


def _why_not_own_aggregate(node: Aggregate, lag_us: int, weighted: bool) -> str:
    if weighted:
        return NO_CHANGES
    if node.only_grows:
        return ""
    if node.emit.lateness_us:
        return "Spark's own takes no rows of a window that has closed"
    if not node.window or not node.emit.final:
        return "Spark's own gives a query one output mode, and this one changes what it gave"
    if lag_us:
        return "Spark's own would call rows late that a join below lets out later"
    try:
        for call in node.calls:
            if is_distinct(call) and call.argument is not None:
                check_set(call, node.input.schema[call.argument].type)
    except NotSupported as error:
        return error.problem
    return ""


_OWN: Mapping[type[Node], Callable[[Any, int, bool], str | None]] = {
    SideJoin: lambda node, lag_us, weighted: "",
    Join: _why_not_own_join,
    Aggregate: _why_not_own_aggregate,
    ApplyPython: lambda node, lag_us, weighted: NO_CHANGES if weighted else None,
}
"""By class (node, lag in microseconds, whether an input carries WEIGHT) -> why not Spark's own node; None: the entry in STREAMING says."""


def _in_tasks(node: Node) -> InTasks:
    left, table = node.inputs
    asking = node.with_inputs((Given.of(left), table))
    return InTasks((left,), asking, why="Spark's own asks no table for single rows", written=node.written)


def _in_state(node: Node, inputs: tuple[Node, ...], lag_us: int, of_tables: bool, why: str) -> InState:
    given = node.with_inputs(tuple(Given.of(below) for below in inputs))
    return InState(inputs, given, lag_us, of_tables, why, written=node.written)


def _delay_us(node: Node) -> int:
    """How far the rows that a node gives may be behind the watermark, at most."""
    if node.groups:
        return node.groups.emit.lateness_us + any(node.waits)
    if isinstance(node, IntervalJoin):
        return node.delay_us
    return 1 if any(node.waits) else 0


def _carry_weights(node: Node) -> Node:
    """A node that Spark computes, handing on the weights of its rows."""
    if node.reads_table and node.retracts:
        return copy_scan(node, StreamScan)
    carried = [WEIGHT in below.schema.names for below in node.inputs]
    if not any(carried):
        return node
    match node:
        case Project():
            return replace(node, items=(*node.items, (WEIGHT, Column(BIGINT, WEIGHT))))
        case Union():
            return replace(node, branches=tuple(map(_with_weight, node.branches)))
    return node


def _with_weight(branch: Node) -> Node:
    """A branch of a union whose rows have a weight, last."""
    columns = tuple((field.name, Column(field.type, field.name)) for field in branch.schema if field.name != WEIGHT)
    weight = Column(BIGINT, WEIGHT) if WEIGHT in branch.schema.names else Literal(BIGINT, 1)
    return Project(branch, (*columns, (WEIGHT, weight)))


def in_every_batch(dag: Dag) -> bool:
    """Whether an operator has a row to give even of no input."""
    groups = (node.operator.groups for node in ours_of(dag))
    return any(each is not None and not each.keys for each in groups)


def operator_reasons(dag: Dag) -> dict[str, str]:
    """Of each operator of ours why it is there, by its label."""
    return {node.operator.label: node.why for node in ours_of(dag)}
