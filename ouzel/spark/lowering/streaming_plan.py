"""Plans for Structured Streaming: a batch's plan with end marks and event time, and the cut of one that Spark cannot run whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from ouzel.compiler.catalog import GIVEN_ROWS
from ouzel.compiler.expressions import Case, Column, Literal
from ouzel.compiler.functions.aggregate_function import AggregateFunction, CallForm, GroupState, SparkForm, by_spark
from ouzel.compiler.plan import (
    Aggregate,
    AggregateCall,
    Emit,
    EmitRule,
    Node,
    Project,
    Scan,
    SideJoin,
    Sink,
    Union,
    Watermark,
    scans_in,
    walk,
)
from ouzel.compiler.plan.aggregates import is_distinct, row_of
from ouzel.compiler.types import BIGINT, BOOLEAN, INT, TIMESTAMP, ArrayType, DataType
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.spark.lowering.state_nodes import InState, ours_of
from ouzel.spark.lowering.streaming_nodes import (
    BRANCH,
    END,
    EventTime,
    EventTimeKey,
    MicroBatch,
    OfSets,
    SideScan,
    StaticScan,
    StreamScan,
    check_set,
    copy_scan,
    of_branch,
)

NEVER = Literal(TIMESTAMP, None)
"""The event time of tables that have none: it does not move before the end mark does."""

ROWS = "$rows"
"""The name of a count that is dropped: Spark needs some call in an aggregation."""


def in_time(dag: Dag) -> Dag:
    """The plan with Spark's event time below each node that waits for it, so that windows close and their state goes.

    What waits for the end of its tables is told of that by event time, too: it passes at the end, of a table without time at once.
    """
    waiting = [node for node in dag.nodes() if any(node.waits)]
    last = {id(node) for node in ours_of(dag) if node.operator.groups and node.operator.groups.leaves_last}
    ending = [node for node in waiting if id(node) in last or not any(below.declares_time for below in walk(node))]
    undated = {id(scan) for node in ending for scan in _list_undated(node)}
    waited = {id(node) for top in waiting for node in walk(top) if node.declares_time}
    timed = {id(node) for mark in dag.nodes() if id(mark) in waited for node in walk(mark)}
    _check_timed(node for node in dag.nodes() if id(node) in timed)
    inner = {id(node) for top in aggregates(dag) for node in walk(top) if node is not top}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = with_inputs(node, inputs)
        if made.reads_table and id(node) in timed | undated:
            return _mark(made) if id(node) in timed else EventTime(_mark(made), NEVER)
        match made:
            case Watermark():
                return EventTime(made.input, made.expression) if id(node) in waited else made.input
            case Project() if id(node) in timed:
                return _with_end(made)
            case Aggregate(window=(_, end, _)):
                keyed = replace(made, input=EventTimeKey(made.input, end))
                return EventTimeKey(keyed, end, False) if id(node) in inner else keyed
        return made

    return dag.rebuilt(make)


def _list_undated(node: Node) -> Iterator[Node]:
    """The tables below a node that declare no time."""
    if node.reads_table:
        yield node
    for below in () if node.declares_time else node.inputs:
        yield from _list_undated(below)


def _check_timed(nodes: Iterable[Node]) -> None:
    """See that the end mark can pass from the tables to where event time is declared.

    Raises:
        NotSupported: rows of several inputs meet on the way.
    """
    for node in nodes:
        if isinstance(node, InState):
            raise NotSupported(
                f"event time that is declared above {node.operator.label}: Structured Streaming would not hear of the end of its tables",
                instead="declare the time of its tables, or use --engine heron",
            )


def _with_end(node: Project) -> Project:
    """The projection with the end mark. Nothing is computed for the mark's row, as an expression might fail on its NULLs."""
    end = Column(BOOLEAN, END)
    items = tuple(
        (name, value if isinstance(value, Column) else Case(value.type, ((end, Literal(value.type, None)),), value))
        for name, value in node.items
    )
    return replace(node, items=(*items, (END, end)))


def out_of_time(dag: Dag) -> Dag:
    """The plan without event time, for one in which nothing waits for it."""
    return dag.rebuilt(lambda node, inputs: inputs[0] if node.declares_time else with_inputs(node, inputs))


def as_streams(dag: Dag, appends: bool) -> Dag:
    """The plan's aggregates as Spark's streams have them: no DISTINCT calls, and a call in each; with `appends`, SELECT DISTINCT stays.

    Raises:
        NotSupported: Spark has no set of a DISTINCT call's values.
    """
    return dag.rebuilt(lambda node, inputs: _aggregation(with_inputs(node, inputs), appends))


def _aggregation(node: Node, appends: bool) -> Node:
    if not isinstance(node, Aggregate):
        return node
    if not node.calls:
        if appends and not node.window:
            return node
        counted = replace(node, calls=(AggregateCall(ROWS, "count", None, BIGINT),))
        return Project(counted, tuple((field.name, Column(field.type, field.name)) for field in node.schema))
    sets = tuple((call, _argument(node, call)) for call in node.calls if _needs_set(call))
    for call, kind in sets:
        check_set(call, kind)
    made = replace(node, calls=tuple(_gather(node, call) for call in node.calls))
    return OfSets(made, sets) if sets else made


def _needs_set(call: AggregateCall) -> bool:
    return is_distinct(call)


def _gather(node: Aggregate, call: AggregateCall) -> AggregateCall:
    if not _needs_set(call):
        return replace(call, distinct=False)  # the least of distinct values is the least of all
    kind = ArrayType(_argument(node, call))
    return replace(call, function=VALUES.name, type=kind, distinct=False, row=VALUES, parameters=())


VALUES = AggregateFunction(
    "collect_set",
    lambda kind: (kind, ArrayType(kind)),
    "a value",
    "the distinct values, in Spark only",
    "COLLECT_SET(value)",
    GroupState(lambda argument, result, changes: (), ""),
    SparkForm(by_spark("collect_set")),
    counts=False,
    call=CallForm(distinct=False),
)
"""The aggregate with which Spark gathers the values of a DISTINCT call."""


def _argument(node: Aggregate, call: AggregateCall) -> DataType:
    assert call.argument is not None
    return node.input.schema[call.argument].type


def aggregates(dag: Dag) -> list[Aggregate]:
    """The plan's aggregates, inputs before their readers."""
    return [node.groups for node in dag.nodes() if node.groups]


def with_side_tables(dag: Dag) -> Dag:
    """The plan whose joins read side tables whole; these move no event time."""

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        return (
            node.with_inputs((inputs[0], _side_table(node.right)))
            if isinstance(node, SideJoin) and not node.asked
            else with_inputs(node, inputs)
        )

    return dag.rebuilt(make)


def _side_table(node: Node) -> Node:
    if isinstance(node, Scan):
        return copy_scan(node, StaticScan if node.traits == GIVEN_ROWS else SideScan)
    if node.declares_time:
        return _side_table(node.inputs[0])
    return node.with_inputs(tuple(map(_side_table, node.inputs)))


def with_ends(dag: Dag) -> Dag:
    """The plan with an end mark in every table that ends at once: a micro-batch comes even of a table without rows."""

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = with_inputs(node, inputs)
        is_stream = type(made) is Scan or type(made) is StreamScan
        return _mark(made, dropped=True) if is_stream and END not in made.schema.names else made

    return dag.rebuilt(make)


def _mark(scan: Node, dropped: bool = False) -> StreamScan:
    return replace(copy_scan(scan, StreamScan), marked=True, dropped=dropped)


def cut_streaming_plan(dag: Dag) -> tuple[Dag, Dag]:
    """The plan in two: up to its lowest aggregates, as one aggregation, and what is left to do with each micro-batch's table."""
    (sink,) = dag.sinks
    lowest = _lowest(dag)
    single = len(lowest) == 1
    below = lowest[0] if single else _together(lowest)
    leaves = {
        id(node): MicroBatch(node.schema, None if single else branch, None if single else _counts(node))
        for branch, node in enumerate(lowest)
    }
    above = dag.rebuilt(lambda node, inputs: leaves.get(id(node)) or _static(with_inputs(node, inputs)))
    return Dag((replace(sink, input=below),)), above


def _static(node: Node) -> Node:
    return copy_scan(node, StaticScan) if isinstance(node, Scan) else node


def _lowest(dag: Dag) -> list[Aggregate]:
    """The aggregates that have no other aggregate below them."""
    found = aggregates(dag)
    return [node for node in found if not any(other in found for other in walk(node) if other is not node)]


def _counts(node: Aggregate) -> frozenset[str] | None:
    return None if node.keys else frozenset(call.name for call in node.calls if row_of(call).counts)


def _together(lowest: Sequence[Aggregate]) -> Aggregate:
    """Several aggregates as one over the union of what they read: Spark's update and complete modes have but one."""
    columns = [
        (branch, name, node.input.schema[name].type) for branch, node in enumerate(lowest) for name in _read(node)
    ]
    branches = tuple(
        Project(
            node.input,
            (
                (BRANCH, Literal(INT, branch)),
                *(
                    (of_branch(other, name), Column(kind, name) if other == branch else Literal(kind, None))
                    for other, name, kind in columns
                ),
            ),
        )
        for branch, node in enumerate(lowest)
    )
    keys = tuple(of_branch(branch, key) for branch, node in enumerate(lowest) for key in node.keys)
    calls = tuple(_rename(branch, call) for branch, node in enumerate(lowest) for call in node.calls)
    return Aggregate(Union(branches), (BRANCH, *keys), calls, Emit(EmitRule.CHANGES))


def _read(node: Aggregate) -> list[str]:
    asked = [name for call in node.calls for name in (call.argument, call.filter) if name]
    return list(dict.fromkeys((*node.keys, *asked)))


def _rename(branch: int, call: AggregateCall) -> AggregateCall:
    return replace(
        call,
        name=of_branch(branch, call.name),
        argument=call.argument and of_branch(branch, call.argument),
        filter=call.filter and of_branch(branch, call.filter),
    )


def find_kept_keys(sink: Sink) -> tuple[str, ...] | None:
    """The sink's names of the keys of its aggregate, if there is one aggregate and only projections that keep the keys are above it."""
    above: list[Node] = []
    node = sink.input
    while node.is_one_to_one:
        above.append(node)
        (node,) = node.inputs
    if not node.groups or len(aggregates(Dag((sink,)))) > 1:
        return None
    keys = node.groups.keys
    for reader in reversed(above):
        kept = {column: name for name, (_, column) in reader.origins.items()}
        if not kept.keys() >= set(keys):
            return None
        keys = tuple(kept[key] for key in keys)
    return keys


def check_one_mode(dag: Dag) -> None:
    """Refuse a plan whose whole table cannot be made anew with each micro-batch.

    Raises:
        NotSupported: part of it is emitted once, as rows or as windows that close.
    """
    closing = [node for node in aggregates(dag) if node.emit.final]
    if closing:
        raise NotSupported(
            "windows that are let out when they close cannot be mixed with an aggregate that goes on: "
            "Structured Streaming gives a query one output mode",
            instead="end the query of the windows with EMIT CHANGES, INSERT them INTO a table of their own, or use --engine heron",
        )
    if _reads_rows(dag.sinks[0], {id(node) for node in _lowest(dag)}):
        raise NotSupported(
            "UNION ALL of rows and of an aggregate that goes on: Structured Streaming gives a query one output mode",
            instead="write an INSERT INTO for each of them, or use --engine heron",
        )


def _reads_rows(node: Node, lowest: Set[int]) -> bool:
    if id(node) in lowest:
        return False
    if not node.inputs:
        return any(scan.traits != GIVEN_ROWS for scan in scans_in((node,)))
    return any(_reads_rows(upstream, lowest) for upstream in node.inputs)
