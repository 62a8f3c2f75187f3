"""Plan nodes to PySpark: one function for each node, which gives the text of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.functions.aggregates import spark_aggregate
from ouzel.compiler.functions.spark import column_name, to_spark, to_spark_type
from ouzel.compiler.plan import Aggregate, AssignWindow, Filter, Node, Project, Scan, Sink, Union, Unnest, WindowKind
from ouzel.compiler.types import ArrayType, RowType
from ouzel.errors import NotSupported
from ouzel.planner.spark.tables import read_table, write_table

ELEMENT, POSITION, MICROSECONDS = "$element", "$position", "$us"
"""Columns that exist between two steps of one statement."""

VARIABLES: dict[type[Node], str] = {
    AssignWindow: "windowed", Aggregate: "grouped", Filter: "filtered", Project: "projected", Union: "united", Unnest: "unnested",
}  # fmt: skip


@dataclass(frozen=True)
class Frames:
    """The variables of a job, by `id()` of their nodes."""

    names: Mapping[int, str]

    def input(self, node: Node) -> str:
        """The variable of the node's only input."""
        return self.names[id(node.inputs[0])]

    def endings(self, sink: Sink) -> Iterator[str]:
        """What the program does with a sink's rows in the end."""
        yield write_table(self.names[id(sink)], sink)


def variable_of(node: Node) -> str:
    """What to call the node's frame, if the name is free."""
    return node.table if isinstance(node, Scan | Sink) else VARIABLES.get(type(node), type(node).__name__.lower())


@singledispatch
def lower(node: Node, frames: Frames) -> str:
    """The text of a DataFrame that holds the node's rows.

    Raises:
        NotSupported: it has no batch form.
    """
    raise NotSupported(f"{type(node).__name__} has no Spark form")


@lower.register
def _(node: Scan, frames: Frames) -> str:
    return read_table(node)


@lower.register
def _(node: Project, frames: Frames) -> str:
    return _call(f"{frames.input(node)}.select", [aliased(name, value) for name, value in node.items])


@lower.register
def _(node: Filter, frames: Frames) -> str:
    return f"{frames.input(node)}.where({to_spark(node.predicate)})"


@lower.register
def _(node: Union, frames: Frames) -> str:
    first, *others = (frames.names[id(branch)] for branch in node.branches)
    return first + "".join(f".union({other})" for other in others)


@lower.register
def _(node: Sink, frames: Frames) -> str:
    return frames.input(node)


@lower.register
def _(node: Aggregate, frames: Frames) -> str:
    keys = ", ".join(column(key) for key in node.keys)
    if not node.calls:
        return f"{frames.input(node)}.select({keys}).distinct()"
    grouped = f"{frames.input(node)}.groupBy({keys})" if keys else frames.input(node)
    return _call(f"{grouped}.agg", [spark_aggregate(call) for call in node.calls])


@lower.register
def _(node: Unnest, frames: Frames) -> str:
    kept = [column(name) for name in node.input.schema.names]
    names = [quoted(name) for name, _ in node.names]
    values, position = (names[:-1], [quoted(POSITION)]) if node.ordinality else (names, [])
    outer = "_outer" if node.outer else ""
    is_row = isinstance(node.array.type, ArrayType) and isinstance(node.array.type.element, RowType)
    made = [quoted(ELEMENT)] if is_row else values
    explode = f"F.{'pos' if node.ordinality else ''}explode{outer}({to_spark(node.array)}).alias({', '.join([*position, *made])})"
    exploded = _call(f"{frames.input(node)}.select", [*kept, explode])
    if not is_row and not node.ordinality:
        return exploded
    taken = _fields(node, values) if is_row else [f"F.col({name})" for name in values]
    counted = [f'(F.col({quoted(POSITION)}) + 1).cast("bigint").alias({names[-1]})'] if node.ordinality else []
    return _call(f"{exploded}.select", [*kept, *taken, *counted])


@lower.register
def _(node: AssignWindow, frames: Frames) -> str:
    """Whole microseconds since the epoch, as the topology counts; a row without time is in no window."""
    start, end, time = node.names
    kind = to_spark_type(node.schema[time].type)
    us = f"F.col({quoted(MICROSECONDS)})"
    kept = [column(name) for name in node.input.schema.names]
    made = [
        f'F.timestamp_micros({us}).cast("timestamp_ntz").alias({quoted(start)})',
        f'F.timestamp_micros({us} + {node.size_us}).cast("timestamp_ntz").alias({quoted(end)})',
        f"F.timestamp_micros({us} + {node.size_us - 1000}).cast({quoted(kind)}).alias({quoted(time)})",
    ]
    started = _call(f"{frames.input(node)}.where({column(node.column)}.isNotNull()).select", [*kept, _starts(node)])
    return _call(f"{started}.select", [*kept, *made])


def _starts(node: AssignWindow) -> str:
    """The start of the row's window, or one row for the start of each: the last one at or before its time, and those a slide earlier."""
    time = f'F.unix_micros({column(node.column)}.cast("timestamp"))'
    offset = f" - {node.offset_us}" if node.offset_us else ""
    last = f"{time} - F.pmod({time}{offset}, F.lit({node.slide_us}))"
    if node.kind is WindowKind.HOP:
        if node.size_us % node.slide_us:
            raise NotSupported("HOP has no Spark form when its slide does not divide its size")
        last = f"F.explode(F.sequence({last} - {node.size_us - node.slide_us}, {last}, F.lit({node.slide_us})))"
        return f"{last}.alias({quoted(MICROSECONDS)})"
    return f"({last}).alias({quoted(MICROSECONDS)})"


def _fields(node: Unnest, values: Sequence[str]) -> list[str]:
    assert isinstance(node.array.type, ArrayType)
    assert isinstance(node.array.type.element, RowType)
    pairs = zip(node.array.type.element.fields, values, strict=True)
    return [f"F.col({quoted(ELEMENT)}).getField({quoted(field)}).alias({name})" for (field, _), name in pairs]


def aliased(name: str, value: Expression) -> str:
    """An item of a select."""
    if isinstance(value, Column) and value.name == name:
        return column(name)
    return f"{_operand(to_spark(value))}.alias({quoted(name)})"


def column(name: str) -> str:
    """A column by name."""
    return f"F.col({quoted(column_name(name))})"


def quoted(text: str) -> str:
    """The text as a Python string in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _operand(text: str) -> str:
    """In parentheses, unless a method may follow at once."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character in " -~":
            return f"({text})"
    return text


def _call(function: str, arguments: Sequence[str]) -> str:
    """A call, one argument a line when there are several."""
    if len(arguments) == 1:
        return f"{function}({arguments[0]})"
    return f"{function}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"
