"""Files as wholes: whether ranges of offsets are such, which Spark's own, faster readers can read; and whether they are the same later."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ouzel.connectors.file import PACKED
from ouzel.connectors.file.disk import open_file
from ouzel.connectors.file.following import where_is
from ouzel.connectors.file.identity import parse_id
from ouzel.connectors.file.paths import find_files
from ouzel.connectors.file.source import FileSource
from ouzel.connectors.reading import Partition, ReadBatch, ReadState, Source, SourceRequest
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
        return sorted(_join(parts)) == sorted(rows for rows in map(_rows, there) if rows[1] < rows[2])
    read = sorted(map(_name_now, parts))
    without = [name for name in there if name not in read]
    if read != sorted(name for name in there if name not in without) or not all(
        _is_empty(source, name) for name in without
    ):
        return False
    return all(_reaches_end(source, name, *span) for name, span in parts.items())


def _name_now(partition: str) -> str:
    """The name of a partition's file; empty if it was followed under another, by which a row may be called."""
    file = parse_id(partition)
    if file is None:
        return partition
    return file.path if where_is(partition) == file.path else ""


def digest_files(request: SourceRequest) -> dict[str, str]:
    """The files of a table, each with a digest of its bytes.

    Raises:
        ConnectorError: one cannot be read.
    """
    return {path: _digest(path) for path in find_files(request.options["path"], request.directory)}


def count_bytes(options: Mapping[str, str], directory: Path) -> int | None:
    """How many bytes the files of a table have; None where there are none, or they hold more than their bytes say."""
    paths = find_files(options["path"], directory)
    if not paths or options["format"] == "parquet" or any(PACKED.search(path) for path in paths):
        return None
    try:
        return sum(Path(path).stat().st_size for path in paths)
    except OSError:
        return None


def _digest(path: str) -> str:
    try:
        with os.fdopen(open_file(path), "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise ConnectorError(f"cannot read {path}: {error.strerror}") from error


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


def _is_empty(source: Source, name: str) -> bool:
    """Whether there is no record in a file, so that no range speaks of it."""
    reader = source.reader(Partition(name, True), None)
    try:
        return reader.read(1) is ReadState.END
    finally:
        reader.close()


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
