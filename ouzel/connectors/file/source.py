"""Which files there are, and who reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow.parquet as pq

from ouzel.connectors.file import CONNECTOR
from ouzel.connectors.file.content import open_content
from ouzel.connectors.file.following import Following, locate
from ouzel.connectors.file.identity import parse_id
from ouzel.connectors.file.parquet import ParquetReader, content_version, file_types, read_footer, row_ranges
from ouzel.connectors.file.partition_folders import PartitionFolders, partition_names
from ouzel.connectors.file.partitioned import refuse_folder_columns
from ouzel.connectors.file.paths import find_files, near_files
from ouzel.connectors.file.text import Opens, TextReader
from ouzel.connectors.file.unchanged import Unchanged
from ouzel.connectors.formats.widening import match_columns, require_columns
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import Committed, OffsetRange, Partition, Reader, SourceRequest
from ouzel.errors import ConnectorError


class FileSource:
    """All files of a path. A partition is a file, or a range of a Parquet file's row groups: `path#first-last` in rows."""

    def __init__(self, request: SourceRequest) -> None:
        self._request, self._options = request, TableOptions(CONNECTOR, request.options)
        self._passed: dict[str, TextReader] = {}
        self._followed: dict[str, TextReader] = {}
        self._follow = self._options.flag("follow")
        self._known: dict[str, None] = {}
        path, self._names = self._options.text("path"), partition_names(request.options)
        data = {name: kind for name, kind in request.columns.items() if name not in request.metadata}
        self._folders = PartitionFolders(str(request.directory / path), self._names, data, request.predicate)
        self._following = (
            Following(path, request.directory, request.notes, given_to=self._given_to, wanted=self._folders.is_wanted)
            if self._follow
            else None
        )
        self._unchanged = Unchanged(None if self._follow else request.notes)

    def recall(self, partitions: Mapping[str, int]) -> None:
        """A task before this one has read these partitions: files that have got other names since are still these."""
        if self._following is not None:
            self._following.recall(partitions)

    def partitions(self) -> Sequence[Partition]:
        """Files by name; when following, what appeared since the last call comes after what was there."""
        if self._following is not None:
            return self._following.partitions()
        found = find_files(self._options.text("path"), self._request.directory)
        if not found:
            raise ConnectorError(
                f"table '{self._request.table}' finds no file at {self._options.text('path')} (looked from {self._request.directory})"
                + near_files(self._options.text("path"), self._request.directory)
            )
        self._known |= dict.fromkeys(filter(self._folders.is_wanted, found))
        if self._options.text("format") == "parquet":
            return self._row_ranges()
        return [Partition(path, True) for path in self._known]

    def _row_ranges(self) -> list[Partition]:
        """Ranges of all Parquet files, whose columns fit the table's: each in every file that has it, and each in one at least."""
        versions = {path: content_version(path) for path in self._known}
        footers = {path: read_footer(path) for path in versions}
        self._check_columns(footers)
        wanted = self._options.integer("partitions") or -(-self._request.tasks // max(1, len(footers)))
        return [
            Partition(f"{path}#{first}-{last}", True, version=versions[path])
            for path, footer in footers.items()
            for first, last in row_ranges(footer, wanted)
        ]

    def _check_columns(self, footers: Mapping[str, pq.FileMetaData]) -> None:
        fixed = {name.lower() for name in self._names}
        own = {name: kind for name, kind in self._request.columns.items() if name not in self._request.metadata}
        columns = {name: kind for name, kind in own.items() if name.lower() not in fixed}
        names: dict[str, None] = {}
        for path, footer in footers.items():
            held = file_types(footer)
            match_columns(held, columns, path)
            names |= dict.fromkeys(held)
        refuse_folder_columns(columns, names, footers)
        if footers:  # else no file is asked for
            where = ", ".join(footers) if len(footers) < 3 else self._options.text("path")
            require_columns(list(names), columns, where)

    def reader(self, partition: Partition, offset: int | None) -> Reader:
        """Start at a row or line; None is the beginning."""
        if self._options.text("format") == "parquet":
            path, _, rows = partition.id.rpartition("#")
            first, last = map(int, rows.split("-"))
            self._unchanged.check(path)
            at, fixed = first if offset is None else offset, self._folders.values(path)
            return ParquetReader(self._request, path, at, last, partition.version, fixed)
        return self._text_reader(partition.id, offset)

    def _text_reader(self, partition: str, offset: int | None) -> TextReader:
        """A file is called as it was when it was met, wherever it is now."""
        file, following = parse_id(partition), self._following
        if file is None:
            self._unchanged.check(partition)
            watch = self._unchanged.watch(partition)
            return self._open_text(partition, offset, lambda: open_content(partition, watch))
        if following is not None:
            content = following.content(partition)
            reader = self._followed[partition] = self._open_text(file.path, offset, lambda: content)
            return reader
        return self._open_text(file.path, offset, lambda: open_content(locate(partition)))

    def _open_text(self, path: str, offset: int | None, content: Opens) -> TextReader:
        fixed = self._folders.values(path)
        return TextReader(self._request, self._options, path, offset, content, fixed, self._files)

    def _files(self) -> list[str]:
        return find_files(self._options.text("path"), self._request.directory)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """Lines are counted, each file's once; a Parquet file says how many rows it has."""
        if self._options.text("format") == "parquet":
            first, last = map(int, partition.id.rpartition("#")[2].split("-"))
            start = first if offset is None else offset
            return OffsetRange(start, min(start + rows, last), start + rows >= last)
        reader = self._passed.get(partition.id)
        if reader is None or reader.line != (offset or 0):
            if reader is not None:
                reader.close()
            reader = self._passed[partition.id] = self._text_reader(partition.id, offset)
        reach = reader.skip(rows)
        if reach.last:
            self._passed.pop(partition.id).close()
        return reach

    def commit(self, places: Mapping[str, Committed]) -> str:
        """The next run starts at the beginning; a task of this one that starts again is told what the followed files were."""
        return "" if self._following is None else self._following.note()

    def _given_to(self, partition: str) -> int | None:
        reader = self._followed.get(partition)
        return reader.given_to if reader else None

    def committed(self) -> Mapping[str, Committed]:
        """Nothing."""
        return {}

    def close(self) -> None:
        """Close the files whose lines were counted."""
        for reader in self._passed.values():
            reader.close()
        if self._following is not None:
            self._following.close()
