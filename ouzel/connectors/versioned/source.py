"""Reading a version of a table, and the commits behind it. Files of Parquet are read as the file connector reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ouzel.connectors.file.parquet import ParquetReader, read_footer
from ouzel.connectors.file.partitioned import Fixed
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import NothingCommitted, OffsetRange, Partition, Reader, SourceRequest
from ouzel.connectors.versioned import is_followed
from ouzel.errors import ConnectorError


class DataFile(NamedTuple):
    """A file that a version has: its name from the table's folder on, its rows where the log says, and its partition's values."""

    name: str
    rows: int | None
    fixed: Fixed


class TableVersion(NamedTuple):
    """A version, and the files whose rows it adds."""

    version: int
    added: Sequence[DataFile]


class VersionedSource(NothingCommitted, ABC):
    """A partition is a file of the version that reading begins with, or one that a later commit adds: `<version>:<name>`.

    Attributes:
        noun: what the format calls a version.
        option: which option names one.
        cleaner: what removes files of old versions.
    """

    noun: str
    option: str
    cleaner: str

    def __init__(self, request: SourceRequest, options: TableOptions, folder: Path) -> None:
        self._request, self._folder = request, folder
        self._columns = {name: kind for name, kind in request.columns.items() if name not in request.metadata}
        self._follows = is_followed(request.options)
        self._ends = options.text("end") == "latest"
        self._version: int | None = None
        self._files: dict[str, DataFile] = {}

    @abstractmethod
    def _begin(self) -> TableVersion:
        """The version that reading begins with, which has all columns."""

    @abstractmethod
    def _later(self, version: int) -> Iterator[TableVersion]:
        """Those that came after it, in their order."""

    def partitions(self) -> Sequence[Partition]:
        """Files of the first version by name, then those of each commit in its order."""
        if self._version is None:
            self._add(self._begin())
        if self._follows and self._version is not None:
            for commit in self._later(self._version):
                self._add(commit)
        self._follows = self._follows and not self._ends
        return [Partition(name, not self._follows, called=file.name) for name, file in self._files.items()]

    def _add(self, commit: TableVersion) -> None:
        """Take the files of a version; nothing is kept of them unless all are there, so that it can be tried again."""
        files = {f"{commit.version}:{file.name}": self._counted(file, commit.version) for file in commit.added}
        if len(files) < len(commit.added):
            raise ConnectorError(
                f"{self.noun} {commit.version} of {self._folder} has a file twice, and rows of a file have one place; write a copy of it"
            )
        self._files |= files
        self._version = commit.version

    def _counted(self, file: DataFile, version: int) -> DataFile:
        if file.rows is not None:
            return file
        return file._replace(rows=int(read_footer(str(self._path(file, version))).num_rows))

    def _path(self, file: DataFile, version: int | None) -> Path:
        path = self._folder / file.name
        if not path.exists():
            raise ConnectorError(
                f"{path} is gone, which {self.noun} {version} or one before it has: {self.cleaner} has removed it, or someone else; read a "
                f"newer '{self.option}', and keep what {self.cleaner} removes for longer than it takes to read"
            )
        return path

    def _known(self, partition: Partition) -> DataFile:
        if partition.id not in self._files:
            self.partitions()
        if partition.id not in self._files:
            raise ConnectorError(f"{self._folder} has no file '{partition.id}' as it is read now")
        return self._files[partition.id]

    def reader(self, partition: Partition, offset: int | None) -> Reader:
        """Start at a row; None is the first."""
        file = self._known(partition)
        return self._open(file, str(self._path(file, self._version)), offset or 0)

    def _open(self, file: DataFile, path: str, offset: int) -> Reader:
        """Read a file's rows from an offset on."""
        return ParquetReader(self._request, path, offset, file.rows or 0, fixed=file.fixed)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """How many rows a file has is known."""
        start, end = offset or 0, self._known(partition).rows or 0
        return OffsetRange(start, min(start + rows, end), start + rows >= end)
