"""The last rows of a topology's answer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import OuzelError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.samples import row_texts
from ouzel.runtime.process.kept_results import KeptResults
from ouzel.tracker.topologies.snapshot import TopologySnapshot

ROWS_SHOWN = 20
BYTES_READ = 32 << 20
"""Of a result of which more is kept no rows are shown: all of it would be read for each look at the page."""


@dataclass(frozen=True)
class ResultTail:
    """The last rows of a result; of one that takes rows back each has its weight, +1 or -1, in front.

    Attributes:
        columns: their names.
        rows: their cells as text, the latest row last.
        note: why there are none; empty if that is so because there are none.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def read_tail(registry: Registry, snapshot: TopologySnapshot) -> ResultTail:
    """The last rows that it has answered."""
    folder = registry.folder(snapshot.name)
    try:
        shape = folder.about().shape
        if shape is None:
            return ResultTail((), (), "it writes into tables and has no result")
        size = sum(path.stat().st_size for path in folder.results.rglob("*") if path.is_file())
        if size > BYTES_READ:
            return ResultTail((), (), f"{size:,} bytes are kept: read them with `ouzel results {snapshot.name}`")
        frames: deque[pl.DataFrame] = deque(maxlen=ROWS_SHOWN)
        for frame in KeptResults(folder.results, shape.schema.names).read():
            if frame.height:
                frames.append(frame.tail(ROWS_SHOWN))
    except (OuzelError, OSError) as error:
        return ResultTail((), (), str(error))
    if not frames:
        return ResultTail(tuple(shape.schema.names), ())
    last = pl.concat(frames, how="vertical_relaxed").tail(ROWS_SHOWN)
    columns = [name for name in (WEIGHT, *shape.schema.names) if name in last.columns]
    return ResultTail(
        tuple("change" if name == WEIGHT else name for name in columns), tuple(row_texts(last.select(columns)))
    )
