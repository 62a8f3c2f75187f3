"""Ouzel's sinks as what a PySpark job writes to: each task opens its own writer, and a row goes out once per job that succeeds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from ouzel.connectors import open_sink, writes_of
from ouzel.connectors.base import Writers
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.errors import ConnectorError, OuzelError
from ouzel.spark.io.arrow import polars_types
from ouzel.spark.io.changelog import WEIGHT
from ouzel.spark.wheel import hand_on

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 1 << 14
"""Rows of a batch that the driver writes."""


def write_table(
    frame: DataFrame,
    table: str,
    options: Mapping[str, str],
    *,
    mode: str = "append",
    keys: Sequence[str] = (),
    folder: str = ".",
) -> int:
    """Write all rows of a DataFrame into a table of any connector; how many there were.

    A job that fails may have written some of them. A task that runs again writes them again where a row replaces what has its key; where
    each row is one more (append, retract) the job fails instead of writing some rows twice.

    Args:
        frame: its columns are the table's; without keys its rows are new, with keys they are the last state of each.
        table: name of the table, for messages.
        options: the table's WITH, 'connector' included.
        mode: append, upsert (by `keys`) or retract.
        folder: where relative paths start.

    Raises:
        OuzelError: Spark is set to run tasks twice at once.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    types = polars_types(to_arrow_schema(frame.schema, timezone="UTC"))
    given = Destination(table, dict(options), types, mode, tuple(keys), str(Path(folder).resolve()))
    if writes_of(given.connector, table).writers is not Writers.MANY:  # these mean the user's own process
        sys.stdout.flush()
        return given.write(frame.toArrow().to_batches(ROWS), 0)
    hand_on(frame.sparkSession)
    if not given.repeatable and frame.sparkSession.sparkContext.getConf().get("spark.speculation") == "true":
        raise OuzelError(
            f"table '{table}': with spark.speculation a task may run twice, and write each of its rows twice; set it to false"
        )
    counts = frame.mapInArrow(given.task, "rows bigint").collect()
    return sum(row["rows"] for row in counts)


@dataclass(frozen=True)
class Destination:
    """What `write_table` was asked for, as it travels to the workers."""

    table: str
    options: dict[str, str]
    types: dict[str, pl.DataType]
    mode: str
    keys: tuple[str, ...]
    folder: str

    @property
    def connector(self) -> str:
        """What 'connector' = says."""
        return self.options["connector"]

    @property
    def repeatable(self) -> bool:
        """Whether rows that are written again change nothing."""
        return self.mode == "upsert"

    def task(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write one partition; how many rows it had.

        Raises:
            ConnectorError: it cannot be written, or has been begun before and its rows cannot be taken back.
        """
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        if context.attemptNumber() and not self.repeatable:
            raise ConnectorError(
                f"table '{self.table}': a task had begun to write when it failed, and what it wrote cannot be taken back; "
                "see why it failed, and run the job again into a new place"
            )
        yield pa.RecordBatch.from_pydict({"rows": [self.write(batches, context.partitionId())]})

    def write(self, batches: Iterable[pa.RecordBatch], task: int) -> int:
        """Write the batches with a writer of its own; how many rows they had."""
        rows = unflushed = 0
        with closing(self._open(task)) as writer:
            for number, batch in enumerate(batches):
                frame = pl.DataFrame(pl.from_arrow(batch)).cast(self.types)  # type: ignore[arg-type]
                rows += frame.height
                unflushed += frame.height
                writer.write(number, frame if self.mode == "append" else frame.with_columns(_ONE))
                if unflushed >= writer.flush_rows:
                    writer.flush()
                    unflushed = 0
            writer.flush()
        return rows

    def _open(self, task: int) -> SinkWriter:
        options = {name: value for name, value in self.options.items() if name != "connector"}
        request = SinkRequest(
            self.table, options, self.types, self.mode, Path(self.folder), self.keys, WEIGHT, "batch", task
        )
        return open_sink(self.connector, request)


_ONE = pl.lit(1, pl.Int64).alias(WEIGHT)
