"""Where a table is found: in a catalog, or in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchIcebergTableError, NoSuchTableError, ValidationError
from pyiceberg.table import StaticTable, Table
from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from ouzel.connectors.iceberg import CATALOG, CONNECTOR, ONE_FILE, SQLITE
from ouzel.connectors.options import TableOptions
from ouzel.errors import ConnectorError

_LOCKED_S = "30"
"""How long a writer waits for another that has SQLite's lock; each has it for the time of one statement."""


class TablePlace(Protocol):
    """Where a table is found.

    Attributes:
        where: it in words.
    """

    where: str

    def load(self) -> Table:
        """The table as it is now.

        Raises:
            ConnectorError: there is none, or what says so cannot be read.
        """


def find_place(options: Mapping[str, str], directory: Path) -> TablePlace:
    """Where the options say that a table is."""
    return Catalog(options, directory) if CATALOG in options else _Folder(directory / options["path"])


class Catalog:
    """A table in a SQL catalog."""

    def __init__(self, options: Mapping[str, str], directory: Path) -> None:
        given = TableOptions(CONNECTOR, options)
        self.file = directory / given.text(CATALOG).removeprefix(SQLITE)
        self.table = given.text("table")
        self.where = f"table '{self.table}' of {self.file}"
        self._name = given.text("catalog.name")
        self._warehouse = os.path.abspath(directory / options.get("catalog.warehouse", self.file.parent))

    def load(self) -> Table:
        """See TablePlace.load."""
        if not self.file.is_file():
            raise ConnectorError(f"there is no catalog {self.file}")
        catalog = self.open(make=False)
        try:
            with telling_of(self.where):
                return load_table(catalog, self.table)
        except NoSuchTableError:
            raise ConnectorError(f"{self.file} has no table '{self.table}' in its catalog '{self._name}'") from None

    def open(self, *, make: bool) -> SqlCatalog:
        """The catalog itself, whose tables are made if they are not there and may be.

        Raises:
            ConnectorError: it cannot be opened.
        """
        place = URL.create("sqlite", database=os.path.abspath(self.file), query={"timeout": _LOCKED_S})
        properties = {"uri": place, "warehouse": self._warehouse, "init_catalog_tables": str(make)}
        try:
            return SqlCatalog(self._name, **properties)
        except SQLAlchemyError as error:
            raise ConnectorError(f"the catalog {self.file} cannot be opened: {first_line(error)}") from None


def load_table(catalog: SqlCatalog, table: str) -> Table:
    """A table of a catalog whose files are where we can read them."""
    found = catalog.load_table(table)
    local_path(found.location())
    return found


class _Folder:
    """A table whose folder says what it is; with a catalog beside it, whatever was said there last."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._path = path

    def load(self) -> Table:
        hint = self._path / "metadata" / "version-hint.text"
        if self._path.name.endswith(ONE_FILE) != self._path.is_file():
            raise ConnectorError(f"there is no {self._path}, which would say what a table of Iceberg holds")
        if not self._path.is_file() and not hint.is_file():
            raise ConnectorError(
                f"{self._path} has no metadata/version-hint.text, so only its catalog knows which of its files in metadata/ is the newest; "
                f"name the catalog ('{CATALOG}'), or one of these files"
            )
        with telling_of(self.where):
            found = StaticTable.from_metadata(os.path.abspath(self._path))
        local_path(found.location())
        return found


@contextmanager
def telling_of(where: str) -> Iterator[None]:
    """What goes wrong within is told of what is read there.

    Raises:
        ConnectorError: something did.
    """
    try:
        yield
    except (OSError, EOFError, ValueError, ValidationError, NoSuchIcebergTableError, SQLAlchemyError) as error:
        raise ConnectorError(f"{where} cannot be read: {first_line(error)}") from None


def local_path(location: str) -> Path:
    """Where on this machine something is that metadata speaks of.

    Raises:
        ConnectorError: it is elsewhere.
    """
    parts = urlsplit(location)
    if parts.scheme not in ("", "file") or (parts.scheme == "file" and parts.netloc not in ("", "localhost")):
        raise ConnectorError(
            f"{location} is not on this machine: tables of Iceberg are read and written in folders of this machine or of a shared file "
            "system; mount the bucket, and write a copy of the table there"
        )
    path = location.removeprefix("file:") if parts.scheme else location
    return Path("/" + path[2:].partition("/")[2] if parts.scheme and path.startswith("//") else path)


def first_line(error: Exception) -> str:
    """What an error of a library says first."""
    return (str(error).splitlines() or [type(error).__name__])[0]
