"""How far event time has come in what a run has read: windows that it says were open are held to that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ouzel.compiler.plan import Project, Sink, Watermark, scans_in, walk
from ouzel.compiler.types import Schema
from ouzel.reconcile.recording.record import RunRecord

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_AT = "at"


def come_by_record(sink: Sink, record: RunRecord) -> int | None:
    """The least time of the partitions that were read; None if one of a table with a watermark is left out."""
    tables = {scan.table for mark in _marks(sink) for scan in scans_in(walk(mark))}
    read = [
        (table, name) for table in tables for name, (start, end) in record.ranges.get(table, {}).items() if end > start
    ]
    times = [record.times.get(table, {}).get(name) for table, name in read]
    known = [time_us for time_us in times if time_us is not None]
    return min(known) if known and len(known) == len(times) else None


def come_by_input(sink: Sink, answer: Callable[[Sink], DataFrame]) -> int | None:
    """The least time of the tables, as the batch job finds it in the same rows; None if there is none."""
    from pyspark.sql import functions as F

    found = []
    for mark in _marks(sink):
        time = Project(mark.input, ((_AT, mark.expression),))
        rows = answer(replace(sink, input=time, columns=Schema(()), keys=(), sorted_by=()))
        found.append(rows.agg(F.max(F.unix_micros(F.col(_AT).cast("timestamp")))).collect()[0][0])
    return min((time_us for time_us in found if time_us is not None), default=None)


def _marks(sink: Sink) -> list[Watermark]:
    return [node for node in walk(sink) if isinstance(node, Watermark)]
