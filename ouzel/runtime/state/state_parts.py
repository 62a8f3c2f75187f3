"""Parts of snapshots as Arrow IPC streams: how a task's file of an epoch, and a bucket in Spark's state, hold them one after the other."""

from __future__ import annotations

import polars as pl
import pyarrow as pa


def write_state_part(sink: pa.NativeFile, frame: pl.DataFrame) -> None:
    """Write one part."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def read_state_part(source: pa.NativeFile) -> pl.DataFrame:
    """The part that stands next; its columns may share the bytes.

    Raises:
        pyarrow.ArrowException: there is none.
    """
    frame = pl.from_arrow(pa.ipc.open_stream(source).read_all())
    assert isinstance(frame, pl.DataFrame)
    return frame
