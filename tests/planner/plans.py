"""Small logical plans, made by hand."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.compiler.catalog import SinkTraits, SourceTraits
from ouzel.compiler.expressions import Call, Column, Expression, Literal
from ouzel.compiler.plan import (
    Aggregate,
    AggregateCall,
    AssignWindow,
    Emit,
    EmitRule,
    Node,
    Program,
    Project,
    Scan,
    Sink,
    SinkMode,
    Unnest,
    Watermark,
    WindowKind,
)  # fmt: skip
from ouzel.compiler.types import BIGINT, BOOLEAN, DOUBLE, INT, TIMESTAMP, VARCHAR, ArrayType, DataType, Field, Schema
from ouzel.session import connector_traits

WINDOW = ("window_start", "window_end", "window_time")
DAY_US = 86_400_000_000


def read_traits(connector: str, options: Mapping[str, str]) -> SourceTraits:
    """What a plan says of a table that is read."""
    reads = connector_traits()[connector].reads
    assert reads is not None
    return reads(options)


def write_traits(connector: str) -> SinkTraits:
    """What a plan says of a table that is written."""
    writes = connector_traits()[connector].writes
    assert writes is not None
    return writes


def scan(table: str, connector: str = "file", **columns: DataType) -> Scan:
    fields = Schema(tuple(Field(*pair) for pair in columns.items()))
    options = {"path": f"{table}.parquet", "format": "parquet"}
    return Scan(table, connector, tuple(options.items()), fields, traits=read_traits(connector, options))


def column(node: Node, name: str) -> Column:
    return Column(node.schema[name].type, name)


def select(node: Node, *names: str, **items: Expression) -> Project:
    return Project(node, (*((name, column(node, name)) for name in names), *items.items()))


def greater(node: Node, name: str, value: int) -> Call:
    return Call(BOOLEAN, "gt", (column(node, name), Literal(INT, value)))


def count_by(
    node: Node, *keys: str, rule: EmitRule = EmitRule.CHANGES, windowed: bool = False, **sums: str
) -> Aggregate:
    calls = [AggregateCall("n", "count", None, BIGINT)]
    calls += [AggregateCall(name, "sum", argument, BIGINT) for name, argument in sums.items()]
    keys = (*WINDOW[:2], *keys) if windowed else keys
    return Aggregate(node, keys, tuple(calls), Emit(rule), (*WINDOW[:2], "") if windowed else None)


def sink(node: Node, table: str = "result", mode: SinkMode | None = None, keys: tuple[str, ...] = ()) -> Sink:
    mode = mode or (SinkMode.RETRACT if node.retracts else SinkMode.APPEND)
    options = (("path", table), ("format", "parquet"))
    connector = "result" if table == "result" else "file"
    return Sink(node, table, connector, options, mode, keys, node.schema, traits=write_traits(connector))


def program(*nodes: Node) -> Program:
    return Program(tuple(node if isinstance(node, Sink) else sink(node) for node in nodes))


def words() -> Node:
    lines = scan("lines", line=VARCHAR)
    parts = Call(ArrayType(VARCHAR), "split", (column(lines, "line"), Literal(VARCHAR, " ")))
    return select(Unnest(lines, parts, (("word", VARCHAR),)), "word")


def word_count() -> Aggregate:
    return count_by(words(), "word")


def flights() -> Watermark:
    table = scan("flights", origin=VARCHAR, delay=BIGINT, distance=DOUBLE, ts=TIMESTAMP)
    return Watermark(table, "ts", column(table, "ts"))


def days(node: Node) -> AssignWindow:
    return AssignWindow(node, WindowKind.TUMBLE, "ts", DAY_US, DAY_US)


def delays_by_day(watched: Watermark | None = None) -> Aggregate:
    windows = days(watched or flights())
    return count_by(
        select(windows, *WINDOW, "origin", "delay"), "origin", rule=EmitRule.WATERMARK, windowed=True, total="delay"
    )
