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
from ouzel.runtime.operators.base import Chain
from ouzel.runtime.operators.build import build_chain

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


def chain(*nodes: Node) -> Chain:
    """The operators of these nodes."""
    return build_chain(nodes, Settings(seed=7))


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
