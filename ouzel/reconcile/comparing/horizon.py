"""How far a watched run has been compared: which windows come next, and from where the batch job must read for them. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from ouzel.compiler.expressions import Call, Column, Expression, Literal
from ouzel.compiler.plan import Node, Sink, scans_in, walk
from ouzel.reconcile.comparing.cut import EARLIEST_US, Cut
from ouzel.reconcile.comparing.extent import WINDOW_TIME_US, Extent, extent
from ouzel.reconcile.recording.record import RunRecord
from ouzel.spark.io.bounds import Ranges


class Frontier:
    """Follows a run, record by record.

    A record says of each partition how far its watermark had come at the offset up to which it was read. Where a watermark lags behind
    event time by a constant, no row before that offset is later than watermark and lag: windows that begin later need none of them.
    """

    def __init__(self, sink: Sink, cut: Cut = Cut()) -> None:
        found = extent(sink)
        assert found is not None, "see cut.check_cut"
        self._cut = cut
        self._delays, self._reach_us = delays(sink), _reach_us(sink, found)
        self._grid = found.grid
        self._compared_us, self._all_compared = EARLIEST_US, False
        self._marks: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def following(self, record: RunRecord) -> Cut | None:
        """The windows that have closed since what was `passed`; None if none has. Of an input that has ended all that are left."""
        first, last = self._cut.from_us, replace(self._cut, closed_only=True).at(record).to_us
        if last is not None and last != self._cut.to_us:
            last = self._grid.last_end_by(last)
        if self._all_compared or (last is not None and last <= self._compared_us):
            return None
        if self._compared_us > EARLIEST_US:
            begin = self._grid.first_start(self._compared_us)
            first = begin if first is None else max(first, begin)
        return Cut(first, last)

    def starts(self, record: RunRecord, part: Cut) -> Ranges:
        """The record's ranges, without what lies before all rows of these windows by what earlier records show."""
        if part.from_us is None or self._delays is None or self._reach_us is None:
            return record.ranges
        needed = part.from_us - self._reach_us
        return {
            table: {name: (self._start(table, name, start, needed), end) for name, (start, end) in parts.items()}
            for table, parts in record.ranges.items()
        }

    def _start(self, table: str, partition: str, first: int, needed_us: int) -> int:
        return max((end for end, last in self._marks.get((table, partition), []) if last < needed_us), default=first)

    def on_compared(self, record: RunRecord, part: Cut) -> None:
        """These windows of that record have been compared. A run whose input has ended may go on answering: it closes no more windows."""
        if part.to_us is None:
            self._all_compared = True
        else:
            self._compared_us = part.to_us
        for table, delay in (self._delays or {}).items():
            for name, at in record.times.get(table, {}).items():
                self._remember((table, name), record.ranges[table][name][1], at + delay)

    def _remember(self, key: tuple[str, str], end: int, last_us: int) -> None:
        """Keep, of the marks that lie far enough back, the last one only."""
        marks = [*self._marks.get(key, []), (end, last_us)]
        needed = self._compared_us - self._grid.longest_us - (self._reach_us or 0)
        old = [mark for mark in marks if mark[1] < needed]
        self._marks[key] = old[-1:] + [mark for mark in marks if mark[1] >= needed]

    def why_from_the_start(self, record: RunRecord) -> str:
        """Why each round reads its input from the start; empty if it need not."""
        if self._delays is None:
            return "a watermark of this query does not lag behind event time by a constant"
        if self._reach_us is None:
            return "its windows are of rows that depend on others before them"
        return "" if record.times else "the run does not say how far event time has come"


def delays(sink: Sink) -> Mapping[str, int] | None:
    """By how many microseconds the watermark of each table lags behind event time; None if one does not by a constant."""
    found: dict[str, int] = {}
    for node in walk(sink):
        if node.declares_time is not None:
            delay = _delay(node.declares_time, node.time_column)
            tables = {scan.table for scan in scans_in(walk(node))}
            if delay is None or len(tables) != 1:
                return None
            (table,) = tables
            found[table] = max(delay, found.get(table, delay))
    return found if all(scan.table in found for scan in scans_in(walk(sink))) else None


def _delay(expression: Expression, column: str | None) -> int | None:
    match expression:
        case Column(name=name) if name == column:
            return 0
        case Call(function="subtract", arguments=(Column(name=name), Literal(value=timedelta() as lag))) if (
            name == column
        ):
            return lag // timedelta(microseconds=1)
    return None


def _reach_us(sink: Sink, found: Extent) -> int | None:
    """How much earlier than a window's begin its rows may be: windows of windows begin before their time. None if any may matter."""
    tops = {id(window): window for window in found.windows}
    below = {id(node): node for top in tops.values() for node in walk(top)}
    known = all(_computes_in_time(node) for node in below.values())
    if not known or any(id(scan) not in below for scan in scans_in(walk(sink))):
        return None
    inner = [node.window_grid for key, node in below.items() if node.window_grid and key not in tops]
    return sum(grid.longest_us + WINDOW_TIME_US for grid in inner)


def _computes_in_time(node: Node) -> bool:
    """Whether it needs no rows but those of the time that it gives, or of a window."""
    return not node.meets_other_rows and (node.is_rowwise or node.closes_windows or not node.inputs)
