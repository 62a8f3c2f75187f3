"""Times that a table has as whole numbers: read as BIGINT, and made times above the Scan, so that no format and no engine need know."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.compiler.expressions import Cast, Column, Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Node, Project
from ouzel.compiler.types import BIGINT, INT, ArrayType, DataType, MapType, RowType, TimestampType

_DIGITS = {"seconds": 0, "millis": 3, "micros": 6, "nanos": 6}
"""Of a unit as many decimals of a second; nanoseconds are cut to microseconds first."""


def read_as(kind: DataType, unit: str) -> DataType:
    """The type that a column of this type has in the table, if its times count `unit`; its own if that is empty."""
    return BIGINT if unit and isinstance(kind, TimestampType) else kind


def holds_times(kind: DataType) -> bool:
    """Whether there is a time inside the type."""
    match kind:
        case ArrayType(element):
            inner: tuple[DataType, ...] = (element,)
        case MapType(key, value):
            inner = (key, value)
        case RowType(fields):
            inner = tuple(each for _, each in fields)
        case _:
            return False
    return any(isinstance(each, TimestampType) or holds_times(each) for each in inner)


def convert_epochs(node: Node, declared: Mapping[str, DataType], unit: str) -> Node:
    """The node with its numbers as the times that are declared."""
    if not unit:
        return node
    items = tuple(
        (name, convert_epoch(Column(node.schema[name].type, name), declared[name], unit)) for name in node.schema.names
    )
    return Project(node, items, written=node.written)


def convert_epoch(column: Column, declared: DataType, unit: str) -> Expression:
    """A column of numbers as the time that is declared; any other as it is."""
    if not isinstance(declared, TimestampType) or column.type != BIGINT:
        return column
    number: Expression = column
    if unit == "nanos":
        below = resolve_call("pmod", [column, Literal(BIGINT, 1000)])
        number = resolve_call("divide", [resolve_call("subtract", [column, below]), Literal(BIGINT, 1000)])
    instant = resolve_call("to_timestamp_ltz", [number, Literal(INT, _DIGITS[unit])])
    return instant if declared.local else Cast(declared, instant)
