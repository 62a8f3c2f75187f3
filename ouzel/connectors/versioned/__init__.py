"""What tables of versions have alike, as those of Delta Lake and of Iceberg: they are read at a version, followed from there on, and take
commits."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ouzel.connectors.base import BatchView, HistoryView, Option, Reads, Replay, always, never
from ouzel.errors import QueryError

FOLLOWING: tuple[Option, ...] = (
    Option("follow", "Source: whether to go on for ever with the rows of later commits.", "false", kind="boolean"),
    Option(
        "end",
        "Source, with `follow`: where reading ends: never, or at the commit that is the newest when the reading begins.",
        "none",
        choices=("none", "latest"),
    ),
)
COMMITTING: tuple[Option, ...] = (
    Option("flush.interval.ms", "Sink: how long it gathers rows into one commit.", "2000", kind="integer"),
    Option("flush.rows", "Sink: after how many rows it commits sooner.", "200000", kind="integer"),
)


def is_followed(options: Mapping[str, str]) -> bool:
    """Whether commits behind the version that the reading begins with are read too."""
    return options.get("follow") == "true"


def check_reading(options: Mapping[str, str], version: str) -> None:
    """See that the options say in one way what is read; `version` is the option that names a version.

    Raises:
        QueryError: they do not.
    """
    if version in options and "timestamp" in options:
        raise QueryError(f"'{version}' and 'timestamp' both say which version is read", instead="leave one of them out")
    if options.get("end") == "latest" and not is_followed(options):
        raise QueryError("'end' is for a table that is followed", instead="add 'follow' = 'true', or leave it out")


def _ends(options: Mapping[str, str]) -> bool:
    return not is_followed(options) or options.get("end") == "latest"


def _grows(options: Mapping[str, str]) -> bool:
    return not _ends(options)


def _until_now(options: Mapping[str, str]) -> dict[str, str]:
    return {**options, "end": "latest"} if is_followed(options) else dict(options)


def reads_versions(source: str, infer: str, refuses: str) -> Reads:
    """How a table of versions is read; the arguments are import paths, as in Reads."""
    return Reads(
        source,
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
        infer=infer,
        refuses=refuses,
    )
