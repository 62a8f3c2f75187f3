"""The cut: which rows of both answers are compared. By whole windows, else by the moment of a row's time column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ouzel.compiler.plan import AssignWindow, Node, Program, Sink, scans_in, walk
from ouzel.compiler.types import DateType, Schema
from ouzel.errors import NotSupported
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.reconcile.comparing.extent import Extent, extent, has_joins, has_windows
from ouzel.reconcile.comparing.lineage import DAY_US
from ouzel.reconcile.recording.record import RunRecord
from ouzel.spark.batch.period import EPOCH, Period, between, moment_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EARLIEST_US, LATEST_US = ((at - EPOCH) // timedelta(microseconds=1) for at in (datetime.min, datetime.max))
"""Between these two lie all times that can be written down."""


@dataclass(frozen=True)
class Cut:
    """Which part of time is compared. A row belongs to it if its window lies wholly in it; a row without a window if its moment does.

    Attributes:
        from_us: its first microsecond since the epoch, UTC; None is the beginning of time.
        to_us: the microsecond after its last; None is the end of time.
        closed_only: only windows that the run's watermark has closed.
    """

    from_us: int | None = None
    to_us: int | None = None
    closed_only: bool = False

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return self != Cut()

    def at(self, record: RunRecord) -> Cut:
        """The same cut as times only, now that it is known up to when the run's windows have closed."""
        if not self.closed_only or record.closed_us is None:
            return replace(self, closed_only=False)
        closed = max(EARLIEST_US, min(LATEST_US, record.closed_us + 1))  # a window is closed by its last microsecond
        return Cut(self.from_us, closed if self.to_us is None else min(closed, self.to_us))

    def __str__(self) -> str:
        parts = [
            f"{word} {moment_text(at)}" for word, at in (("from", self.from_us), ("to", self.to_us)) if at is not None
        ]
        return " ".join([*(["closed windows"] if self.closed_only else []), *parts])


def check_cut(sink: Sink, cut: Cut) -> None:
    """Refuse a cut that does not apply to a sink's rows.

    Raises:
        NotSupported: nothing in them says to which time or window they belong.
    """
    if not cut:
        return
    found, windowed = extent(sink), has_windows(sink)
    if cut.closed_only and not windowed:
        raise NotSupported(
            f"closed windows of '{sink.table}': its query has no windows, so that nothing in it closes",
            instead="leave --closed-windows out, or compare a part of it --between two times",
        )
    if windowed and (found is None or (cut.closed_only and not found.windows)):
        raise NotSupported(
            f"a cut of '{sink.table}': its rows do not say which window they are of",
            instead="add window_start or window_end to its SELECT" + ", and to the ON of its joins" * has_joins(sink),
        )
    if found is None:
        raise NotSupported(
            f"a cut of '{sink.table}': none of its columns says when a row is, other than as an aggregate's value",
            instead="add its time column to the SELECT, or compare all of it",
        )


def began_of(sink: Sink, record: RunRecord) -> Mapping[str, int]:
    """Where the run went on from another with tables that the sink reads."""
    tables = {scan.table for scan in scans_in(walk(sink))}
    return {table: time_us for table, time_us in record.began.items() if table in tables}


def skip_answered_windows(cut: Cut, sink: Sink, record: RunRecord) -> Cut:
    """The cut without the windows that a run before had answered when this one went on from it."""
    found = extent(sink)
    began = began_of(sink, record)
    if not began or found is None or not found.windows:
        return cut
    closed_us = max(began.values())  # by its last microsecond
    first = found.grid.first_start(closed_us + 1)
    return replace(cut, from_us=first if cut.from_us is None else max(first, cut.from_us))


def restrict_sink(sink: Sink, cut: Cut) -> Sink:
    """The sink over no more of the input than the windows in the cut need; the same sink where there are none."""
    found = extent(sink)
    if found is None or not found.windows or (cut.from_us is None and cut.to_us is None):
        return sink
    chosen = {id(window) for window in found.windows}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = with_inputs(node, inputs)
        if id(node) not in chosen:
            return made
        assert isinstance(made, AssignWindow)
        # rows of the cut's span are all rows of the windows that lie wholly in it, and more
        return replace(made, input=between(made.input, made.column, Period(cut.from_us, cut.to_us)))

    return Dag(Program((sink,)).sinks).rebuilt(make).sinks[0]


def rows_within(frame: DataFrame, sink: Sink, cut: Cut) -> DataFrame:
    """The rows of an answer, whose columns are the sink's by position, that belong to the cut."""
    found = extent(sink)
    if found is None or (cut.from_us is None and cut.to_us is None):
        return frame
    columns: Schema = sink.columns or sink.input.schema
    name = frame.columns[columns.names.index(found.column)]
    first, last = _bounds(found, cut)
    return _limit(frame, name, first, last, isinstance(columns[found.column].type, DateType))


def _bounds(found: Extent, cut: Cut) -> tuple[int | None, int | None]:
    """The least and the greatest value, in microseconds, that the time column has in the cut."""
    first = None if cut.from_us is None else found.first_value(cut.from_us)
    last = None if cut.to_us is None else found.last_value(cut.to_us)
    return first, last


def _limit(frame: DataFrame, name: str, first: int | None, last: int | None, is_date: bool) -> DataFrame:
    """Compared in the column's own type, so that Spark hands the comparison down to what reads the rows."""
    from pyspark.sql import functions as F

    column, kind = F.col(f"`{name}`"), dict(frame.dtypes)[name]

    def value(at_us: int, upwards: bool) -> object:
        whole = -(-at_us // DAY_US) if upwards else at_us // DAY_US
        return F.date_from_unix_date(F.lit(whole)) if is_date else F.timestamp_micros(F.lit(at_us)).cast(kind)

    if first is not None:
        frame = frame.where(column >= value(first, True))
    if last is not None:
        frame = frame.where(column <= value(last, False))
    return frame
