"""delta: tables of Delta Lake, read at a version, followed commit by commit, and appended to."""

from __future__ import annotations

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
    Writers,
    Writes,
    always,
    never,
)
from ouzel.errors import QueryError


def _check(options: Mapping[str, str]) -> None:
    if "://" in options.get("path", ""):
        raise QueryError(
            f"'path' cannot be '{options['path']}': tables of Delta Lake are read and written in folders of this machine or of a shared "
            "file system",
            instead="mount the bucket, and name the folder",
        )
    if "version" in options and "timestamp" in options:
        raise QueryError("'version' and 'timestamp' both say which version is read", instead="leave one of them out")
    if options.get("end") == "latest" and options.get("follow") != "true":
        raise QueryError("'end' is for a table that is followed", instead="add 'follow' = 'true', or leave it out")


def is_followed(options: Mapping[str, str]) -> bool:
    """Whether commits behind the version that the reading begins with are read too."""
    return options.get("follow") == "true"


def _ends(options: Mapping[str, str]) -> bool:
    return not is_followed(options) or options.get("end") == "latest"


def _grows(options: Mapping[str, str]) -> bool:
    return not _ends(options)


def _until_now(options: Mapping[str, str]) -> dict[str, str]:
    return {**options, "end": "latest"} if is_followed(options) else dict(options)


CONNECTOR = Connector(
    "delta",
    "A table of Delta Lake, in a folder. As a source it is read at one version, or at the one of a time; a table that declares no columns, "
    "or `*` for them, finds both its columns and its newest version when the query is planned. With `follow` the rows of each later commit "
    "follow. A partition is a data file, `<version>:<file>`, and its offsets are rows: so a replay reads the same rows. A commit that "
    "deletes or rewrites rows ends the following with the reason; one that only moves rows, as OPTIMIZE does, is passed over. As a sink it "
    "takes new rows: each flush is a commit of its own; [effectively once](delivery.md#effectively-once) each epoch is one, which holds "
    "the epoch's number as a transaction id of Delta's, and a writer that another has taken over from cannot commit. Spark reads and "
    "writes it by Ouzel's connector, and needs no jars.",
    (
        Option(
            "path", "The table's folder, relative to the SQL file. A sink makes it if it is not there.", required=True
        ),
        Option("version", "Source: the version to read, and to follow from.", kind="integer"),
        Option(
            "timestamp",
            "Source: read the version that was the newest at that time, which lies behind the last commit's no longer.",
            kind="timestamp",
        ),
        Option("follow", "Source: whether to go on for ever with the rows of later commits.", "false", kind="boolean"),
        Option(
            "end",
            "Source, with `follow`: where reading ends: never, or at the commit that is the newest when the reading begins.",
            "none",
            choices=("none", "latest"),
        ),
        Option(
            "partition.by",
            "Sink: columns, separated by commas, by whose values a table that is made is cut into folders.",
        ),
        Option("flush.interval.ms", "Sink: how long it gathers rows into one commit.", "2000", kind="integer"),
        Option("flush.rows", "Sink: after how many rows it commits sooner.", "200000", kind="integer"),
    ),
    Reads(
        "ouzel.connectors.delta.source:DeltaSource",
        bounded=_ends,
        batch=BatchView(_until_now),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=always,
        grows=_grows,
        resumes=never,
        seeks=always,
        shared=True,
        at_rest=True,
        filters=True,
        history=HistoryView(),
        metadata={"file": pl.String(), "row": pl.Int64()},
        infer="ouzel.connectors.delta.log:find_version",
        refuses="ouzel.connectors.delta.log:refuse_table",
    ),
    Writes(
        "ouzel.connectors.delta.sink:DeltaSink",
        ("append",),
        Writers.MANY,
        SinkDelivery.AT_LEAST_ONCE,
        publisher="ouzel.connectors.delta.publisher:DeltaPublisher",
    ),
    extra="delta",
    check=_check,
    subject="path",
)
