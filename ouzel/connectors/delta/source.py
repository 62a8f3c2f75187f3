"""Reading a version of a table, and the commits behind it, as its log has them."""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.connectors.delta import CONNECTOR
from ouzel.connectors.delta.log import added_files, choose_version, open_snapshot, snapshot_files, table_types
from ouzel.connectors.formats.widening import match_columns, require_columns
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import SourceRequest
from ouzel.connectors.versioned.source import TableVersion, VersionedSource


class DeltaSource(VersionedSource):
    """A version is a commit's number in the log."""

    noun, option, cleaner = "version", "version", "VACUUM"

    def __init__(self, request: SourceRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        super().__init__(request, options, request.directory / options.text("path"))
        self._first = choose_version(request.options, self._folder)

    def _begin(self) -> TableVersion:
        table = open_snapshot(self._folder, self._first)
        held, where = table_types(table), f"version {self._first} of {self._folder}"
        match_columns(held, self._columns, where)
        require_columns(list(held), self._columns, where)
        return TableVersion(self._first, snapshot_files(table, self._folder))

    def _later(self, version: int) -> Iterator[TableVersion]:
        while (added := added_files(self._folder, version + 1)) is not None:
            version += 1
            yield TableVersion(version, added)
