"""Tables whose rows a server keeps by key: looked up by key, and added to, each batch once.

What is added to a row is added column by column, by the aggregate that `'merge'` names for it: `'n:sum, worst:max'`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import polars as pl
from polars.exceptions import PolarsError

from ouzel.connectors.base import Option
from ouzel.connectors.file.ledger import REMEMBERED, digits
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, QueryError

MERGE = "merge"
MERGE_OPTION = Option(
    MERGE,
    "Sink: what becomes of a row whose key is there: `n:sum, worst:max` adds up column by column, by `sum` (of counts too), `min`, `max`, "
    "`bool_and` or `bool_or`; every column beside the key must be named. Without it the row is replaced. A batch that comes again is not "
    f"added again: the last {REMEMBERED:,} that each task has added are remembered, for seven days.",
)

AGGREGATES: Mapping[str, Callable[[pl.Expr], pl.Expr]] = {
    "sum": lambda column: column.sum(),
    "min": lambda column: column.min(),
    "max": lambda column: column.max(),
    "bool_and": lambda column: column.all(),
    "bool_or": lambda column: column.any(),
}
"""What adds up a column; NULL adds nothing."""

LEDGER_DAYS = 7
"""For so long it is remembered what was added."""


@dataclass(frozen=True)
class KeyedRequest:
    """What is asked of a table by key.

    Attributes:
        table: its name in the query.
        options: its options, as written.
        columns: all columns, in order, with their Polars types.
        keys: the columns of the key.
        directory: where relative paths start.
        merged_by: for each other column the aggregate that adds it up; empty if the table does not add up.
        writes: whether anything will be written.
        writer: who writes, apart from others at the same time: nobody else's batches have the same ids.
        again: the task has been started before in this run.
    """

    table: str
    options: Mapping[str, str]
    columns: Mapping[str, pl.DataType]
    keys: Sequence[str]
    directory: Path
    merged_by: Mapping[str, str] = field(default_factory=dict)
    writes: bool = False
    writer: str = ""
    again: bool = False

    @property
    def description(self) -> str:
        """What the table keeps, if it adds up: a store remembers it."""
        kept = (
            f"{name}: {kind}{f' by {self.merged_by[name]}' if name in self.merged_by else ''}"
            for name, kind in self.columns.items()
        )
        return ", ".join(kept)

    def check_same(self, kept: str | None, place: str) -> None:
        """See that what a store remembers of itself, if it does, is what is asked for.

        Raises:
            ConnectorError: it is not.
        """
        if self.merged_by and kept is not None and kept != self.description:
            raise ConnectorError(
                f"{place} keeps {kept}, and is asked for {self.description}; take another, or what it keeps"
            )


class KeyedRows(Protocol):
    """An opened table of rows by key. What it cannot reach it waits for."""

    def get_many(self, keys: pl.DataFrame) -> pl.DataFrame:
        """The rows of those of the keys that there are; `keys` has the key columns.

        Raises:
            ConnectorError: the server refuses, or a row is not of these columns.
        """

    def rows(self) -> pl.DataFrame:
        """All rows that there are now.

        Raises:
            ConnectorError: the server refuses, or a row is not of these columns.
        """

    def merge(self, batches: Mapping[str, pl.DataFrame]) -> None:
        """Add the rows of batches, by the batches' ids: those that were not added before, all of them or, if this fails, none.

        Raises:
            ConnectorError: the server refuses, a key is NULL, or a sum does not fit its type.
        """

    def close(self) -> None:
        """Let go of the server."""


def merged_columns(options: Mapping[str, str]) -> dict[str, str]:
    """What `'merge'` names for each column; empty if there is no such option.

    Raises:
        QueryError: it cannot be read, or names what adds nothing up.
    """
    if MERGE not in options:
        return {}
    found = {}
    for part in map(str.strip, options[MERGE].split(",")):
        column, _, aggregate = (text.strip() for text in part.rpartition(":"))
        if aggregate not in AGGREGATES or not column:
            raise QueryError(
                f"'{MERGE}' cannot hold '{part}'", instead=f"write 'column:aggregate' of {', '.join(AGGREGATES)}"
            )
        found[column] = aggregate
    return found


def keyed_request(request: SinkRequest, keys: Sequence[str]) -> KeyedRequest:
    """What a sink that adds up asks for.

    Raises:
        ConnectorError: a column is neither a key nor added up.
    """
    merged = merged_columns(request.options)
    wanted = [name for name in request.columns if name not in keys]
    if missing := [name for name in wanted if name not in merged]:
        raise ConnectorError(
            f"table '{request.table}': nothing says how '{missing[0]}' is added up; add '{missing[0]}:sum' to '{MERGE}'"
        )
    if unknown := [name for name in merged if name not in wanted]:
        raise ConnectorError(f"table '{request.table}' adds up no column '{unknown[0]}'; take it out of '{MERGE}'")
    return KeyedRequest(
        request.table, request.options, request.columns, tuple(keys), request.directory, merged,
        True, writer_of(request), request.again,
    )  # fmt: skip


def writer_of(request: SinkRequest) -> str:
    """Whose batches these are: ids are a run's and a task's own."""
    return f"{request.name}-{request.run}-{request.task}"


class GatheringWriter:
    """A sink that gathers batches until `flush`; `put` makes all of them safe, or none."""

    flush_interval_ms, flush_rows = 50, 50_000

    def __init__(self, put: Callable[[Mapping[str, pl.DataFrame]], None], close: Callable[[], None]) -> None:
        self._put, self._close = put, close
        self._waiting: dict[str, pl.DataFrame] = {}

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Keep the rows until `flush`; a batch may come in several parts."""
        name = digits(batch_id)
        known = self._waiting.get(name)
        self._waiting[name] = frame if known is None else pl.concat([known, frame])

    def flush(self) -> None:
        """Put what waits."""
        if self._waiting:
            self._put(self._waiting)
            self._waiting = {}

    def close(self) -> None:
        """Let go."""
        self._close()


def gathered(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[list[pl.DataFrame]]:
    """Frames in lists of about so many rows, in their order."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        if frame.height:
            waiting.append(frame)
        if sum(part.height for part in waiting) >= rows:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def merge_rows(request: KeyedRequest, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One row for each key of these.

    Raises:
        ConnectorError: a key is NULL, or a sum does not fit its type.
    """
    rows = pl.concat([frame.select(list(request.columns)) for frame in frames])
    for key in request.keys:
        if rows[key].null_count():
            raise ConnectorError(f"table '{request.table}': a row has NULL for its key '{key}'; leave such rows out")
    totals = [_total(name, by, rows.schema[name]) for name, by in request.merged_by.items()]
    found = rows.group_by(list(request.keys), maintain_order=True).agg(totals)
    try:
        return found.select(list(request.columns)).cast(dict(request.columns))  # type: ignore[arg-type]
    except PolarsError as error:
        first = str(error).splitlines()[0]
        raise ConnectorError(f"table '{request.table}': a sum does not fit its column: {first}") from None


def _total(name: str, by: str, kind: pl.DataType) -> pl.Expr:
    """A column added up, wide enough to see that it does not fit; NULL if there is nothing to add."""
    column = pl.col(name)
    if by == "max" and kind.is_float():
        total = column.nan_max()  # NaN is the greatest
    else:
        total = AGGREGATES[by](column.cast(pl.Int128) if by == "sum" and kind.is_integer() else column)
    return pl.when(column.count() > 0).then(total).alias(name)
