"""What a table's log says: which files a version has, and which a later commit adds. The protocol is Delta Lake's PROTOCOL.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from ouzel.connectors.reading import FoundColumns
from ouzel.connectors.versioned.source import DataFile
from ouzel.errors import ConnectorError

READABLE = frozenset({"timestampNtz", "vacuumProtocolCheck", "v2Checkpoint", "deletionVectors", "columnMapping"})
"""Features of a table that may be asked of a reader; what those of deletion vectors and column mapping do is looked at."""

_BY_NAME = "delta.columnMapping.mode"


def open_snapshot(folder: Path, version: int | None = None) -> DeltaTable:
    """The table at a version, the newest by default.

    Raises:
        ConnectorError: there is none, it has no such version, or it asks of its readers what we cannot do.
    """
    if not folder.is_dir():
        raise ConnectorError(f"there is no folder {folder}, in which a table of Delta Lake would lie")
    try:
        table = DeltaTable(folder)
    except TableNotFoundError:
        raise ConnectorError(
            f"{folder} holds no table of Delta Lake: it has no folder _delta_log with commits; for Parquet alone use 'connector' = 'file'"
        ) from None
    except DeltaError as error:
        raise _unreadable(folder, error) from None
    newest = table.version()
    if version is not None and version != newest:
        table = _at_version(folder, version, newest)
    refuse_features(table.protocol().reader_features or [], table.metadata().configuration, folder)
    return table


def _at_version(folder: Path, version: int, newest: int) -> DeltaTable:
    if version > newest:
        raise ConnectorError(f"{folder} has no version {version}; its newest is {newest}")
    try:
        return DeltaTable(folder, version=version)
    except DeltaError:
        raise ConnectorError(
            f"{folder} has no version {version} any more: its log was cleaned, and what is left begins later; its newest is {newest}"
        ) from None


def _unreadable(folder: Path, error: Exception) -> ConnectorError:
    return ConnectorError(f"the log of {folder} cannot be read: {(str(error).splitlines() or [''])[0]}")


def refuse_features(asked: Sequence[str], configuration: Mapping[str, Any], folder: Path) -> None:
    """See that the table's files hold what they seem to.

    Raises:
        ConnectorError: it has a feature that changes what they mean.
    """
    unknown = sorted(set(map(str, asked)) - READABLE)
    if unknown:
        raise ConnectorError(
            f"{folder} asks its readers for {', '.join(unknown)}, which Ouzel cannot do; write a copy without it"
        )
    if configuration.get(_BY_NAME, "none") != "none":
        raise ConnectorError(
            f"{folder} maps its columns to other names in its files ('{_BY_NAME}' = '{configuration[_BY_NAME]}'), which Ouzel does not "
            "read; write a copy without it"
        )


def choose_version(options: Mapping[str, str], folder: Path) -> int:
    """The version that the options name.

    Raises:
        ConnectorError: they name none, or the time is one whose version may still change.
    """
    if "version" in options:
        return int(options["version"])
    table = open_snapshot(folder)
    if "timestamp" not in options:
        raise ConnectorError(
            f"{folder} may get a new version between two tasks that open it; write 'version' = '{table.version()}', or declare no columns, "
            "or * for them: then both are found when the query is planned"
        )
    newest = _committed_at(folder, table.version())
    wanted = _moment(options["timestamp"])
    if wanted > newest:
        raise ConnectorError(
            f"'timestamp' = '{options['timestamp']}' lies behind the last commit of {folder} ({newest:%Y-%m-%d %H:%M:%S.%f}), and another "
            f"may come before it; write 'version' = '{table.version()}'"
        )
    try:
        table.load_as_version(wanted.replace(tzinfo=UTC))
    except DeltaError as error:
        raise _unreadable(folder, error) from None
    return table.version()


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _committed_at(folder: Path, version: int) -> datetime:
    written = commit_path(folder, version).stat().st_mtime
    return datetime.fromtimestamp(written, UTC).replace(tzinfo=None)


def snapshot_files(table: DeltaTable, folder: Path) -> list[DataFile]:
    """The files of a version, by name.

    Raises:
        ConnectorError: of one of them not all rows count.
    """
    try:
        vectors, actions = pa.table(table.deletion_vectors()).num_rows, pa.table(table.get_add_actions()).to_pylist()
    except DeltaError as error:
        raise _unreadable(folder, error) from None
    refuse_vectors(vectors, folder, table.version())
    return sorted(
        (DataFile(unquote(one["path"]), one["num_records"], _texts(one.get("partition") or {})) for one in actions),
        key=lambda file: file.name,
    )


def refuse_vectors(count: int, folder: Path, version: int) -> None:
    """See that all rows of a version's files count.

    Raises:
        ConnectorError: deletion vectors say that some do not.
    """
    if count:
        raise ConnectorError(
            f"version {version} of {folder} has deletion vectors, which Ouzel does not read: some rows of its files are deleted; "
            "rewrite it first: REORG TABLE ... APPLY (PURGE)"
        )


def _texts(values: Mapping[str, Any]) -> dict[str, str | None]:
    """Delta's log has an empty text for NULL, too."""
    return {name: None if value in (None, "") else str(value) for name, value in values.items()}


def commit_path(folder: Path, version: int) -> Path:
    """Where a commit is written."""
    return folder / "_delta_log" / f"{version:020}.json"


def added_files(folder: Path, version: int) -> list[DataFile] | None:
    """The files whose rows a commit adds, in its order; None if there is no such commit yet.

    Raises:
        ConnectorError: it takes rows away, or changes what files mean.
    """
    try:
        lines = commit_path(folder, version).read_bytes().splitlines()
    except FileNotFoundError:
        _see_that_it_comes(folder, version)
        return None
    except OSError as error:
        raise ConnectorError(f"{commit_path(folder, version)} cannot be read: {error.strerror}") from None
    actions = [json.loads(line) for line in lines if line.strip()]
    for kind, action in _each(actions):
        _check_action(kind, action, folder, version)
    return [
        DataFile(unquote(add["path"]), _rows(add), _texts(add.get("partitionValues") or {}))
        for kind, add in _each(actions)
        if kind == "add" and add["dataChange"]
    ]


def _each(actions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    return ((kind, action) for one in actions for kind, action in one.items())


def _see_that_it_comes(folder: Path, version: int) -> None:
    """A commit that is not there is still to come, unless later ones are there."""
    if any(
        path.stem.isdigit() and int(path.stem) > version for path in commit_path(folder, version).parent.glob("*.json")
    ):
        raise ConnectorError(
            f"the log of {folder} was cleaned of version {version}, which was not read yet; start again with a 'version' that is there"
        )


def _check_action(kind: str, action: Mapping[str, Any], folder: Path, version: int) -> None:
    if kind == "remove" and action.get("dataChange", True):
        raise ConnectorError(
            f"version {version} of {folder} deletes or rewrites rows, and a table that is followed takes only new ones; start again with "
            f"'version' = '{version}', or read it without 'follow'"
        )
    if kind == "add" and action["dataChange"]:
        refuse_vectors(action.get("deletionVector") is not None, folder, version)
    if kind == "protocol":
        refuse_features(action.get("readerFeatures") or [], {}, folder)
    if kind == "metaData":
        refuse_features([], action.get("configuration") or {}, folder)


def _rows(add: Mapping[str, Any]) -> int | None:
    stats = add.get("stats")
    rows: int | None = json.loads(stats).get("numRecords") if stats else None
    return rows


def table_types(table: DeltaTable) -> dict[str, pl.DataType]:
    """The columns of a version, in Polars' types."""
    return dict(pl.Schema(arrow_columns(table)))


def arrow_columns(table: DeltaTable) -> pa.Schema:
    """The columns of a version, in Arrow's types."""
    return pa.schema(table.schema().to_arrow())


def find_version(options: Mapping[str, str], directory: Path) -> FoundColumns | None:
    """The columns of the version that is to be read; it is the newest if the options name none, and fixed then. None of a table to be made.

    Raises:
        ConnectorError: there is no such table or version.
    """
    if "path" not in options:
        return None
    folder = directory / options["path"]
    named = "version" in options or "timestamp" in options
    table = open_snapshot(folder, choose_version(options, folder) if named else None)
    return FoundColumns(
        {field.name: field.type for field in arrow_columns(table)}, {} if named else {"version": str(table.version())}
    )


def refuse_table(options: Mapping[str, str], directory: Path) -> str:
    """Why a table cannot be read; empty if it can."""
    folder = directory / options["path"]
    try:
        open_snapshot(folder, choose_version(options, folder))
    except ConnectorError as error:
        return str(error)
    return ""
