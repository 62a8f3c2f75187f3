"""Parquet files whose rows are a table's as they are: other readers than ours, which know no bad records, may read them."""

from __future__ import annotations

import polars as pl
import pyarrow.parquet as pq

from ouzel.connectors.file.parquet import file_types, read_footer
from ouzel.connectors.formats.widening import match_columns
from ouzel.connectors.reading import SourceRequest

PLAIN = (
    pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Float32, pl.Float64, pl.String, pl.Binary, pl.Date, pl.Datetime, pl.Decimal,
)  # fmt: skip
"""Types whose values every reader of Parquet gives alike, if the file has them as the table does."""


def holds_plain_rows(request: SourceRequest, path: str) -> bool:
    """Whether each column that the file has is of the table's type, and its footer shows that nothing is NULL which must not be.

    Raises:
        ConnectorError: it is no Parquet file, or a column's type would lose something.
    """
    footer = read_footer(path)
    held = file_types(footer)
    found = match_columns(held, request.columns, path)
    kinds = [(held[own], request.columns[name]) for name, own in found.items()]
    if not all(there == declared and isinstance(declared, PLAIN) for there, declared in kinds):
        return False
    return all(name in found and _has_no_null(footer, found[name]) for name in request.required)


def _has_no_null(footer: pq.FileMetaData, column: str) -> bool:
    """Whether the statistics of each row group say so."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    told = [chunk.statistics for chunk in chunks if chunk.path_in_schema == column]
    return all(each is not None and each.has_null_count and not each.null_count for each in told)
