"""Whether ranges of offsets are whole files, which Spark's own, faster readers can read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ouzel.connectors.base import Partition, ReadBatch, ReadState, Source, SourceRequest
from ouzel.connectors.file.source import FileSource
from ouzel.errors import ConnectorError

PartitionRanges = Mapping[str, tuple[int, int]]


def are_whole_files(request: SourceRequest, parts: PartitionRanges) -> bool:
    """Whether the ranges are all that the table holds."""
    is_parquet = request.options["format"] == "parquet"
    if is_parquet:
        request = replace(request, options={**request.options, "partitions": "1"})
    try:
        source = FileSource(request)
        there = [partition.id for partition in source.partitions()]
    except ConnectorError:
        return False
    if is_parquet:
        return sorted(_join(parts)) == sorted(map(_rows, there))
    return sorted(parts) == sorted(there) and all(_reaches_end(source, name, *span) for name, span in parts.items())


def _rows(name: str) -> tuple[str, int, int]:
    path, _, rows = name.rpartition("#")
    first, _, last = rows.partition("-")
    return path, int(first), int(last)


def _join(parts: PartitionRanges) -> list[tuple[str, int, int]]:
    """Ranges of rows of each file, with those that meet made one."""
    joined: list[tuple[str, int, int]] = []
    for path, first, end in sorted((_rows(name)[0], *span) for name, span in parts.items()):
        if joined and joined[-1][0] == path and joined[-1][2] == first:
            joined[-1] = (path, joined[-1][1], end)
        else:
            joined.append((path, first, end))
    return joined


def _reaches_end(source: Source, name: str, first: int, end: int) -> bool:
    """Whether nothing comes before the range (a header is no record) and nothing after it."""
    reader = source.reader(Partition(name, True), None)
    start = reader.read(1)
    reader.close()
    if not isinstance(start, ReadBatch) or start.start < first:
        return False
    reader = source.reader(Partition(name, True), end)
    after = reader.read(1)
    reader.close()
    return after is ReadState.END
