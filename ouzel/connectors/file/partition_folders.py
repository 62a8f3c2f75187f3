"""Folders that are named by the values of columns, `day=2026-01-01/hour=3/part-0.parquet`, as Hive lays tables out.

The columns are those of the option 'partition.by', from the top folder on. Spark's own partition discovery is held to the same rules by a
job's text (spark/lowering/partitions.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from urllib.parse import unquote

import polars as pl

from ouzel.connectors.file.partitioned import Fixed, excludes, fixed_columns
from ouzel.connectors.formats.conversion import parse_column
from ouzel.errors import ConnectorError
from ouzel.lists import split_list

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What stands for NULL in the name of a folder."""

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_KINDS = {
    "^[+-]?[0-9]{1,19}$": pl.Int64(),
    r"^[+-]?([0-9]{1,15}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$": pl.Float64(),
    f"^{_DAY}$": pl.Date(),
    rf"^{_DAY}[T ][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(\.[0-9]{{1,6}})?$": pl.Datetime("us"),
}
"""The types that values may be of, in the order in which they are tried; a text that fits none makes the column VARCHAR."""


def partition_names(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that a table's folders are named by, from the top on; empty if they are not."""
    return split_list(options.get("partition.by", ""))


def files_below(folder: str, is_inside: bool = False) -> Iterator[str]:
    """The files of a folder, and those of the folders in it that are named by values of columns; `is_inside` if it is one of these.

    Names that begin with . or _ are none, as Spark has it: of folders only those that are no value of a column.

    Raises:
        ConnectorError: beside or below such a folder one has another name.
        PermissionError: the user may not look into one.
    """
    entries = _entries_of(folder)
    folders = [entry.name for entry in entries if entry.is_dir() and not _is_hidden(entry.name)]
    named = [name for name in folders if "=" in name]
    other = next((name for name in folders if "=" not in name), "")
    if other and (named or is_inside):
        raise ConnectorError(
            f"the folder {folder} holds the folder '{other}', whose name is no value of a column, as that of "
            f"{(named or [os.path.basename(folder)])[0]} is; move it away, or let its name begin with _"
        )
    yield from (entry.path for entry in entries if not entry.name.startswith((".", "_")) and entry.is_file())
    for name in named:
        yield from files_below(os.path.join(folder, name), is_inside=True)


def _entries_of(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, by name; nothing if it went meanwhile."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def find_names(files: Sequence[str], folder: str) -> tuple[str, ...]:
    """The columns that the folders of a table are named by, as its first file in such a folder has them; none if it has no folders."""
    if not os.path.isdir(folder):
        return ()
    return next((names for file in files if (names := tuple(name for name, _ in _parts(file, folder)))), ())


def _parts(file: str, folder: str) -> list[tuple[str, str]]:
    """Names and values of the folders between a table's folder and a file, as they are written."""
    inner = os.path.dirname(file).removeprefix(folder.rstrip(os.sep)).strip(os.sep)
    return [(unquote(name), value) for name, _, value in (part.partition("=") for part in inner.split(os.sep) if part)]


class PartitionFolders:
    """The folders of one table: which values the rows of a file have, and which files hold no row that is asked for.

    Args:
        folder: the table's own.
        names: the columns that folders are named by, from the top on.
        columns: the table's columns.
        predicate: what rows are asked for.
    """

    def __init__(
        self, folder: str, names: Sequence[str], columns: Mapping[str, pl.DataType], predicate: pl.Expr | None
    ) -> None:
        self._folder, self._names, self._columns, self._predicate = folder, names, columns, predicate
        self._is_wanted = cache(self._ask)

    def values(self, file: str) -> Fixed:
        """The values of a file's rows as texts.

        Raises:
            ConnectorError: it lies in other folders than the table has.
        """
        is_below = os.path.dirname(file).startswith(f"{self._folder}{os.sep}")
        return values_of(file, self._folder, self._names) if self._names or is_below else {}

    def is_wanted(self, file: str) -> bool:
        """Whether rows of a file may be asked for.

        Raises:
            ConnectorError: it lies in other folders than the table has, or one's name is no value of its column.
        """
        return self._is_wanted(os.path.dirname(file))

    def _ask(self, folder: str) -> bool:
        values = fixed_columns(self.values(os.path.join(folder, "")), self._columns, folder)
        return not excludes(self._predicate, values)


def values_of(file: str, folder: str, names: Sequence[str]) -> Fixed:
    """The values of the columns that the folders between a table's folder and a file are named by.

    Raises:
        ConnectorError: they are others, more or fewer, or one has no value that can be read.
    """
    found = _parts(file, folder)
    if [name.lower() for name, _ in found] != [name.lower() for name in names]:
        wanted, there = "/".join(f"{name}=..." for name in names), "/".join(f"{name}=..." for name, _ in found)
        raise ConnectorError(
            f"{file} lies in {there or 'none of the folders'} below {folder}, and the folders of the table are {wanted}, as 'partition.by' "
            f"(PARTITIONED BY) says; move it, or let its name begin with _"
            if names
            else _undeclared(folder, there.replace("=...", "").split("/"), os.path.dirname(file))
        )
    return {name: _value(text, os.path.dirname(file)) for name, (_, text) in zip(names, found, strict=True)}


def _undeclared(folder: str, names: Sequence[str], example: str) -> str:
    return (
        f"the folder {folder} is cut into folders by the values of columns, as {example}; declare them as columns of the table, and add "
        f"PARTITIONED BY ({', '.join(names)}), or 'partition.by' = '{', '.join(names)}' to its WITH"
    )


def _value(text: str, folder: str) -> str | None:
    if text == NULL:
        return None
    try:
        value = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise ConnectorError(f"the folder {folder} is named by a value that is no UTF-8; rename it") from None
    if not value:
        raise ConnectorError(f"the folder {folder} says no value behind an =; of NULL it is {NULL}")
    return value


def find_types(files: Sequence[str], folder: str, names: Sequence[str]) -> dict[str, pl.DataType]:
    """The type of each column that folders are named by: whole numbers, numbers, dates, times, else VARCHAR.

    Raises:
        ConnectorError: a file lies in other folders than the table has, or a name cannot stand in a list.
    """
    for name in names:
        if re.search(r"[,'\s]", name):
            raise ConnectorError(
                f"folders of {folder} are named by a column '{name}', which no list of columns can name"
            )
    places = {os.path.dirname(file): file for file in files}
    rows = [values_of(file, folder, names) for file in places.values()]
    return {
        name: _type_of(pl.Series(name, [row[name] for row in rows], pl.String).unique().drop_nulls()) for name in names
    }


def _type_of(texts: pl.Series) -> pl.DataType:
    fits = (
        kind
        for pattern, kind in _KINDS.items()
        if texts.str.contains(pattern).all() and not parse_column(kind)(texts).has_nulls()
    )
    return next(fits, pl.String()) if len(texts) else pl.String()
