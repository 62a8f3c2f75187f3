"""Small plans for the tests of operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from ouzel.compiler.catalog import UNREAD
from ouzel.compiler.functions.aggregates import resolve_aggregate
from ouzel.compiler.plan import (
    WEIGHT,
    Aggregate,
    AggregateCall,
    Emit,
    EmitRule,
    FinalAggregate,
    Node,
    PartialAggregate,
    Scan,
)
from ouzel.compiler.types import DataType, Field, Schema
from ouzel.planner.settings import Settings
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.operators.chain import Chain

CHANGES, FINAL = Emit(EmitRule.CHANGES), Emit(EmitRule.WATERMARK)


def table(retracts: bool = False, **columns: DataType) -> Scan:
    """A table of these columns."""
    schema = Schema(tuple(Field(name, kind) for name, kind in columns.items()))
    return Scan("t", "memory", (), schema, traits=replace(UNREAD, changelog=retracts))


def call(function: str, source: Node, argument: str | None = None, name: str = "", **options: object) -> AggregateCall:
    """An aggregate call, its type resolved."""
    signature = resolve_aggregate(function, source.schema[argument].type if argument else None)
    return AggregateCall(name or f"{function}_{argument}", signature.name, argument, signature.result, **options)  # type: ignore[arg-type]


def group(
    source: Node,
    keys: Iterable[str],
    *calls: AggregateCall,
    emit: Emit = CHANGES,
    window: tuple[str, str, str] | None = None,
) -> Aggregate:
    """An Aggregate."""
    return Aggregate(source, tuple(keys), calls, emit, window)


class OneStream(Chain):
    """A chain that does not branch, asked for frames."""

    def process(self, frame, port=0):  # type: ignore[no-untyped-def, override]
        """What comes of a frame, or None."""
        return next((made for _, made in super().process(frame, port)), None)

    def _each(self, *arguments, **options):  # type: ignore[no-untyped-def, override]
        return [frame for _, frame in super()._each(*arguments, **options)]


def one_stream(made: Chain) -> OneStream:
    """The same chain, asked for frames."""
    asked = OneStream(made.operators, made.edges)
    asked.consolidated = made.consolidated
    return asked


def chain(*nodes: Node) -> OneStream:
    """The operators of these nodes."""
    return one_stream(build_chain(nodes, Settings(seed=7)))


def split(node: Aggregate) -> tuple[PartialAggregate, FinalAggregate]:
    """The same aggregate in two steps."""
    partial = PartialAggregate(node.input, node)
    return partial, FinalAggregate(partial, node)


def folded(frames: Iterable[pl.DataFrame | None], columns: list[str]) -> dict[tuple[object, ...], int]:
    """Rows to weights, by plain Python: what a changelog adds up to."""
    total: dict[tuple[object, ...], int] = {}
    for frame in frames:
        for row in frame.iter_rows(named=True) if frame is not None else ():
            key = tuple(row[name] for name in columns)
            total[key] = total.get(key, 0) + row.get(WEIGHT, 1)
    return {key: weight for key, weight in total.items() if weight}
