"""Parquet: columns, not records, so only the file connector reads and writes it (connectors/file/parquet.py)."""

from __future__ import annotations

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Format

FORMAT = Format(
    "parquet",
    "Columnar files: only the columns asked for are read, and row groups whose statistics exclude the filter are skipped. Columns are "
    "found by name, whatever their case and order. Files only.",
    (
        Option(
            "parquet.compression",
            "How written files are compressed.",
            "zstd",
            choices=("zstd", "snappy", "lz4", "uncompressed"),
        ),
    ),
)
