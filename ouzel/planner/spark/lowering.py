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
from ouzel.planner.spark.tables import quoted, read_table, write_table

ELEMENT, POSITION = "$element", "$position"
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
    keys = ", ".join(quoted(column_name(key)) for key in node.keys)
    if not node.calls:
        return f"{frames.input(node)}.select({keys}).distinct()"
    grouped = f"{frames.input(node)}.groupBy({keys})" if keys else frames.input(node)
    return _call(f"{grouped}.agg", [spark_aggregate(call) for call in node.calls])


@lower.register
def _(node: Unnest, frames: Frames) -> str:
    names = [quoted(name) for name, _ in node.names]
    values, position = (names[:-1], [quoted(POSITION)]) if node.ordinality else (names, [])
    is_row = isinstance(node.array.type, ArrayType) and isinstance(node.array.type.element, RowType)
    made = ", ".join([*position, *([quoted(ELEMENT)] if is_row else values)])
    explode = f"F.{'pos' * node.ordinality}explode{'_outer' * node.outer}({to_spark(node.array)}).alias({made})"
    exploded = f'{frames.input(node)}.select("*", {explode})'
    if not is_row and not node.ordinality:
        return exploded
    kept = [quoted(column_name(name)) for name in node.input.schema.names]
    taken = _fields(node, values) if is_row else values
    counted = [f'(F.col({quoted(POSITION)}) + 1).cast("bigint").alias({names[-1]})'] if node.ordinality else []
    return _call(f"{exploded}.select", [*kept, *taken, *counted])


@lower.register
def _(node: AssignWindow, frames: Frames) -> str:
    """Whole microseconds since the epoch, as the topology counts; a row without time is in no window."""
    (start, end, time), us = map(quoted, node.names), column(node.names[0])
    kind = to_spark_type(node.schema[node.names[2]].type)
    since = f"{us} - {node.offset_us}" if node.offset_us else us
    steps = [
        f'({start}, F.unix_micros({column(node.column)}.cast("timestamp")))',
        f"({start}, {us} - F.pmod({since}, F.lit({node.slide_us})))",
        *([f"({start}, {_each_start(node, us)})"] if node.kind is WindowKind.HOP else []),
        f'({end}, F.timestamp_micros({us} + {node.size_us}).cast("timestamp_ntz"))',
        f"({time}, F.timestamp_micros({us} + {node.size_us - 1000}).cast({quoted(kind)}))",
        f'({start}, F.timestamp_micros({us}).cast("timestamp_ntz"))',
    ]
    timed = f"{frames.input(node)}.where({column(node.column)}.isNotNull())"
    return "\n".join(["(", f"    {timed}", *(f"    .withColumn{step}" for step in steps), ")"])


def _each_start(node: AssignWindow, last: str) -> str:
    """One row for each window that the row lies in: the last one, and those a slide earlier."""
    if node.size_us % node.slide_us:
        raise NotSupported("HOP has no Spark form when its slide does not divide its size")
    return f"F.explode(F.sequence({last} - {node.size_us - node.slide_us}, {last}, F.lit({node.slide_us})))"


def _fields(node: Unnest, values: Sequence[str]) -> list[str]:
    assert isinstance(node.array.type, ArrayType)
    assert isinstance(node.array.type.element, RowType)
    pairs = zip(node.array.type.element.fields, values, strict=True)
    return [f"F.col({quoted(ELEMENT)}).getField({quoted(field)}).alias({name})" for (field, _), name in pairs]


def aliased(name: str, value: Expression) -> str:
    """An item of a select."""
    if isinstance(value, Column) and value.name == name:
        return quoted(column_name(name))
    return f"{_operand(to_spark(value))}.alias({quoted(name)})"


def column(name: str) -> str:
    """A column by name."""
    return f"F.col({quoted(column_name(name))})"


def _operand(text: str) -> str:
    """In parentheses, unless a method may follow at once."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and character in " -~":
            return f"({text})"
    return text


def _call(function: str, arguments: Sequence[str]) -> str:
    """A call; one argument a line when there are many, or when one computes something."""
    short = ", ".join(arguments)
    if len(arguments) == 1 or (len(short) <= 100 and "(" not in short):
        return f"{function}({short})"
    return f"{function}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"
