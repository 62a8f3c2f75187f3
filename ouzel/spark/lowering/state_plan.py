"""Which nodes of a streaming query Spark computes by its own, and which our operators compute inside its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

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
    Watermark,
    walk,
)
from ouzel.compiler.plan.aggregates import is_distinct
from ouzel.compiler.plan.tables import Refused
from ouzel.compiler.types import BIGINT
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.spark.lowering.batch_nodes import BATCH
from ouzel.spark.lowering.held import Given
from ouzel.spark.lowering.state_nodes import InState, InTasks, LateOfState, ours_of
from ouzel.spark.lowering.streaming_nodes import GIVES_NO_LATE, STREAMING, StreamScan, check_set, copy_scan


def with_our_operators(dag: Dag) -> Dag:
    """The plan with our operators where Spark's own streams have nothing that means the same; rows that are taken back carry WEIGHT."""
    lags: dict[int, int] = {}
    ours_by_id: dict[int, InState] = {}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        lag_us = max((lags[id(below)] for below in inputs), default=0)
        if node.reads_late:
            late = _late_of(node, ours_by_id[id(inputs[0])])
            lags[id(late)] = lag_us
            return late
        own = with_inputs(node, inputs)
        if not (why := _why_not_own(own, lag_us)):
            made = _in_tasks(own) if own.asks_tables else _carry_weights(own)
            lags[id(made)] = lag_us
            return made
        below = [each for upstream in node.inputs for each in walk(upstream)]
        of_tables = all(each.is_rowwise or not any(each.waits) for each in below)
        ours = _in_state(own, inputs, lag_us, of_tables, why)
        ours_by_id[id(ours)] = ours
        lags[id(ours)] = lag_us + _delay_us(ours.operator)
        return ours

    return dag.rebuilt(make)


def _why_not_own(node: Node, lag_us: int) -> str:
    """Why Spark's own node would not do, or would not mean the same; empty if it does. The node's inputs may carry WEIGHT."""
    if node.declares_time:
        return ""
    weighted = any(WEIGHT in below.schema.names for below in node.inputs)
    told = (case.why for case in UNLESS.get(type(node), ()) if case.holds(node, lag_us, weighted))
    return next(told, why_never_own(type(node)))


def why_never_own(kind: type[Node]) -> str:
    """Why Spark's streams have no node of their own that means what nodes of this class mean; empty if they have."""
    entry = STREAMING.entries.get(kind)
    return entry.why if isinstance(entry, Refused) else ""


class Unless(NamedTuple):
    """A case in which Spark's own node would not do: (node, lag in microseconds, whether an input carries WEIGHT) -> whether it is that."""

    why: str
    holds: Callable[[Any, int, bool], bool]


NO_CHANGES = "Spark's own takes no rows back"


def _is_weighted(node: Node, lag_us: int, weighted: bool) -> bool:
    return weighted


def _loses_digits(node: Aggregate, lag_us: int, weighted: bool) -> bool:
    try:
        for call in node.calls:
            if is_distinct(call) and call.argument is not None:
                check_set(call, node.input.schema[call.argument].type)
    except NotSupported:
        return True
    return False


UNLESS: Mapping[type[Node], tuple[Unless, ...]] = {
    Join: (
        Unless(
            "of joins without a span of time Spark's own has inner ones alone, of rows that are never taken back",
            lambda node, lag_us, weighted: node.kind is not JoinKind.INNER or weighted,
        ),
        Unless("Spark's own joins streams by equal keys alone", lambda node, lag_us, weighted: not node.keys),
    ),
    Aggregate: (
        Unless(NO_CHANGES, _is_weighted),
        Unless(f"Spark's own: {GIVES_NO_LATE}", lambda node, lag_us, weighted: bool(node.late)),
        Unless(
            "Spark's own takes no rows of a window that has closed",
            lambda node, lag_us, weighted: not node.only_grows and node.emit.lateness_us > 0,
        ),
        Unless(
            "Spark's own gives a query one output mode, and this one changes what it gave",
            lambda node, lag_us, weighted: not node.only_grows and not (node.window and node.emit.final),
        ),
        Unless(
            "Spark's own would call rows late that a join below lets out later",
            lambda node, lag_us, weighted: not node.only_grows and lag_us > 0,
        ),
        Unless(
            "Spark's own would lose digits of DISTINCT values, or has no set of them",
            lambda node, lag_us, weighted: not node.only_grows and _loses_digits(node, lag_us, weighted),
        ),
    ),
    ApplyPython: (Unless(NO_CHANGES, _is_weighted),),
}  # fmt: skip
"""Of each class that Spark's streams have a node of their own for, when that would not do. The first case that holds is told."""


ASKING: Mapping[type[Node], str] = {SideJoin: "Spark's own asks no table for single rows"}
"""Of each class whose nodes may ask tables by key (`asks_tables`), why Spark's own do not."""


class Way(Enum):
    """How a node is computed in Structured Streaming."""

    OWN = "by Spark's own"
    IN_STATE = "by our operator in Spark's state"
    IN_TASKS = "by our operator in Spark's tasks"


def ways_of(kind: type[Node]) -> dict[Way, tuple[str, ...]]:
    """How nodes of a class may be computed, and why not by Spark's own; empty if no streaming plan has them. All from what plans go by."""
    if not BATCH.can_take(kind):  # the plan is the batch's
        return {}
    never = "" if kind is Watermark else why_never_own(kind)
    whys = (*(case.why for case in UNLESS.get(kind, ())), *([never] if never else ()))
    ways: dict[Way, tuple[str, ...]] = {} if never else {Way.OWN: ()}
    if whys:
        ways[Way.IN_STATE] = whys
    return ways | ({Way.IN_TASKS: (ASKING[kind],)} if kind in ASKING else {})


def _in_tasks(node: Node) -> InTasks:
    left, table = node.inputs
    asking = node.with_inputs((Given.of(left), table))
    return InTasks((left,), asking, why=ASKING[type(node)], written=node.written)


def _late_of(node: Node, dropper: InState) -> LateOfState:
    """The rows that an operator of ours drops: what is asked for its late rows is always ours."""
    shown = node.with_inputs((dropper.operator,))
    held = (dropper.branches, dropper.operator, dropper.lag_us, dropper.of_tables)
    return LateOfState(*held, f"Spark's own: {GIVES_NO_LATE}", shown, written=node.written)


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
    return {node.gives.label: node.why for node in ours_of(dag)}
