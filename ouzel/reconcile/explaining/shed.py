"""The ranges of offsets that a run's sources skipped. The batch job leaves out exactly these, so they excuse no other difference."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ouzel.reconcile.recording.record import SHED
from ouzel.spark.io.bounds import Ranges
from ouzel.spark.lowering.job import JobRanges

Shed = Mapping[str, Mapping[str, Sequence[tuple[int, int]]]]
"""Table -> partition id -> offsets [start, end) that were passed over, in order, none touching the next."""

NOTHING_SHED: Shed = {}


def read_shed(home: Path) -> Shed:
    """What the tasks have noted in the record: a line is there twice if a task died and passed over the same again."""
    path = home / SHED
    found: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        table, partition, start, end = json.loads(line)
        found.setdefault(table, {}).setdefault(partition, []).append((start, end))
    return {table: {name: list(_merge(spans)) for name, spans in parts.items()} for table, parts in found.items()}


def _merge(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first, *rest = sorted(spans)
    for span in rest:
        if span[0] <= first[1]:
            first = (first[0], max(first[1], span[1]))
        else:
            yield first
            first = span
    yield first


def leave_out(ranges: JobRanges, shed: Shed) -> JobRanges:
    """The ranges with holes where records were shed."""
    return {
        table: {name: _without(span, shed.get(table, {}).get(name, ())) for name, span in parts.items()}
        for table, parts in ranges.items()
    }


def _without(span: tuple[int, ...], holes: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    start, end = span
    bounds = [start]
    for first, last in holes:
        if first < end and last > start:
            bounds += [max(first, start), min(last, end)]
    return (*bounds, end)


def describe_shed(ranges: Ranges, shed: Shed) -> Iterator[str]:
    """A sentence for each table of which records were shed."""
    for table, parts in shed.items():
        read = ranges.get(table, {})
        inside = [
            min(end, read[name][1]) - max(start, read[name][0])
            for name, spans in parts.items() if name in read
            for start, end in spans
        ]  # fmt: skip
        count = sum(offsets for offsets in inside if offsets > 0)
        if count:
            yield f"Shed: {count:,} records of '{table}' were passed over for the lag, and the batch job has left out the same."
