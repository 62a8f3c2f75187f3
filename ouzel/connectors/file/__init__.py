"""file: Parquet, CSV, JSON lines and raw lines, read whole or followed as they grow, and written as a directory of parts."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ouzel.connectors.base import Connector, Option
from ouzel.connectors.formats import csv
from ouzel.errors import QueryError


def _check(options: Mapping[str, str]) -> None:
    chosen = options.get("format")
    if chosen == "csv":
        csv.check(options, headed=True)
    if chosen == "parquet" and options.get("follow") == "true":
        raise QueryError(
            "a Parquet file is written once and cannot be followed",
            instead="use 'json' or 'csv', or leave out 'follow'",
        )


CONNECTOR = Connector(
    "file",
    "Files on this machine or a shared file system. As a source it reads all files of `path` and ends, or follows them for ever. "
    "Offsets are line numbers (rows of the file for Parquet). As a sink it writes a directory of parts, each under a temporary name "
    "first and renamed when it is whole; a batch that comes again after a crash is not written again. Runs that write to the "
    "same directory add to it.",
    (
        Option(
            "path",
            "What to read: files and globs, separated by commas, relative to the SQL file. What to write: a directory.",
            required=True,
        ),
        Option("format", "What the files hold.", required=True, choices=("parquet", "csv", "json", "raw")),
        Option("follow", "Whether to go on for ever with lines and files that appear later.", "false", kind="boolean"),
        Option(
            "partitions",
            "Into how many ranges of row groups each Parquet file is cut, so that several tasks can share it; by default as many as it "
            "takes to give every task something.",
            kind="integer",
        ),
        Option(
            "changelog",
            "Whether the sink takes a table that changes, and writes what became of each row into a column `op`: +1 or -1.",
            "false",
            kind="boolean",
        ),
        Option("flush.interval.ms", "How long the sink gathers rows into one part.", "200", kind="integer"),
        Option("flush.rows", "After how many rows it makes a part sooner.", "20000", kind="integer"),
    ),
    {"file": pl.String(), "row": pl.Int64()},
    source="ouzel.connectors.file.source:FileSource",
    sink="ouzel.connectors.file.sink:FileSink",
    modes=("append", "retract"),
    filters=True,
    bounded=lambda options: options.get("follow") != "true",
    check=_check,
)
