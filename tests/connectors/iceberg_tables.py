"""Tables of Iceberg, made and read in tests by Iceberg's own library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from ouzel.connectors import open_source
from ouzel.connectors.reading import Source, SourceRequest
from ouzel.connectors.writing import SinkRequest
from tests.connectors.versioned_tables import COLUMNS, numbers, read

AT = {"catalog.uri": "sqlite:///c.db", "table": "ns.t"}


def catalog(folder: Path) -> SqlCatalog:
    return SqlCatalog("default", uri=f"sqlite:///{folder}/c.db", warehouse=str(folder))


def made(folder: Path, schema: pa.Schema, *partition_by: str, name: str = "ns.t", **properties: str) -> Table:
    there = catalog(folder)
    there.create_namespace_if_not_exists("ns")
    with there.create_table_transaction(name, schema, properties=properties) as table, table.update_spec() as spec:
        for column in partition_by:
            spec.add_identity(column)
    return there.load_table(name)


def written(folder: Path, *commits: pa.Table, partition_by: tuple[str, ...] = ()) -> Table:
    """The table, with a snapshot for each."""
    there = catalog(folder)
    table = there.load_table("ns.t") if there.table_exists("ns.t") else made(folder, commits[0].schema, *partition_by)
    for commit in commits:
        table.append(commit)
    return table


def newest(folder: Path) -> str:
    current = catalog(folder).load_table("ns.t").current_snapshot()
    return str(current.snapshot_id) if current else "0"


def ids(table: Table) -> list[str]:
    """The ids of its snapshots, the oldest first."""
    return [str(entry.snapshot_id) for entry in table.history()]


def request(folder: Path, columns: Mapping[str, pl.DataType] | None = None, **options: str) -> SourceRequest:
    named = {key.replace("_", "."): value for key, value in options.items()}
    at = {} if "path" in named else AT
    return SourceRequest("t", {**at, **named}, columns or COLUMNS, folder)


def opened(folder: Path, columns: Mapping[str, pl.DataType] | None = None, **options: str) -> Source:
    return open_source("iceberg", request(folder, columns, **options))


def content(folder: Path) -> list[int]:
    return numbers(read(opened(folder, snapshot_id=newest(folder))))


def planned_text(query: str, more: str = "", columns: str = "") -> str:
    at = ", ".join(f"'{key}' = '{value}'" for key, value in AT.items())
    return f"CREATE TABLE t {columns} WITH ('connector' = 'iceberg', {at}{more}); {query};"


def sink_request(folder: Path, **options: str) -> SinkRequest:
    return SinkRequest("t", {**AT, **options}, COLUMNS, "append", folder, run="0a", component="out")
