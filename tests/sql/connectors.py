"""Connectors as the compiler sees them, for the tests of SQL: no code behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ouzel.compiler.catalog import AskedTraits, ConnectorTraits, SinkTraits, SourceTraits, UpsertTraits
from ouzel.compiler.plan import Program
from ouzel.compiler.sql import compile_sql
from ouzel.compiler.types import BIGINT, INT, TIMESTAMP_LTZ, VARCHAR
from ouzel.errors import QueryError


def check_file(options: Mapping[str, str]) -> None:
    """What a connector's own check does: unknown and missing options."""
    for key in options:
        if key not in (
            "path",
            "format",
            "bad.record",
            "follow",
            "partition.by",
            "changelog",
            "changelog.mode",
            "changelog.deleted",
        ):
            raise QueryError(f"the connector file has no option '{key}'", instead="it has path, format, bad.record")
    if "path" not in options:
        raise QueryError("the connector file needs the option 'path'", instead="add 'path' = 'data/*.parquet'")


def read(options: Mapping[str, str]) -> SourceTraits:
    """Any table that is read."""
    endless = options.get("follow") == "true"
    return SourceTraits(
        shared=True,
        at_rest=True,
        bounded=not endless,
        changelog=False,
        by_token=False,
        kept=True,
        spark="",
    )


def replaced_by_key(options: Mapping[str, str]) -> UpsertTraits | None:
    """A table whose records replace each other, if it asks for that."""
    asked = options.get("changelog.mode") == "upsert"
    return UpsertTraits(("row",), "", options.get("changelog.deleted", ""), lambda keys: {}) if asked else None


def ask(options: Mapping[str, str]) -> SourceTraits:
    """Any table that is asked."""
    return replace(read(options), at_rest=False, asked=AskedTraits(options.get("key.fields", ""), 0, 0))


WRITTEN = SinkTraits(alone=False, returned=False, once=False, spark="")
CHANGED = SinkTraits(alone=False, returned=False, once=False, spark="", changes_by=("changelog", "true"))

CONNECTORS = {
    traits.name: traits
    for traits in (
        ConnectorTraits(
            "file", read, CHANGED, modes=("append", "retract"), filters=True, upserts=replaced_by_key,
            metadata={"file": VARCHAR, "row": BIGINT}, check=check_file,
        ),
        ConnectorTraits(
            "kafka", read, WRITTEN, modes=("append", "upsert"), metadata={"offset": BIGINT, "partition": INT, "timestamp": TIMESTAMP_LTZ}
        ),
        ConnectorTraits("print", None, WRITTEN, modes=("append", "retract")),
        ConnectorTraits("cache", None, WRITTEN, modes=("upsert",)),
        ConnectorTraits("datagen", read),
        ConnectorTraits("redis-table", ask),
    )
}  # fmt: skip

TABLES = """
CREATE TABLE flights (
  id BIGINT NOT NULL, ts TIMESTAMP(3), origin VARCHAR, carrier STRING, delay INT, distance DOUBLE, fare DECIMAL(10, 2), late BOOLEAN,
  tags ARRAY<STRING>, legs ARRAY<ROW<airport STRING, minutes INT>>, notes MAP<STRING, STRING>,
  plane ROW<tail STRING, engine ROW<kind STRING>>,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'file', 'path' = 'flights.parquet');
CREATE TABLE words (word STRING, n BIGINT) WITH ('connector' = 'file', 'path' = 'words.csv');
CREATE TABLE counts (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'cache');
CREATE TABLE lines (word STRING, n BIGINT) WITH ('connector' = 'print');
"""
"""Tables for tests that are about queries."""


def compiled(query: str) -> Program:
    """The program of a query over TABLES."""
    return compile_sql(TABLES + query, CONNECTORS)
