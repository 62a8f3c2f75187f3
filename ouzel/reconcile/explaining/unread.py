"""Whether a run that has ended has read what there was: a batch job over the ranges that it names would not miss the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ouzel.compiler.plan import Scan, Sink, walk
from ouzel.connectors import open_source, reads_of
from ouzel.connectors.reading import Partition, ReadBatch, Source
from ouzel.reconcile.recording.record import Marks, RunRecord
from ouzel.spark.batch.offsets import batch_request, covers_table


@dataclass(frozen=True)
class Unread:
    """What a run has not read: `ends` of partitions that go on, though nobody has added to them; `tables` that have more."""

    ends: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def notes(self) -> Iterator[str]:
        """What a reader of the report must know."""
        for table in self.tables:
            yield f"'{table}' holds more than the run has read, added since or passed over; nor has the batch job read it."


def find_unread(sink: Sink, record: RunRecord) -> Unread:
    """What a run that has ended has not read of the tables that can tell; nothing of a run that was stopped."""
    directory = Path(record.directory)
    scans = {node.table: node for node in walk(sink) if isinstance(node, Scan) and node.table in record.ranges}
    if record.closed_us is not None or record.began:
        return Unread()
    partly = [
        scan
        for scan in scans.values()
        if reads_of(scan.connector, scan.table).covers and not covers_table(scan, directory, record.ranges[scan.table])
    ]
    ends = tuple(told for scan in partly for told in _unread_ends(scan, record, directory))
    return Unread(ends, tuple(scan.table for scan in partly))


def _unread_ends(scan: Scan, record: RunRecord, directory: Path) -> Iterator[str]:
    """The ends of partitions that go on, in files that are as long as they were."""
    file_of = reads_of(scan.connector, scan.table).file_of
    source = open_source(scan.connector, batch_request(scan, directory))
    for name, (_, end) in record.ranges[scan.table].items():
        path = file_of(dict(scan.options), name) if file_of else ""
        if _is_as_long(path, record.sources) and _goes_on(source, name, end):
            yield f"the run has ended, and has read {name} no further than {end:,}"


def _is_as_long(path: str, marks: Marks) -> bool:
    mark = marks.get(path)
    return mark is not None and os.path.exists(path) and os.path.getsize(path) == mark.size


def _goes_on(source: Source, partition: str, end: int) -> bool:
    reader = source.reader(Partition(partition, True), end)
    try:
        return isinstance(reader.read(1), ReadBatch)
    finally:
        reader.close()
