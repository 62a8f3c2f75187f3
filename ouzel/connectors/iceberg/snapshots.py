"""What a table's metadata says: which files a snapshot has, and which a later one adds. The format is that of Iceberg's table spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyiceberg.manifest import DataFile as Entry
from pyiceberg.manifest import FileFormat, ManifestContent, ManifestEntryStatus
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import BooleanType, DateType, IntegerType, LongType, NestedField, StringType

from ouzel.connectors.iceberg.places import find_place, first_line, local_path, telling_of
from ouzel.connectors.reading import FoundColumns
from ouzel.connectors.versioned.source import DataFile, TableVersion
from ouzel.errors import ConnectorError

NONE_YET = 0
"""Stands for the snapshot of a table that has none; Iceberg's own ids are drawn at random, and greater."""

_AS_TEXT = (BooleanType, DateType, IntegerType, LongType, StringType)
"""Types of which Iceberg's text of a partition's value is SQL's, too."""


class Chosen(NamedTuple):
    """What is read: a snapshot, and the schema by which its columns are named."""

    snapshot: int
    schema: Schema


def choose_snapshot(options: Mapping[str, str], table: Table, where: str) -> Chosen:
    """The snapshot that the options name.

    Raises:
        ConnectorError: they name none, or the time is one whose snapshot may still change.
    """
    if "snapshot.id" in options:
        number = int(options["snapshot.id"])
        if number != NONE_YET and table.snapshot_by_id(number) is None:
            raise ConnectorError(
                f"{where} has no snapshot {number}: it never had, or it has expired; its newest is {newest_snapshot(table)}"
            )
    elif "timestamp" in options:
        number = _at_time(options["timestamp"], table, where)
    else:
        raise ConnectorError(
            f"{where} may get a new snapshot between two tasks that open it; write 'snapshot.id' = '{newest_snapshot(table)}', or declare "
            "no columns, or * for them: then both are found when the query is planned"
        )
    return Chosen(number, _schema(options.get("schema.id"), table, number, where))


def _at_time(text: str, table: Table, where: str) -> int:
    moment = datetime.fromisoformat(text)
    wanted_ms = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
    log = table.history()
    if not log or wanted_ms > log[-1].timestamp_ms:
        last = f" ({datetime.fromtimestamp(log[-1].timestamp_ms / 1000, UTC):%Y-%m-%d %H:%M:%S.%f})" if log else ""
        raise ConnectorError(
            f"'timestamp' = '{text}' lies behind the last commit of {where}{last}, and another may come before it; write 'snapshot.id' = "
            f"'{newest_snapshot(table)}'"
        )
    found = table.snapshot_as_of_timestamp(int(wanted_ms))
    if found is None:
        raise ConnectorError(f"{where} has no snapshot of 'timestamp' = '{text}': it had none, or it has expired")
    return int(found.snapshot_id)


def newest_snapshot(table: Table) -> int:
    """The snapshot that `main` is at."""
    current = table.current_snapshot()
    return int(current.snapshot_id) if current else NONE_YET


def _schema(asked: str | None, table: Table, number: int, where: str) -> Schema:
    snapshot = table.snapshot_by_id(number) if number else None
    wanted = int(asked) if asked else snapshot.schema_id if snapshot else None
    schema = table.schema() if wanted is None else table.schemas().get(wanted)
    if schema is None:
        raise ConnectorError(f"{where} has no schema {wanted}; it has {', '.join(map(str, sorted(table.schemas())))}")
    return schema


def schema_columns(schema: Schema, where: str) -> pa.Schema:
    """The columns of a schema, in Arrow's types.

    Raises:
        ConnectorError: Arrow has no such type.
    """
    try:
        return schema.as_arrow()
    except (TypeError, ValueError) as error:
        raise ConnectorError(f"{where} has columns that Ouzel cannot read: {first_line(error)}") from None


def list_snapshot_files(table: Table, number: int, where: str) -> list[DataFile]:
    """The files of a snapshot, by name.

    Raises:
        ConnectorError: of one of them not all rows count, or it is no Parquet.
    """
    if number == NONE_YET:
        return []
    with telling_of(where):
        tasks = list(table.scan(snapshot_id=number).plan_files())
    if any(task.delete_files for task in tasks):
        _refuse_deletes(number, where)
    return sorted((_data_file(task.file, table, where) for task in tasks), key=lambda file: file.name)


def _refuse_deletes(number: int, where: str) -> None:
    raise ConnectorError(
        f"snapshot {number} of {where} has delete files, which Ouzel does not read: some rows of its data files are deleted; rewrite them "
        "first, in Spark CALL system.rewrite_data_files(table => '...', options => map('delete-file-threshold', '1'))"
    )


def _data_file(entry: Entry, table: Table, where: str) -> DataFile:
    if entry.file_format != FileFormat.PARQUET:
        raise ConnectorError(f"{where} has files of {entry.file_format.name}, and Ouzel reads those of Parquet alone")
    path, folder = local_path(entry.file_path), local_path(table.location())
    name = str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
    return DataFile(name, entry.record_count, _fixed(entry, table))


def _fixed(entry: Entry, table: Table) -> dict[str, str | None]:
    """Values that all rows of a file have, by the field's id: names may change."""
    spec, known = table.specs()[entry.spec_id], _fields(table)
    values = {field.source_id: (field, entry.partition[place]) for place, field in enumerate(spec.fields)}
    return {
        str(source): None if value is None else field.transform.to_human_string(known[source].field_type, value)
        for source, (field, value) in values.items()
        if isinstance(field.transform, IdentityTransform)
        and source in known
        and isinstance(known[source].field_type, _AS_TEXT)
    }


def unread_partitions(table: Table) -> frozenset[int]:
    """Ids of fields that a table is or was partitioned by, and whose values are not read from its metadata."""
    known = _fields(table)
    fields = [field for spec in table.specs().values() for field in spec.fields]
    return frozenset(
        field.source_id
        for field in fields
        if isinstance(field.transform, IdentityTransform)
        and field.source_id in known
        and not isinstance(known[field.source_id].field_type, _AS_TEXT)
    )


def _fields(table: Table) -> dict[int, NestedField]:
    return {field.field_id: field for schema in table.metadata.schemas for field in schema.fields}


def later_snapshots(table: Table, number: int, where: str) -> Iterator[TableVersion]:
    """What came to `main` behind a snapshot, in its order.

    Raises:
        ConnectorError: one takes rows away, or the way back to that snapshot is not known any more.
    """
    for snapshot in reversed(_ancestors(table, number, where)):
        yield TableVersion(snapshot.snapshot_id, _added_files(snapshot, table, where))


def _ancestors(table: Table, number: int, where: str) -> list[Snapshot]:
    """The snapshots behind one, the newest first."""
    found: list[Snapshot] = []
    at = newest_snapshot(table)
    while at != number:
        snapshot = table.snapshot_by_id(at)
        if snapshot is None:
            raise ConnectorError(
                f"snapshots of {where} have expired that were not read yet, or 'main' was rolled back behind {number}; start again with a "
                "'snapshot.id' that is there"
            )
        found.append(snapshot)
        at = snapshot.parent_snapshot_id or NONE_YET
    return found


def _added_files(snapshot: Snapshot, table: Table, where: str) -> Sequence[DataFile]:
    """The files whose rows a snapshot adds."""
    if snapshot.summary is not None and snapshot.summary.operation == Operation.REPLACE:
        return []
    with telling_of(where):
        changes = list(_changes(snapshot, table))
    if not all(changed == (ManifestContent.DATA, ManifestEntryStatus.ADDED) for changed, _ in changes):
        number = snapshot.snapshot_id
        raise ConnectorError(
            f"snapshot {number} of {where} deletes or rewrites rows, and a table that is followed takes only new ones; start again with "
            f"'snapshot.id' = '{number}', or read it without 'follow'"
        )
    return [_data_file(entry, table, where) for _, entry in changes]


def _changes(snapshot: Snapshot, table: Table) -> Iterator[tuple[tuple[ManifestContent, ManifestEntryStatus], Entry]]:
    """The files that a snapshot adds and removes; manifests list those of older ones, too."""
    for manifest in snapshot.manifests(table.io):
        if manifest.added_snapshot_id == snapshot.snapshot_id:
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                if entry.snapshot_id == snapshot.snapshot_id and entry.status != ManifestEntryStatus.EXISTING:
                    yield (manifest.content, entry.status), entry.data_file


def infer_snapshot(options: Mapping[str, str], directory: Path) -> FoundColumns | None:
    """The columns of the snapshot that is to be read: the newest, fixed then, if the options name none. None of a table to be made.

    The schema is fixed with it, so that whoever adds the snapshot's id to a query asks the same as one that found both.

    Raises:
        ConnectorError: there is no such table or snapshot.
    """
    if "path" not in options and "catalog.uri" not in options:
        return None
    place = find_place(options, directory)
    table = place.load()
    if "timestamp" in options:
        schema, found = choose_snapshot(options, table, place.where).schema, dict[str, str]()
    elif "snapshot.id" in options:
        schema = choose_snapshot(options, table, place.where).schema
        found = {"schema.id": str(schema.schema_id)}
    else:
        schema = table.schema()
        found = {"snapshot.id": str(newest_snapshot(table)), "schema.id": str(schema.schema_id)}
    return FoundColumns({field.name: field.type for field in schema_columns(schema, place.where)}, found)


def refuse_snapshot(options: Mapping[str, str], directory: Path) -> str:
    """Why a table cannot be read; empty if it can."""
    try:
        place = find_place(options, directory)
        choose_snapshot(options, place.load(), place.where)
    except ConnectorError as error:
        return str(error)
    return ""
