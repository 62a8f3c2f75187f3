"""What tasks write of a micro-batch. Workers of a cluster import this, and have no compiler: nothing here knows plans or SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from ouzel.connectors import open_sink
from ouzel.connectors.writing import SinkRequest

if TYPE_CHECKING:
    import pyarrow as pa


def write_part(
    connector: str, request: SinkRequest, batch_id: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """In a task: write its share of a micro-batch, as one batch, and give back how many rows that were."""
    import pyarrow as pa
    from pyspark import TaskContext

    given = list(batches)
    rows = pl.from_arrow(given) if given else pl.DataFrame()
    assert isinstance(rows, pl.DataFrame)
    if not rows.height:
        return
    context = TaskContext.get()
    writer = open_sink(connector, replace(request, task=context.partitionId() if context else 0))
    try:
        writer.write(batch_id, apply_types(rows, request.columns))
        writer.flush()
    finally:
        writer.close()
    yield pa.RecordBatch.from_pydict({"rows": [rows.height]})


def apply_types(rows: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Spark's rows under the sink's names and in its types, by position."""
    named = rows.rename(dict(zip(rows.columns, columns, strict=True)))
    return named.cast(pl.Schema(columns))
