"""Joins with tables that are asked by key, in Spark's tasks: one operator in each worker, with its connection and what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ouzel.spark.io.python_steps import Batches, process_batch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ouzel.compiler.plan import Scan, SideJoin
    from ouzel.connectors.reading import SourceRequest
    from ouzel.runtime.operators.joined.side_join import SideJoining


def ask_table(operator: str, columns: str, folder: str) -> Callable[[DataFrame], DataFrame]:
    """What makes of a frame the rows of the join that the text holds; `columns` are these in Spark's DDL.

    Args:
        folder: where relative paths of the table start.
    """

    def compute(frame: DataFrame) -> DataFrame:
        from ouzel.spark.wheel import hand_on

        hand_on(frame.sparkSession)
        return frame.mapInArrow(_asking(operator, folder), columns)

    return compute


def _asking(operator: str, folder: str) -> Batches:
    def compute(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        node, joining = _open_join(operator, folder)
        for batch in batches:
            yield from process_batch(joining, node.left.schema, node.schema, batch)

    return compute


@lru_cache(16)
def _open_join(operator: str, folder: str) -> tuple[SideJoin, SideJoining]:
    """The operator of this worker: Spark gives it one task after the other, and it connects and remembers for all of them."""
    from ouzel.runtime.operators.joined.side_join import SideJoining
    from ouzel.runtime.tasks.sides import Asking
    from ouzel.spark.io.buckets import read_operator

    node = cast("SideJoin", read_operator(operator).operator)
    joining = SideJoining(node, 0)
    joining.ask_of(Asking(node, 0, lambda scan: _request(scan, Path(folder)), _Untold()))
    return node, joining


def _request(scan: Scan, folder: Path) -> SourceRequest:
    from ouzel.connectors.reading import SourceRequest

    required = frozenset(field.name for field in scan.columns if not field.nullable)
    return SourceRequest(
        scan.table, dict(scan.options), scan.columns.polars(), folder, dict(scan.metadata), required=required
    )


class _Untold:
    """Nobody asks a task of Spark what it waits for (see ouzel.runtime.tasks.call_waits.WaitListener)."""

    component = ""

    def outside(self) -> nullcontext[None]:
        return nullcontext()

    def tell(self, *waiting: object) -> None:
        pass
