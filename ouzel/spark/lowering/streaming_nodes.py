"""What a streaming query has that a batch has not, as nodes beside the plan's own, and all nodes' lines in Structured Streaming.

Spark's watermark is the largest value of a column over the whole table, and a filter is moved below it: it would hold back the windows
until a row passes, and would drop the mark that moves time at the end. So a filter that Spark cannot move stands behind each watermark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TypeVar

from ouzel.compiler import plan
from ouzel.compiler.expressions import Call, Expression, Literal
from ouzel.compiler.functions.lowering import parenthesize
from ouzel.compiler.functions.spark import column_name, to_spark
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan.tables import NodeTable, Refused
from ouzel.compiler.sql.queries.scope import fresh
from ouzel.compiler.types import BIGINT, BOOLEAN, DataType, DecimalType, Field, MapType, Schema, walk_type
from ouzel.errors import NotSupported
from ouzel.spark.lowering.batch_nodes import BATCH, FrameNames, Lowering
from ouzel.spark.lowering.held import Given
from ouzel.spark.lowering.state_nodes import InState, InTasks, LateOfState, lower_in_state, lower_in_tasks
from ouzel.spark.lowering.tables import call_reader, lower_scan
from ouzel.spark.lowering.text import call, quote, with_columns

ScanKind = TypeVar("ScanKind", bound=plan.Scan)

END, BRANCH = "$end", "$branch"
"""Columns of ours: whether the row marks the end, the row's watermark, and which aggregate a row of several is of."""

END_S = 1_000_000_000_000
"""Later than every row: where the end mark moves time to."""

MILLISECOND = timedelta(milliseconds=1)
"""Spark's watermark has no parts of it."""

EVENT_TIME = '{"spark.watermarkDelayMs": 0}'
"""The metadata by which Spark knows the grouping column that closes with the watermark."""


@dataclass(frozen=True)
class StreamScan(plan.Scan):
    """A table as a stream of Spark; with WEIGHT, if its rows may be taken back.

    Where it is `marked`, its last row marks its end. The mark is dropped at once where no watermark waits for it (`dropped`).
    """

    marked: bool = False
    dropped: bool = False

    @property
    def schema(self) -> Schema:
        weight = (Field(plan.WEIGHT, BIGINT),) if self.retracts else ()
        end = (Field(END, BOOLEAN),) if self.marked and not self.dropped else ()
        return Schema((*self.columns, *weight, *end))

    def definition(self, column: str) -> tuple[object, ...]:
        return (self.table, column) if column in (plan.WEIGHT, END) else super().definition(column)


def copy_scan(scan: plan.Node, kind: type[ScanKind]) -> ScanKind:
    """The same table read in another way."""
    return kind(**{field.name: getattr(scan, field.name) for field in fields(scan)})


@dataclass(frozen=True)
class StaticScan(plan.Scan):
    """A row of constants, which each micro-batch's table has anew."""


@dataclass(frozen=True)
class SideScan(plan.Scan):
    """A table at rest beside a stream, read whole for each micro-batch."""


@dataclass(frozen=True)
class StreamingStep(plan.RowWise):
    """A node that stands in a plan when all rules have been applied: they may neither prune it nor move a filter below it."""

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return {name: origin for name, origin in plan.identity_origins(self).items() if name in self.schema.names}

    def needs(self, wanted: frozenset[str]) -> tuple[frozenset[str], ...]:
        return (frozenset(self.input.schema.names),)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    waits = (False,)
    calls_python = False

    @property
    def time_column(self) -> str | None:
        return self.input.time_column

    @property
    def unique_keys(self) -> frozenset[frozenset[str]]:
        return frozenset()

    @property
    def label(self) -> str:
        return type(self).__name__

    def definition(self, column: str) -> tuple[object, ...]:
        return (*self.identity, column)


@dataclass(frozen=True)
class EventTime(StreamingStep):
    """From here on Spark's watermark is the largest `expression`; the end mark has moved it beyond all rows, and ends here."""

    expression: Expression

    @property
    def schema(self) -> Schema:
        return self.input.schema.select(tuple(name for name in self.input.schema.names if name != END))

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.input.meaning(self.expression),)


@dataclass(frozen=True)
class EventTimeKey(StreamingStep):
    """`column` is what closes a group when the watermark passes it; or, with `is_key` false, is so no more."""

    column: str
    is_key: bool = True

    @property
    def schema(self) -> Schema:
        return self.input.schema

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.input.column_ids[self.column], self.is_key)


@dataclass(frozen=True)
class OfSets(StreamingStep):
    """Each call's column is a set of values, and becomes the call's result: Spark's streams have no DISTINCT."""

    calls: tuple[tuple[plan.AggregateCall, DataType], ...]

    @property
    def schema(self) -> Schema:
        results = {call.name: Field(call.name, call.type) for call, _ in self.calls}
        return Schema(tuple(results.get(field.name, field) for field in self.input.schema))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        calls = {call.name for call, _ in self.calls}
        return {name: origin for name, origin in super().origins.items() if name not in calls}

    @property
    def identity(self) -> tuple[object, ...]:
        return tuple((call.function, call.type, kind) for call, kind in self.calls)


@dataclass(frozen=True)
class MicroBatch(plan.Leaf):
    """The table that a streaming aggregation gives with each micro-batch; of several aggregates in one, that of `branch`.

    An aggregate without keys always has one row: until there is one, `counts` are 0 and all else NULL; None for one with keys.
    """

    columns: Schema
    branch: int | None = None
    counts: frozenset[str] | None = None

    @property
    def schema(self) -> Schema:
        return self.columns

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    is_rowwise = False
    calls_python = False

    @property
    def time_column(self) -> str | None:
        return None

    changelog = plan.Changelog.APPEND

    @property
    def unique_keys(self) -> frozenset[frozenset[str]]:
        return frozenset()

    state_bound = ""
    component_name = "batch"

    @property
    def label(self) -> str:
        return "MicroBatch"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.branch,)

    def definition(self, column: str) -> tuple[object, ...]:
        return (*self.identity, column)


GIVES_NO_LATE = "it counts the rows that it drops as late, and gives none of them away"

AS_IN_BATCH = (
    plan.Aggregate, plan.ApplyPython, plan.AssignWindow, plan.Filter, plan.Gather, plan.GatherElements, plan.Join, plan.Project,
    plan.SideJoin, plan.Sink, plan.Union, plan.Unnest,
)  # fmt: skip

STREAMING: NodeTable[Lowering] = NodeTable(
    "Structured Streaming",
    {
        **{kind: BATCH[kind] for kind in AS_IN_BATCH},
        plan.Watermark: Refused("EventTime stands for it where something waits"),
        plan.PartialAggregate: Refused("it aggregates whole, and Spark combines by itself"),
        plan.FinalAggregate: Refused("it aggregates whole, and Spark combines by itself"),
        plan.AssignSession: Refused("it has sessions for an aggregate alone, and gives no row its session"),
        plan.SetOperation: Refused("it has INTERSECT and EXCEPT of two streams not at all"),
        plan.LateRows: Refused(GIVES_NO_LATE),
        plan.IntervalJoin: Refused("it forgets by the watermark of all its tables together, and ours by that of each"),
        plan.Served: Refused("it is no stream: the join that asks it does so for itself"),
        Given: Refused("it stands for an input of an operator"),
        plan.PartialTopN: Refused("it ranks whole partitions"),
        plan.TopN: Refused("its streams have no first rows"),
        plan.Over: Refused("its streams have no windows over rows but those of time"),
        plan.AsofJoin: Refused("it joins no stream with the latest row of another"),
    },
)
"""The lines of each node in a streaming query, where Spark has it. What it has not our operators do, if they can (`state_plan.py`)."""


def lower_streaming(node: plan.Node, names: FrameNames) -> list[str]:
    """The node's lines, as `lowering.lower` gives them, in a streaming query.

    Raises:
        NotSupported: it has no streaming form.
    """
    return STREAMING[type(node)](node, names)


@STREAMING.add(plan.Scan)
def _lower_scan(node: plan.Scan, names: FrameNames) -> list[str]:
    return [_read_stream(node)]


@STREAMING.add(StreamScan)
def _lower_stream_scan(node: StreamScan, names: FrameNames) -> list[str]:
    mark = [f"end_mark={quote(END)}"] if node.marked else []
    dropped = [f".where(~F.col({quote(END)}))", f".drop({quote(END)})"] if node.dropped else []
    return [_read_stream(node, *mark), *dropped]


@STREAMING.add(StaticScan)
def _lower_static_scan(node: StaticScan, names: FrameNames) -> list[str]:
    return lower_scan(node)


@STREAMING.add(SideScan)
def _lower_side_scan(node: SideScan, names: FrameNames) -> list[str]:
    _refuse_unreadable(node)
    return [call_reader("read_table", node, "folder")]


STREAMING.add(InState)(lower_in_state)
STREAMING.add(LateOfState)(lower_in_state)
STREAMING.add(InTasks)(lower_in_tasks)


def _read_stream(scan: plan.Scan, *more: str) -> str:
    _refuse_unreadable(scan)
    return call_reader("read_stream", scan, "folder", *more)


def _refuse_unreadable(scan: plan.Scan) -> None:
    if not scan.traits.shared:
        raise NotSupported(
            f"table '{scan.table}': Structured Streaming cannot read connector '{scan.connector}', which lives in one process",
            instead="use 'file', or --engine heron",
        )
    if scan.traits.by_token:
        raise NotSupported(
            f"table '{scan.table}': Structured Streaming goes by offsets, and connector '{scan.connector}' is acknowledged item by item",
            instead="run it on --engine heron",
        )


@STREAMING.add(EventTime)
def _event_time(node: EventTime, names: FrameNames) -> list[str]:
    moved = fresh("$time", node.input.schema.names)  # the plan's own may be called so
    time, end = f"F.col({quote(moved)})", f"F.col({quote(END)})"
    moment, delay_ms = _split_delay(node.expression)
    value = f'{parenthesize(to_spark(moment))}.cast("timestamp")'
    return [
        f".withColumn({quote(moved)}, F.when({end}, {_end_time(delay_ms)}).otherwise({value}))",
        f".withWatermark({quote(f'`{moved}`')}, {quote(f'{delay_ms} milliseconds')})",
        "# The end mark goes. Spark moves no filter below this one, so that every row moves time.",
        f".where((~{end} | ({time} < {_end_time()})) & (F.spark_partition_id() >= 0))",
        f".drop({quote(moved)}, {quote(END)})",
    ]


def _end_time(delay_ms: int = 0) -> str:
    """The end mark's time: what is left of it once the watermark has been held back is END_S at least."""
    return f"F.timestamp_seconds(F.lit({END_S - -delay_ms // 1_000}))"


def _split_delay(expression: Expression) -> tuple[Expression, int]:
    """What a watermark is behind by, in milliseconds, and behind what: Spark subtracts the one from the largest of the other.

    From each row it would subtract an interval by way of a calendar.
    """
    match expression:
        case Call(function="subtract", arguments=(moment, Literal(value=timedelta() as delay))):
            if delay >= timedelta() and not delay % MILLISECOND:
                return moment, delay // MILLISECOND
    return expression, 0


@STREAMING.add(EventTimeKey)
def _event_time_key(node: EventTimeKey, names: FrameNames) -> list[str]:
    return [f".withMetadata({quote(node.column)}, {EVENT_TIME if node.is_key else '{}'})"]


@STREAMING.add(OfSets)
def _of_sets(node: OfSets, names: FrameNames) -> list[str]:
    return [with_columns({call.name: _of_set(call, kind) for call, kind in node.calls})]


def _of_set(call: plan.AggregateCall, kind: DataType) -> str:
    """What the call makes of the set in its column, whose elements, none of them NULL, are of `kind`."""
    values = f"F.col({quote(column_name(call.name))})"
    match call.function:
        case "count":
            return f'F.size({values}).cast("bigint")'
        case "count_if":
            return f'F.array_contains({values}, True).cast("bigint")'
        case "sum":
            return _unless_empty(values, _total(values, to_spark_type(call.type)))
        case "avg":
            return _unless_empty(values, _mean(values, call, kind))
    raise NotSupported(f"{call.function.upper()}(DISTINCT ...) cannot be computed of a set of values")


def _mean(values: str, call: plan.AggregateCall, kind: DataType) -> str:
    if isinstance(kind, DecimalType):
        total = _total(values, to_spark_type(DecimalType(kind.precision + 10, kind.scale)))
        return f'({total} / F.size({values}).cast("decimal(10,0)")).cast({quote(to_spark_type(call.type))})'
    return f"{_total(values, 'double')} / F.size({values})"


def _total(values: str, kind: str) -> str:
    return f'F.aggregate({values}, F.lit(0).cast("{kind}"), lambda total, value: (total + value).cast("{kind}"))'


def _unless_empty(values: str, result: str) -> str:
    return f"F.when(F.size({values}) > 0, {result})"


def check_set(call: plan.AggregateCall, kind: DataType) -> None:
    """See that a DISTINCT call can be computed of a set of values of `kind`.

    Raises:
        NotSupported: Spark has no set of such values, or the result would lose digits.
    """
    shown = f"{call.function.upper()}(DISTINCT {call.argument})"
    if _holds_map(kind):
        raise NotSupported(
            f"{shown}: Structured Streaming keeps no set of {kind}", instead="count a key of it, or use --engine heron"
        )
    most = {"sum": 27, "avg": 17}.get(call.function)
    if most and isinstance(kind, DecimalType) and kind.precision > most:
        raise NotSupported(
            f"{shown} of {kind} would lose digits on Structured Streaming",
            instead=f"cast it to DECIMAL({most}, {min(kind.scale, most)}) or less, or use --engine heron",
        )


def _holds_map(kind: DataType) -> bool:
    return any(isinstance(part, MapType) for part in walk_type(kind))


@STREAMING.add(MicroBatch)
def _micro_batch(node: MicroBatch, names: FrameNames) -> list[str]:
    if node.branch is None:
        return ["batch"]
    lines = ["batch", f".where(F.col({quote(BRANCH)}) == {node.branch})"]
    columns = {field.name: f"F.col({quote(column_name(of_branch(node.branch, field.name)))})" for field in node.columns}
    if node.counts is None:
        return [*lines, call(".select", [f"{column}.alias({quote(name)})" for name, column in columns.items()])]
    first = {name: f"F.first({column})" for name, column in columns.items()}
    firsts = {name: f"F.coalesce({text}, F.lit(0))" if name in node.counts else text for name, text in first.items()}
    return [*lines, call(".agg", [f"{text}.alias({quote(name)})" for name, text in firsts.items()])]


def of_branch(branch: int, name: str) -> str:
    """What a column of one of several aggregates is called where they are one."""
    return f"{branch}${name}"
