"""Files of one table of CSV whose headers name other columns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ouzel.connectors.file.content import open_content
from ouzel.connectors.formats.csv.format import Dialect, LackingColumn
from ouzel.errors import ConnectorError

_FILES, _BYTES = 64, 1 << 16
"""So many other files are looked at, and so many bytes of each."""


def advise_of_others(
    error: LackingColumn, path: str, others: Sequence[str], columns: Sequence[str], dialect: Dialect, directory: Path
) -> ConnectorError:
    """The error with the file that has the column which `path` lacks, and how both are read; as it is where none has it.

    A query names files relative to `directory`.
    """
    has = next((other for other in others[:_FILES] if other != path and _names(other, dialect, error.column)), "")
    if not has:
        return error
    held = ", ".join(columns)
    lacks = ", ".join(f"NULL AS {name}" if name == error.column else name for name in columns)
    lacking, having = _named(path, directory), _named(has, directory)
    union = f"SELECT {lacks} FROM '{lacking}' UNION ALL SELECT {held} FROM '{having}'"
    return ConnectorError(f"{error}; {having} has it: read each kind of file by itself, as in {union}")


def _named(path: str, directory: Path) -> str:
    inside = Path(path).is_relative_to(directory)
    return str(Path(path).relative_to(directory)) if inside else path


def _names(path: str, dialect: Dialect, column: str) -> bool:
    """Whether the header of a file names a column."""
    with suppress(ConnectorError, OSError, ValueError):
        content = open_content(path)
        try:
            first = content.read(0, _BYTES).removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
        finally:
            content.close()
        return column.lower() in (field.lower() for field in dialect.fields(first))
    return False
