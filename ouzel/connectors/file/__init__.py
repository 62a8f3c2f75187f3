"""file: Parquet, CSV, JSON lines and raw lines, read whole or followed as they grow, and written as a directory of parts."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping

import polars as pl

from ouzel.connectors.base import (
    BatchView,
    Connector,
    HistoryView,
    Option,
    Reads,
    Replay,
    SinkDelivery,
    Upserts,
    Writers,
    Writes,
    always,
    never,
)
from ouzel.connectors.formats import takes_rows_back
from ouzel.connectors.formats.csv import format as csv
from ouzel.connectors.read_back import ReadBack
from ouzel.connectors.side_table import SideTable
from ouzel.errors import QueryError

PACKED = re.compile(r"\.(gz|zst)\s*(,|$)")
"""Endings of a path that mean a compressed file."""


def _check(options: Mapping[str, str]) -> None:
    chosen = options.get("format")
    if chosen == "csv":
        csv.check_csv_options(options, headed=True)
    if options.get("json.array") == "true" and (chosen != "json" or options.get("follow") == "true"):
        raise QueryError("'json.array' is for JSON files that do not grow", instead="leave it out")
    if options.get("follow") == "true" and PACKED.search(options["path"]):
        raise QueryError(
            "a compressed file is written once and cannot be followed",
            instead="leave out 'follow', or the file out of 'path'",
        )
    if chosen == "parquet" and options.get("follow") == "true":
        raise QueryError(
            "a Parquet file is written once and cannot be followed",
            instead="use 'json' or 'csv', or leave out 'follow'",
        )

    if "partition.by" in options and glob.has_magic(options["path"].replace(",", "*")):
        raise QueryError(
            f"'path' cannot be '{options['path']}' of a table with 'partition.by', whose files are found by the names of their folders",
            instead="name the one folder that holds those folders",
        )


def _follows(options: Mapping[str, str]) -> bool:
    return options.get("follow") == "true"


def _remove_follow(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if name != "follow"}


def _refuse_folders(options: Mapping[str, str]) -> str:
    if "partition.by" not in options:
        return ""
    return (
        "folders named by values of columns (PARTITIONED BY) are read and not written; leave it out, or write a table of Delta Lake: "
        "'connector' = 'delta', or of Iceberg: 'connector' = 'iceberg'"
    )


def _is_parquet(options: Mapping[str, str]) -> bool:
    return options.get("format") == "parquet"


def _file_of(options: Mapping[str, str], partition: str) -> str:
    """A partition is a file, or a range of a Parquet file's rows."""
    return partition.rpartition("#")[0] if _is_parquet(options) else partition


def parts_of(run: str) -> str:
    """Prefix of the names of a run's parts."""
    return f"part-{run}-" if run else "part-"


CONNECTOR = Connector(
    "file",
    "Files on this machine or a shared file system. As a source it reads all files of `path` and ends, or follows them for ever. "
    "Offsets are line numbers (rows of the file for Parquet). Text whose name ends with .gz or .zst is unpacked while it is read, from its "
    "beginning after a crash too. As a sink it writes a directory of parts, each under a temporary name "
    "first and renamed when it is whole; a batch that comes again after a crash is not written again. Runs that write to the "
    "same directory add to it. [Folders that are named by values of columns](sql.md#partitioned-folders), `day=2026-01-01/hour=3/`, are "
    "read; they are not written.",
    (
        Option(
            "path",
            "What to read: files and globs, separated by commas, relative to the SQL file. What to write: a folder, which holds the rows "
            "in parts, `revenue.csv/part-….csv`, also where its name ends as a file's. A second run adds parts.",
            required=True,
        ),
        Option(
            "format",
            "What the files hold.",
            required=True,
            choices=("parquet", "csv", "json", "debezium-json", "maxwell-json", "canal-json", "raw"),
        ),
        Option(
            "json.array",
            "Whether each JSON file is one array, of an object for each row, instead of lines. Offsets then count its elements, and blanks "
            "before the first.",
            "false",
            kind="boolean",
        ),
        Option(
            "follow",
            "Whether to go on for ever with lines and files that appear later. Logs may be rotated by renaming, see "
            "[files that are rotated](operations.md#files-that-are-rotated).",
            "false",
            kind="boolean",
        ),
        Option(
            "partitions",
            "Into how many ranges of row groups each Parquet file is cut, so that several tasks can share it; by default as many as it "
            "takes to give every task something.",
            kind="integer",
        ),
        Option(
            "partition.by",
            "Source: the columns, separated by commas, by whose values the folders in `path` are named, from the top on, as `day, hour` of "
            "`day=2026-01-01/hour=3/`; `PARTITIONED BY (day, hour)` says the same. A table that declares no columns finds them.",
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
    Reads(
        "ouzel.connectors.file.source:FileSource",
        bounded=lambda options: not _follows(options),
        batch=BatchView(_remove_follow),
        replay=Replay.OFFSET,
        changelog=takes_rows_back,
        ordered=always,
        grows=_follows,
        resumes=never,
        seeks=_is_parquet,  # lines have to be counted
        shared=True,
        at_rest=True,
        filters=True,
        history=HistoryView(),
        upserts=Upserts(("file", "row")),
        metadata={"file": pl.String(), "row": pl.Int64()},
        spark="files",
        covers="ouzel.connectors.file.whole:are_whole_files",
        file_of=_file_of,
        side_table=SideTable(
            size="ouzel.connectors.file.whole:count_bytes", content="ouzel.connectors.file.whole:digest_files"
        ),
        infer="ouzel.connectors.file.inference:find_columns",
        refuses="ouzel.connectors.file.paths:refuse_input",
        suspects="ouzel.connectors.file.absent:note_absent",
    ),
    Writes(
        "ouzel.connectors.file.sink:FileSink",
        ("append", "retract"),
        Writers.MANY,
        SinkDelivery.IDEMPOTENT,
        read_back=ReadBack(lambda options, run: f"{options['path']}/{parts_of(run)}*", "op"),
        changes_by=("changelog", "true"),
        spark="files",
        publisher="ouzel.connectors.file.publisher:FilePublisher",
        refuses=_refuse_folders,
    ),
    check=_check,
    functions=("read_csv", "read_json", "read_parquet", "read_text"),
    opens="ouzel.connectors.file.named:open_named",
    subject="path",
)
