"""Maxwell JSON: MySQL's log of changes. Each record is a row as it is, with what its changed fields were.

Types of records are those of Maxwell's documentation ("Data format", "Bootstrapping").
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ouzel.connectors.formats.changes.row_logs import LogDialect, RowLogDecoder

_DIALECT = LogDialect(
    form="maxwell-json",
    comes=("insert", "bootstrap-insert", "update"),
    goes=("update", "delete"),
    passed=("bootstrap-start", "bootstrap-complete", "table-create", "database-create", "database-alter"),
    altered=("table-alter",),
    lost=("table-drop", "database-drop"),
    many=False,
)

FORMAT = _DIALECT.format(
    "A log of changes as Maxwell writes it of MySQL: one JSON object a record, with `type`, `data` and, of an update, `old`: what the "
    "changed fields were. A row that is inserted (`insert`) or was there at a bootstrap (`bootstrap-insert`) comes, one that is deleted "
    "goes, one that is updated goes as it was and comes as it is; so the table is what the database's is. Columns are read as in `json`. "
    "What Maxwell tells of tables (`table-create` and the like) and of the beginning and end of a bootstrap is passed over, with a note of "
    "one that is altered; a table that is dropped is a bad record. It can only be read.",
    "ouzel.connectors.formats.changes.maxwell:open_maxwell",
)


def open_maxwell(
    options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
) -> RowLogDecoder:
    """A decoder of Maxwell's records into `columns`."""
    return RowLogDecoder(_DIALECT, options, columns, required, {})
