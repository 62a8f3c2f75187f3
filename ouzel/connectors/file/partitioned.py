"""Columns that a file does not hold, as all of its rows have one value, which the log of its table or the name of its folder says."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from ouzel.connectors.formats.conversion import parse_column, sql_name
from ouzel.errors import ConnectorError

Fixed = Mapping[str, str | None]
"""Name of a column -> the text of its value in all rows of a file; None is NULL."""


def fixed_columns(fixed: Fixed, columns: Mapping[str, pl.DataType], path: str) -> pl.DataFrame:
    """Those of the columns that are fixed, in one row; names match whatever their case.

    Raises:
        ConnectorError: a value is none of its column's type.
    """
    texts = {name.lower(): value for name, value in fixed.items()}
    kinds = {name: kind for name, kind in columns.items() if name.lower() in texts}
    return pl.DataFrame([_parse(name, texts[name.lower()], kind, path) for name, kind in kinds.items()])


def _parse(name: str, text: str | None, kind: pl.DataType, path: str) -> pl.Series:
    value = parse_column(kind)(pl.Series(name, [text], pl.String))
    if text is not None and value.has_nulls():
        raise ConnectorError(
            f"{path} lies in the partition {name}={text}, which is no {sql_name(kind)}; declare '{name}' as VARCHAR, and CAST it"
        )
    return value.cast(kind).alias(name)


def excludes(predicate: pl.Expr | None, fixed: pl.DataFrame) -> bool:
    """Whether no row with these values can fulfil the predicate, whatever its other columns hold."""
    if predicate is None or not fixed.width:
        return False
    there = set(fixed.columns)
    asked = [part for part in _conjuncts(predicate) if (names := set(part.meta.root_names())) and names <= there]
    return any(fixed.select(part).item() is not True for part in asked)


def _conjuncts(predicate: pl.Expr) -> Iterator[pl.Expr]:
    """The parts of which all must be true."""
    parts = predicate.meta.pop()
    if len(parts) == 2 and any((a & b).meta.eq(predicate) for a, b in (parts, parts[::-1])):
        for part in parts:
            yield from _conjuncts(part)
    else:
        yield predicate


def refuse_folder_columns(columns: Iterable[str], held: Iterable[str], paths: Iterable[str]) -> None:
    """See that no column is only in the names of folders that a pattern goes through, as those of `year=2013/month=1/a.parquet` are.

    Raises:
        ConnectorError: one is.
    """
    there = {name.lower() for name in held}
    folders = {
        part.partition("=")[0].lower(): part for path in paths for part in path.split(os.sep)[:-1] if "=" in part
    }
    for name in columns:
        if name.lower() in folders and name.lower() not in there:
            part = folders[name.lower()]
            raise ConnectorError(
                f"column '{name}' is in no file, only in the names of folders, as {part}; let 'path' name the folder that holds these "
                f"folders, and add PARTITIONED BY with their columns, or leave it out"
            )
