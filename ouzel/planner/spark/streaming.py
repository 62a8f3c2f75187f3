"""The same plan as Structured Streaming queries: one for each sink. Reads and writes nothing.

The lowest aggregate of a sink is Spark's own streaming aggregation; what stands above it is a function over one micro-batch's table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ouzel.compiler.plan import Program, Sink
from ouzel.errors import NotSupported


class OutputMode(Enum):
    """What Spark gives a sink in each micro-batch: new rows, the rows that changed, or the whole table as it stands."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


@dataclass(frozen=True)
class StreamingQuery:
    """One sink's streaming query.

    Args:
        sink: where its rows go.
        mode: Spark's output mode.
        text: PySpark statements that define the frames; they need the names `spark`, `folder`, `F`, `T` and `read_stream`.
        frame: the variable that then holds the streaming DataFrame.
        after: a function over one micro-batch's static frame, `def finish(batch): ... return frame`; empty if nothing is left to do.
        keys: in UPDATE mode, the columns that tell rows apart.
    """

    sink: Sink
    mode: OutputMode
    text: str
    frame: str
    after: str
    keys: tuple[str, ...] = ()


def streaming_queries(program: Program, directory: Path, name: str) -> tuple[StreamingQuery, ...]:
    """One query for each sink of the program; relative paths of tables start at `directory`, `name` is what Spark calls the queries.

    Raises:
        NotSupported: Structured Streaming cannot run something of it; the text names the construct.
    """
    raise NotSupported("Structured Streaming is not there yet")
