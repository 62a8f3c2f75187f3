"""Plan nodes to PySpark: one function for each node, which gives the calls that make its rows of its input's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ouzel.compiler import plan
from ouzel.compiler.expressions import (
    Call,
    Cast,
    Column,
    Expression,
    GetField,
    columns_of,
    conjunction,
    rewrite,
    substitute,
)
from ouzel.compiler.functions.lowering import backtick, parenthesize
from ouzel.compiler.functions.spark import InSpark, column_name, is_path, to_spark
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan.tables import NodeTable, Refused
from ouzel.compiler.types import BOOLEAN, TIMESTAMP_LTZ, ArrayType, DataType, MapType, RowType
from ouzel.spark.lowering.aggregates import names_columns, spark_aggregate
from ouzel.spark.lowering.asof import lower_asof
from ouzel.spark.lowering.local_windows import lower_local_window
from ouzel.spark.lowering.over_nodes import lower_over, lower_top
from ouzel.spark.lowering.python_steps import lower_python
from ouzel.spark.lowering.tables import lower_scan
from ouzel.spark.lowering.text import call, comment, quote, select, spark_span

ELEMENT, POSITION, STEP_END, LARGEST = "$element", "$position", "$step_end", "$largest"
BEGINS, SESSION = "$begins", "$session"
"""Columns that exist between two steps of one statement."""

FrameNames = Mapping[int, str]
"""The variables of a job, by `id()` of the nodes whose rows they hold."""


Lowering = Callable[[Any, FrameNames], list[str]]

BATCH: NodeTable[Lowering] = NodeTable(
    "the PySpark job",
    {
        plan.PartialAggregate: Refused("it aggregates whole, and Spark combines by itself"),
        plan.FinalAggregate: Refused("it aggregates whole, and Spark combines by itself"),
        plan.PartialTopN: Refused("it ranks whole partitions, and Spark cuts them short by itself"),
        plan.ApplyPython: lower_python,
        plan.Served: Refused(
            "a service answers for single keys, and a batch job reads whole tables",
            "left_join what the service knows, as a stream of its own",
        ),
        plan.Over: lower_over,
        plan.TopN: lower_top,
    },
)
"""The lines of each node."""


def lower_batch(node: plan.Node, names: FrameNames) -> list[str]:
    """The node's lines: calls that start with a dot and go on from its input, and comments; of a node without one input, first a frame.

    Raises:
        NotSupported: it has no batch form.
    """
    return BATCH[type(node)](node, names)


@BATCH.add(plan.Scan)
def _scan(node: plan.Scan, names: FrameNames) -> list[str]:
    return lower_scan(node)


@BATCH.add(plan.Watermark)
def _watermark(node: plan.Watermark, names: FrameNames) -> list[str]:
    """Nothing: no row of a batch is late."""
    return []


@BATCH.add(plan.Sink)
def _sink(node: plan.Sink, names: FrameNames) -> list[str]:
    return []


@BATCH.add(plan.Gather)
def _gather(node: plan.Gather, names: FrameNames) -> list[str]:
    """Nothing: a batch has no clock."""
    return []


@BATCH.add(plan.Project)
def _project(node: plan.Project, names: FrameNames) -> list[str]:
    renamed = _list_renamed(node)
    if renamed:
        return [f".withColumnsRenamed({{{', '.join(f'{quote(old)}: {quote(new)}' for old, new in renamed.items())}}})"]
    return [select(alias(name, value) for name, value in node.items)]


def _list_renamed(node: plan.Project) -> dict[str, str]:
    """Old names and new ones of a projection that only renames; else, and where Spark, blind to case, could mistake one, none."""
    below = [value.name if isinstance(value, Column) else "" for _, value in node.items]
    renamed = {old: name for old, (name, _) in zip(below, node.items, strict=True) if old != name}
    letters = [name.casefold() for name in (*below, *renamed.values())]
    return renamed if tuple(below) == node.input.schema.names and len(letters) == len(set(letters)) else {}


@BATCH.add(plan.Filter)
def _filter(node: plan.Filter, names: FrameNames) -> list[str]:
    return [f".where({_condition(node.predicate)})"]


@BATCH.add(plan.Union)
def _union(node: plan.Union, names: FrameNames) -> list[str]:
    first, *others = (names[id(branch)] for branch in node.branches)
    return [first, *(f".union({other})" for other in others)]


@BATCH.add(plan.SetOperation)
def _set_operation(node: plan.SetOperation, names: FrameNames) -> list[str]:
    left, right = (names[id(below)] for below in node.inputs)
    return [left, f".{SET_OPERATIONS[node.kind, node.all]}({right})"]


SET_OPERATIONS = {
    (plan.SetKind.INTERSECT, False): "intersect", (plan.SetKind.INTERSECT, True): "intersectAll",
    (plan.SetKind.EXCEPT, False): "subtract", (plan.SetKind.EXCEPT, True): "exceptAll",
}  # fmt: skip


@BATCH.add(plan.Join)
@BATCH.add(plan.SideJoin)
def _join(node: plan.Join, names: FrameNames) -> list[str]:
    left, right = (names[id(below)] for below in node.inputs)
    if isinstance(node, plan.SideJoin):
        right = f"F.broadcast({right})"
    if not node.keys and node.condition is None and node.kind is plan.JoinKind.INNER:
        return [left, f".crossJoin({right})"]
    types = {**_types(node.left), **_types(node.right)}
    parts: list[Expression] = [
        Call(BOOLEAN, "eq", (Column(types[one], one), Column(types[other], other))) for one, other in node.keys
    ]
    if node.condition is not None:
        parts.append(node.condition)
    condition = _condition(conjunction(parts)) if parts else "F.lit(True)"
    how = "" if node.kind is plan.JoinKind.INNER else f', "{node.kind.value.replace(" ", "_")}"'
    return [left, f".join({right}, {condition}{how})"]


@BATCH.add(plan.IntervalJoin)
def _interval_join(node: plan.IntervalJoin, names: FrameNames) -> list[str]:
    return _join(replace(node, condition=node.whole_condition), names)


@BATCH.add(plan.AsofJoin)
def _asof_join(node: plan.AsofJoin, names: FrameNames) -> list[str]:
    return lower_asof(node, *(names[id(below)] for below in node.inputs))


def _types(node: plan.Node) -> dict[str, DataType]:
    return {field.name: field.type for field in node.schema}


@BATCH.add(plan.Aggregate)
def _aggregate(node: plan.Aggregate, names: FrameNames) -> list[str]:
    values = _inline(node, names)
    keys = [_key(key, values.get(key)) for key in node.keys]
    computed = {name: to_spark(value) for name, value in values.items() if value != Column(value.type, name)}
    if not node.calls:
        return [select(keys), ".distinct()"]
    grouped = [call(".groupBy", keys)] if keys else []
    return [*grouped, call(".agg", [spark_aggregate(each, computed) for each in node.calls])]


@BATCH.add(plan.LateRows)
def lower_late_rows(node: plan.LateRows, names: FrameNames) -> list[str]:
    """None, for no row of a batch is late."""
    nulls = [f"F.lit(None).cast({quote(to_spark_type(one.type))}).alias({quote(one.name)})" for one in node.schema]
    return [comment("a batch has no late rows"), ".where(F.lit(False))", select(nulls)]


@BATCH.add(plan.Unnest)
def _unnest(node: plan.Unnest, names: FrameNames) -> list[str]:
    new = [quote(name) for name, _ in node.names]
    values, position = (new[:-1], [quote(POSITION)]) if node.ordinality else (new, [])
    is_row = isinstance(node.array.type, ArrayType) and isinstance(node.array.type.element, RowType)
    made = ", ".join([*position, *([quote(ELEMENT)] if is_row else values)])
    explode = f"F.{'pos' * node.ordinality}explode{'_outer' * node.outer}({_elements(node)}).alias({made})"
    exploded = f'.select("*", {explode})'
    if not is_row and not node.ordinality:
        return [exploded]
    kept = [quote(column_name(name)) for name in node.input.schema.names]
    taken = _fields(node, values) if is_row else values
    counted = [f'(F.col({quote(POSITION)}) + 1).cast("bigint").alias({new[-1]})'] if node.ordinality else []
    return [exploded, select([*kept, *taken, *counted])]


def _elements(node: plan.Unnest) -> str:
    """The array, of a conditional UNNEST with those elements alone that meet the condition."""
    array = to_spark(node.array)
    if node.condition is None:
        return array
    texts = ("key", "value") if isinstance(node.array.type, MapType) else _parts_of_element(node.array.type, node.names)
    variables = _variables(node.names, texts)
    fits = to_spark(substitute(node.condition, variables))
    is_map = isinstance(node.array.type, MapType)
    return (
        f"F.map_filter({array}, lambda key, value: {fits})" if is_map else f"F.filter({array}, lambda element: {fits})"
    )


def _variables(names: Sequence[tuple[str, DataType]], texts: Sequence[str]) -> dict[str, Expression]:
    """What stands for the columns of an element in what is said of it."""
    return {name: InSpark(kind, text) for (name, kind), text in zip(names, texts, strict=True)}


def _parts_of_element(kind: DataType, names: Sequence[tuple[str, DataType]]) -> tuple[str, ...]:
    """The columns that an element is, as text: its fields, if it is a row."""
    if isinstance(kind, MapType):
        return ('element.getField("key")', 'element.getField("value")')
    element = kind.element if isinstance(kind, ArrayType) else None
    if isinstance(element, RowType):
        return tuple(f"element.getField({quote(field)})" for field, _ in element.fields)
    return ("element",)


@BATCH.add(plan.GatherElements)
def _gather_elements(node: plan.GatherElements, names: FrameNames) -> list[str]:
    variables = _variables(node.names, _parts_of_element(node.array.type, node.names))
    made = to_spark(node.array)
    made = f"F.map_entries({made})" if isinstance(node.array.type, MapType) else made
    if node.condition is not None:
        made = f"F.filter({made}, lambda element: {to_spark(substitute(node.condition, variables))})"
    made = f"F.transform({made}, lambda element: {to_spark(substitute(node.item, variables))})"
    empty = f"F.array().cast({quote(to_spark_type(node.schema[node.name].type))})"
    return [f'.select("*", F.coalesce({made}, {empty}).alias({quote(node.name)}))']


@BATCH.add(plan.AssignWindow)
def _assign_window(node: plan.AssignWindow, names: FrameNames) -> list[str]:
    """Spark's own windows, which are the topology's: aligned to the epoch, exact to the microsecond; a row without time is in none."""
    if node.zone:
        return lower_local_window(node)
    if node.kind is plan.WindowKind.CUMULATE:
        return _cumulate(node)
    is_hop, is_local = node.kind is plan.WindowKind.HOP, node.input.schema[node.column].type == TIMESTAMP_LTZ
    spans = [node.size_us, *([node.slide_us] if is_hop or node.offset_us else [])]
    arguments = [quote(column_name(node.column)), *(quote(spark_span(length)) for length in spans)]
    if node.offset_us:
        arguments.append(quote(spark_span(node.offset_us % node.slide_us)))
    window, cast = f"F.window({', '.join(arguments)})", '.cast("timestamp_ntz")' if is_local else ""
    values = (f"{window}.start{cast}", f"{window}.end{cast}", f"({window}.end - F.expr(\"INTERVAL '0.001' SECOND\"))")
    columns = [f"{value}.alias({quote(name)})" for name, value in zip(node.names, values, strict=True) if name]
    every = f", one every {spark_span(node.slide_us)}" if is_hop else ""
    mark = f"{node.kind.value}: windows of {spark_span(node.size_us)}{every}; a row without {node.column} is in none"
    return [comment(mark), select(['"*"', *columns])]


@BATCH.add(plan.AssignSession)
def _assign_session(node: plan.AssignSession, names: FrameNames) -> list[str]:
    """Of each row the bounds of its session, over the rows that have its number."""
    time, gap = backtick(node.column), _gap(node)
    whole = f"PARTITION BY {', '.join(map(backtick, (*node.keys, SESSION)))}"
    cast = '.cast("timestamp_ntz")' if node.input.schema[node.column].type == TIMESTAMP_LTZ else ""
    last = f"max({time}) OVER ({whole}) + {gap}"
    values = (f"min({time}) OVER ({whole})", last, f"{last} - INTERVAL '0.001' SECOND")
    columns = [
        f"F.expr({quote(value)}){cast if place < 2 else ''}.alias({quote(name)})"
        for place, (value, name) in enumerate(zip(values, node.names, strict=True))
    ]
    return [
        *number_sessions(node),
        select([*(quote(column_name(field)) for field in node.input.schema.names), *columns]),
    ]


def number_sessions(node: plan.AssignSession) -> list[str]:
    """SESSION: of each row the number of its session, a running count of the rows that begin one; a row without time is in none."""
    time, keys = backtick(node.column), ", ".join(map(backtick, node.keys))
    before = f"PARTITION BY {keys} ORDER BY {time}" if keys else f"ORDER BY {time}"
    begins = f"coalesce({time} > lag({time}) OVER ({before}) + {_gap(node)}, true)"
    return [
        name_session(node),
        f".where(F.col({quote(column_name(node.column))}).isNotNull())",
        f".withColumn({quote(BEGINS)}, F.expr({quote(begins)}))",
        f".withColumn({quote(SESSION)}, F.expr({quote(f'count_if({backtick(BEGINS)}) OVER ({before})')}))",
    ]


def name_session(node: plan.AssignSession) -> str:
    """What a session is, as a comment."""
    return comment(
        f"SESSION: over when nothing comes for {spark_span(node.gap_us)}; a row without {node.column} is in none"
    )


def session_gap(node: plan.AssignSession) -> str:
    """The gap after which a session is over, as a Column."""
    return f"F.expr({quote(_gap(node))})"


def _gap(node: plan.AssignSession) -> str:
    return f"INTERVAL '{node.gap_us / 1_000_000:.6f}' SECOND"


def _cumulate(node: plan.AssignWindow) -> list[str]:
    """The largest window of a row gives the start, the step that it lies in the first end, and the others follow."""
    is_local = node.input.schema[node.column].type == TIMESTAMP_LTZ
    ends = [_window(node, length) for length in (node.slide_us, node.size_us)]
    step = f'F.expr("INTERVAL {node.slide_us // 1_000_000} SECOND {node.slide_us % 1_000_000} MICROSECOND")'
    name, cast = node.names[1], '.cast("timestamp_ntz")' if is_local else ""
    each = f"F.explode(F.sequence({quote(STEP_END)}, F.col({quote(LARGEST)}).end, {step}))"
    columns = {
        node.names[0]: f"F.col({quote(LARGEST)}).start{cast}",
        name: f"F.col({quote(name)}){cast}",
        node.names[2]: f"F.col({quote(name)}) - F.expr(\"INTERVAL '0.001' SECOND\")",
    }
    mark = f"CUMULATE: windows of {spark_span(node.size_us)}, one every {spark_span(node.slide_us)} of it"
    return [
        comment(f"{mark}; a row without {node.column} is in none"),
        f".withColumn({quote(STEP_END)}, {ends[0]}.end)",
        f".withColumn({quote(LARGEST)}, {ends[1]})",
        select(['"*"', f"{each}.alias({quote(name)})"]),
        select(
            [
                *(quote(column_name(field)) for field in node.input.schema.names),
                *(f"({value}).alias({quote(called)})" for called, value in columns.items() if called),
            ]
        ),
    ]


def _window(node: plan.AssignWindow, length_us: int) -> str:
    spans = [length_us, *([length_us, node.offset_us % length_us] if node.offset_us else [])]
    return f"F.window({', '.join([quote(column_name(node.column)), *(quote(spark_span(each)) for each in spans)])})"


def without_unread_time(node: plan.AssignWindow, following: Sequence[plan.Node]) -> plan.AssignWindow:
    """The node without its third column, named by an empty text, if it can be seen that nothing reads that."""
    return node if _is_read(node.names[2], following) else replace(node, names=(*node.names[:2], ""))


def _is_read(column: str, following: Sequence[plan.Node]) -> bool:
    """Whether one of these nodes, each of which reads the one before, reads the column, or hands it on to whoever may."""
    for reader in following:
        match reader:
            case plan.Filter(predicate=predicate) if column not in columns_of(predicate):
                continue
        names = frozenset(reader.schema.names)
        return column in names | plan.needed_columns(reader, names)[0]
    return True


def computes_below(node: plan.Node, names: FrameNames) -> bool:
    """Whether an aggregate computes the columns of the projection it reads by itself, so that the projection needs no line."""
    return (
        isinstance(node, plan.Aggregate)
        and isinstance(node.input, plan.Project)
        and id(node.input) not in names
        and not any(map(names_columns, node.calls))
    )


def _key(name: str, value: Expression | None) -> str:
    if value is None or value == Column(value.type, name):
        return quote(column_name(name))
    return f"{parenthesize(to_spark(value))}.alias({quote(name)})"


def _inline(node: plan.Aggregate, names: FrameNames) -> dict[str, Expression]:
    """What computes the columns of the projection below, by name."""
    if not computes_below(node, names):
        return {}
    assert isinstance(node.input, plan.Project)
    return dict(node.input.items)


def _fields(node: plan.Unnest, values: Sequence[str]) -> list[str]:
    assert isinstance(node.array.type, ArrayType)
    assert isinstance(node.array.type.element, RowType)
    pairs = zip(node.array.type.element.fields, values, strict=True)
    return [f"F.col({quote(ELEMENT)}).getField({quote(field)}).alias({name})" for (field, _), name in pairs]


def alias(name: str, value: Expression) -> str:
    """An item of a select."""
    if isinstance(value, Column) and value.name == name:
        return quote(column_name(name))
    text = parenthesize(to_spark(value))
    return text if _keeps_name(name, value) else f"{text}.alias({quote(name)})"


def _keeps_name(name: str, value: Expression) -> bool:
    """Whether Spark calls the value so by itself: a column that is cast, a field of a row."""
    match value:
        case Cast(operand=Column(name=column), safe=False):
            return column == name
        case GetField(field=field):
            return field == name and is_path(value)
    return False


def _condition(predicate: Expression) -> str:
    return to_spark(rewrite(predicate, _is_not_null))


def _is_not_null(part: Expression) -> Expression:
    """NOT x IS NULL as people say it."""
    match part:
        case Call(function="not", arguments=(Call(function="is_null") as inner,)):
            return Call(part.type, "is_not_null", inner.arguments)
    return part
