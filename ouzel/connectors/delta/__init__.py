"""delta: tables of Delta Lake, read at a version, followed commit by commit, and appended to."""

from __future__ import annotations

from collections.abc import Mapping

from ouzel.connectors.base import Connector, Option, SinkDelivery, Writers, Writes
from ouzel.connectors.versioned import COMMITTING, FOLLOWING, check_reading, reads_versions
from ouzel.errors import QueryError


def _check(options: Mapping[str, str]) -> None:
    if "://" in options.get("path", ""):
        raise QueryError(
            f"'path' cannot be '{options['path']}': tables of Delta Lake are read and written in folders of this machine or of a shared "
            "file system",
            instead="mount the bucket, and name the folder",
        )
    check_reading(options, "version")


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
        *FOLLOWING,
        Option(
            "partition.by",
            "Sink: columns, separated by commas, by whose values a table that is made is cut into folders.",
        ),
        *COMMITTING,
    ),
    reads_versions(
        "ouzel.connectors.delta.source:DeltaSource",
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
