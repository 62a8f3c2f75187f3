"""What a streaming query has that a batch has not, as nodes beside the plan's own, and all nodes' lines in Structured Streaming.

Spark's watermark is the largest value of a column over the whole table, and a filter is moved below it: it would hold back the windows
until a row passes, and would drop the mark that moves time at the end. So a filter that Spark cannot move stands behind each watermark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.lowering import grouped
from ouzel.compiler.functions.spark import column_name, to_spark, to_spark_type
from ouzel.compiler.plan import AggregateCall, Node, Scan
from ouzel.compiler.types import BOOLEAN, DataType, DecimalType, Field, MapType, Schema, parts
from ouzel.errors import NotSupported
from ouzel.planner.spark import lowering
from ouzel.planner.spark.lowering import Names
from ouzel.planner.spark.tables import call_reader, refuse_changelog
from ouzel.planner.spark.text import call, quoted, with_columns

END, TIME, BRANCH = "$end", "$time", "$branch"
"""Columns of ours: whether the row marks the end, the row's watermark, and which aggregate a row of several is of."""

FAR = "F.timestamp_seconds(F.lit(1_000_000_000_000))"
"""Later than every row: where the end mark moves time to."""

EVENT_TIME = '{"spark.watermarkDelayMs": 0}'
"""The metadata by which Spark knows the grouping column that closes with the watermark."""


@dataclass(frozen=True)
class MarkedScan(Scan):
    """A table whose last row marks its end; the mark is dropped at once where no watermark waits for it (`dropped`)."""

    dropped: bool = False

    @property
    def schema(self) -> Schema:
        return self.columns if self.dropped else Schema((*self.columns, Field(END, BOOLEAN)))


@dataclass(frozen=True)
class EventTime(Node):
    """From here on Spark's watermark is the largest `expression`; the end mark has moved it beyond all rows, and ends here."""

    input: Node
    expression: Expression

    @property
    def schema(self) -> Schema:
        return self.input.schema.select(tuple(name for name in self.input.schema.names if name != END))


@dataclass(frozen=True)
class EventTimeKey(Node):
    """`column` is what closes a group when the watermark passes it; or, with `is_key` false, is so no more."""

    input: Node
    column: str
    is_key: bool = True


@dataclass(frozen=True)
class OfSets(Node):
    """Each call's column is a set of values, and becomes the call's result: Spark's streams have no DISTINCT."""

    input: Node
    calls: tuple[tuple[AggregateCall, DataType], ...]

    @property
    def schema(self) -> Schema:
        results = {call.name: Field(call.name, call.type) for call, _ in self.calls}
        return Schema(tuple(results.get(field.name, field) for field in self.input.schema))


@dataclass(frozen=True)
class MicroBatch(Node):
    """The table that a streaming aggregation gives with each micro-batch; of several aggregates in one, that of `branch`.

    An aggregate without keys always has one row: until there is one, `counts` are 0 and all else NULL; None for one with keys.
    """

    columns: Schema
    branch: int | None = None
    counts: frozenset[str] | None = None

    @property
    def schema(self) -> Schema:
        return self.columns


@singledispatch
def lower(node: Node, names: Names) -> list[str]:
    """The node's lines, as `lowering.lower` gives them, in a streaming query.

    Raises:
        NotSupported: it has no streaming form.
    """
    return lowering.lower(node, names)


@lower.register
def _(node: Scan, names: Names) -> list[str]:
    return [_read_stream(node)]


@lower.register
def _(node: MarkedScan, names: Names) -> list[str]:
    dropped = [f".where(~F.col({quoted(END)}))", f".drop({quoted(END)})"] if node.dropped else []
    return [_read_stream(node, f"end_mark={quoted(END)}"), *dropped]


def _read_stream(scan: Scan, *more: str) -> str:
    if not scan.traits.shared:
        raise NotSupported(
            f"table '{scan.table}': Structured Streaming cannot read connector '{scan.connector}', which lives in one process",
            instead="use 'file', or --engine heron",
        )
    refuse_changelog(scan)
    return call_reader("read_stream", scan, "folder", *more)


@lower.register
def _(node: EventTime, names: Names) -> list[str]:
    time, end = f"F.col({quoted(TIME)})", f"F.col({quoted(END)})"
    value = f'{grouped(to_spark(node.expression))}.cast("timestamp")'
    return [
        f".withColumn({quoted(TIME)}, F.when({end}, {FAR}).otherwise({value}))",
        f'.withWatermark({quoted(f"`{TIME}`")}, "0 seconds")',
        "# The end mark goes. Spark moves no filter below this one, so that every row moves time.",
        f".where((~{end} | ({time} < {FAR})) & (F.spark_partition_id() >= 0))",
        f".drop({quoted(TIME)}, {quoted(END)})",
    ]


@lower.register
def _(node: EventTimeKey, names: Names) -> list[str]:
    return [f".withMetadata({quoted(node.column)}, {EVENT_TIME if node.is_key else '{}'})"]


@lower.register
def _(node: OfSets, names: Names) -> list[str]:
    return [with_columns({call.name: _of_set(call, kind) for call, kind in node.calls})]


def _of_set(call: AggregateCall, kind: DataType) -> str:
    """What the call makes of the set in its column, whose elements, none of them NULL, are of `kind`."""
    values = f"F.col({quoted(column_name(call.name))})"
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


def _mean(values: str, call: AggregateCall, kind: DataType) -> str:
    if isinstance(kind, DecimalType):
        total = _total(values, to_spark_type(DecimalType(kind.precision + 10, kind.scale)))
        return f'({total} / F.size({values}).cast("decimal(10,0)")).cast({quoted(to_spark_type(call.type))})'
    return f"{_total(values, 'double')} / F.size({values})"


def _total(values: str, kind: str) -> str:
    return f'F.aggregate({values}, F.lit(0).cast("{kind}"), lambda total, value: (total + value).cast("{kind}"))'


def _unless_empty(values: str, result: str) -> str:
    return f"F.when(F.size({values}) > 0, {result})"


def check_set(call: AggregateCall, kind: DataType) -> None:
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
    return any(isinstance(part, MapType) for part in parts(kind))


@lower.register
def _(node: MicroBatch, names: Names) -> list[str]:
    if node.branch is None:
        return ["batch"]
    lines = ["batch", f".where(F.col({quoted(BRANCH)}) == {node.branch})"]
    columns = {
        field.name: f"F.col({quoted(column_name(of_branch(node.branch, field.name)))})" for field in node.columns
    }
    if node.counts is None:
        return [*lines, call(".select", [f"{column}.alias({quoted(name)})" for name, column in columns.items()])]
    first = {name: f"F.first({column})" for name, column in columns.items()}
    firsts = {name: f"F.coalesce({text}, F.lit(0))" if name in node.counts else text for name, text in first.items()}
    return [*lines, call(".agg", [f"{text}.alias({quoted(name)})" for name, text in firsts.items()])]


def of_branch(branch: int, name: str) -> str:
    """What a column of one of several aggregates is called where they are one."""
    return f"{branch}${name}"
