"""Whether a run has read what there was: a batch job over the ranges that it names would not miss the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ouzel.compiler.plan import Scan, Sink, scans_in, walk
from ouzel.connectors import open_source, reads_of
from ouzel.connectors.reading import Partition, ReadBatch, Source
from ouzel.planner.topology import Topology
from ouzel.reconcile.recording.record import Marks, RunRecord
from ouzel.spark.batch.offsets import batch_request, covers_table, with_predicates


@dataclass(frozen=True)
class Unread:
    """What a run has not read: `parts` of files that it had to read, in words; `tables` that have more."""

    parts: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def notes(self) -> Iterator[str]:
        """What a reader of the report must know."""
        for table in self.tables:
            yield f"'{table}' holds more than the run has read, added since or passed over; nor has the batch job read it."


def find_unread(sink: Sink, topology: Topology, record: RunRecord, directory: Path) -> Unread:
    """What a run has not read of the tables that can tell; relative paths start at `directory`. One that was stopped may lack the ends."""
    there = {scan.table: scan for scan in scans_in(walk(sink)) if scan.table in record.ranges}
    scans = with_predicates(there, topology)
    partly = [
        scan
        for scan in scans.values()
        if reads_of(scan.connector, scan.table).covers and not covers_table(scan, directory, record.ranges[scan.table])
    ]
    parts = (_unread_parts(scan, record, directory) for scan in partly if scan.traits.bounded)
    tables = () if record.closed_us is not None else tuple(scan.table for scan in partly)
    return Unread(tuple(told for each in parts for told in each), tables)


def _unread_parts(scan: Scan, record: RunRecord, directory: Path) -> Iterator[str]:
    """What was not read of the files that are there: what comes before a partition's range, and of a run that has ended all else."""
    source = open_source(scan.connector, batch_request(scan, directory))
    there: dict[str, list[Partition]] = {}
    for partition in source.partitions():
        there.setdefault(_file(scan, partition.id), []).append(partition)
    for name, (first, _) in record.ranges[scan.table].items():
        begin = _begin(source, Partition(name, True)) if _file(scan, name) in there else None
        if begin is not None and begin < first:
            yield f"the run has begun to read {name} at {first:,}, and it begins at {begin:,}"
    if record.closed_us is None:
        for path, spans in _by_file(scan, record).items():
            if path in there and _is_as_long(path, record.sources):
                yield from _unread_of(source, path, there[path], spans)


def _unread_of(
    source: Source, path: str, there: Sequence[Partition], spans: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """What a run that has ended has not read of a file that nobody has added to."""
    begin, last = _begin(source, there[0]), spans[-1][1]
    for before, after in zip([begin or 0, *(end for _, end in spans)], [first for first, _ in spans], strict=False):
        if before < after:
            yield f"the run has ended, and has not read {path} from {before:,} to {after:,}"
    if _read_one(source, there[-1], last):
        yield f"the run has ended, and has read {path} no further than {last:,}"


def _file(scan: Scan, partition: str) -> str:
    """The file that a partition is of."""
    file_of = reads_of(scan.connector, scan.table).file_of
    return file_of(dict(scan.options), partition) if file_of else ""


def _by_file(scan: Scan, record: RunRecord) -> Mapping[str, Sequence[tuple[int, int]]]:
    """What was read of each file, in order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for name, span in record.ranges[scan.table].items():
        found.setdefault(_file(scan, name), []).append(span)
    return {path: sorted(spans) for path, spans in found.items()}


def _is_as_long(path: str, marks: Marks) -> bool:
    """Whether nobody has added to it; what has no mark is not known to have grown."""
    mark = marks.get(path)
    return mark is None or os.path.getsize(path) == mark.size


def _begin(source: Source, partition: Partition) -> int | None:
    """The first offset; None if there is nothing."""
    found = _read_one(source, partition, None)
    return found.start if found else None


def _read_one(source: Source, partition: Partition, offset: int | None) -> ReadBatch | None:
    reader = source.reader(partition, offset)
    try:
        found = reader.read(1)
    finally:
        reader.close()
    return found if isinstance(found, ReadBatch) else None
