"""Canal JSON: MySQL's log of changes. Each record is some rows of one statement, all values as text, with what changed fields were.

Types of records are those of Canal's flat messages (`CanalEntry.EventType`).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ouzel.connectors.formats.changes.row_logs import LogDialect, RowLogDecoder
from ouzel.connectors.formats.conversion import parse_column, sql_name
from ouzel.errors import ConnectorError

_DIALECT = LogDialect(
    form="canal-json",
    comes=("INSERT", "UPDATE"),
    goes=("UPDATE", "DELETE"),
    passed=("CREATE", "QUERY", "CINDEX", "DINDEX"),
    altered=("ALTER", "RENAME"),
    lost=("ERASE", "TRUNCATE"),
    many=True,
)

FORMAT = _DIALECT.format(
    "A log of changes as Canal writes it of MySQL: one JSON object a record, with `type`, the rows of one statement in `data` and, of an "
    "update, what their changed fields were in `old`. Rows that are inserted come, those that are deleted go, those that are updated go as "
    "they were and come as they are; so the table is what the database's is. Canal writes all values as text, of which numbers, times and "
    "Booleans (`1` and `0` too) are read. What it tells of tables (`CREATE`, `CINDEX` and the like) is passed over, with a note of one "
    "that is altered (`ALTER`, `RENAME`); a table that is dropped or emptied (`ERASE`, `TRUNCATE`) is a bad record. It can only be read.",
    "ouzel.connectors.formats.changes.canal:open_canal",
)


def open_canal(
    options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
) -> RowLogDecoder:
    """A decoder of Canal's records into `columns`.

    Raises:
        ConnectorError: a column is BYTES.
    """
    for name, kind in columns.items():
        if kind == pl.Binary:
            raise ConnectorError(
                f"column '{name}' cannot be {sql_name(kind)}: Canal writes bytes as the characters of their numbers; declare it VARCHAR"
            )
    scalars = {name: kind for name, kind in columns.items() if not kind.is_nested() and kind != pl.String}
    return RowLogDecoder(_DIALECT, options, columns, required, {name: _parse(kind) for name, kind in scalars.items()})


def _parse(kind: pl.DataType):  # type: ignore[no-untyped-def]
    parse = parse_column(kind)
    if kind != pl.Boolean:
        return parse
    return lambda text: parse(text.replace({"1": "true", "0": "false"}))
