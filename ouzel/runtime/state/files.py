"""Snapshots as files: for each thing kept an Arrow IPC stream, which says in its schema what it is and ends with a checksum of itself."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import polars as pl
import pyarrow as pa

from ouzel.connectors.file.durable import name_synced, sync
from ouzel.errors import StateError
from ouzel.runtime.state.context import KeyGroups, Snapshot

FILE_VERSION = 1
"""Raised when a file of another make is written."""

_HEADER, _CHECKSUM = b"ouzel.state", b"ouzel.checksum"


@dataclass(frozen=True)
class Header:
    """What a file says of itself, as JSON under `ouzel.state` in its schema's metadata; `names` is all that the snapshot holds."""

    version: int
    name: str
    names: list[str]
    operator: str
    number: int
    whole: bool
    groups: list[int]
    seed: int
    hash_version: int


def save(snapshot: Snapshot, directory: Path) -> None:
    """Write a snapshot into a new directory, which is there when all of it is, and stays though power is lost then.

    Raises:
        OSError: it cannot be written.
    """
    partial = directory.with_name(f"{directory.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    for place, (name, part) in enumerate(snapshot.parts.items()):
        with (partial / f"{place:02}.arrow").open("wb") as file:
            file.write(encode(_header(snapshot, name), part))
        sync(partial / f"{place:02}.arrow")
    sync(partial)
    name_synced(partial, directory)


def load_snapshot(directory: Path) -> Snapshot:
    """The snapshot that was written into a directory.

    Raises:
        StateError: a file is not of this make, is torn, or is of another snapshot; or one lacks.
        OSError: it cannot be read.
    """
    read = [(path, *decode(path.read_bytes(), str(path))) for path in sorted(directory.glob("*.arrow"))]
    if not read:
        raise StateError(f"{directory} holds no snapshot")
    first = read[0][1]
    for path, header, _ in read:
        if {**asdict(header), "name": ""} != {**asdict(first), "name": ""}:
            raise StateError(f"{path} is of another snapshot than the files beside it")
    parts = {header.name: part for _, header, part in read}
    if missing := [name for name in first.names if name not in parts]:
        raise StateError(f"{directory} lacks the file of {missing[0]}")
    groups = KeyGroups(*first.groups)
    return Snapshot(first.operator, groups, first.seed, first.number, first.whole, parts, first.hash_version)


def encode(header: Header, part: pl.DataFrame) -> bytes:
    """One part of a snapshot as the bytes of a file; its last batch, an empty one, carries the checksum of all bytes before."""
    table = part.to_arrow(compat_level=pl.CompatLevel.oldest())
    table = table.replace_schema_metadata({_HEADER: json.dumps(asdict(header))})
    file = io.BytesIO()
    empty = pa.RecordBatch.from_pylist([], schema=table.schema)
    with pa.ipc.new_stream(file, table.schema) as writer:
        for batch in table.to_batches() or [empty]:
            writer.write_batch(batch)
        writer.write_batch(empty, custom_metadata={_CHECKSUM: _digest(file.getbuffer())})
    return file.getvalue()


def decode(data: bytes, source: str) -> tuple[Header, pl.DataFrame]:
    """What `encode` made; `source` names it in errors.

    Raises:
        StateError: it is not of this make, or torn.
    """
    try:
        return _decode(data, source)
    except (pa.ArrowException, ValueError, OSError, StopIteration, MemoryError) as error:
        raise StateError(f"{source} is no snapshot of Ouzel's state, or not all of it: {_first_line(error)}") from error


def _decode(data: bytes, source: str) -> tuple[Header, pl.DataFrame]:
    buffer = pa.BufferReader(data)
    reader = pa.ipc.open_stream(buffer)
    header = _read_header(reader.schema, source)
    batches: list[pa.RecordBatch] = []
    while True:
        place = buffer.tell()
        batch, metadata = reader.read_next_batch_with_custom_metadata()
        if metadata is not None and _CHECKSUM in metadata:
            break
        batches.append(batch)
    if metadata[_CHECKSUM] != _digest(memoryview(data)[:place]):
        raise StateError(f"{source} is damaged: its checksum is not that of its content")
    frame = pl.from_arrow(pa.Table.from_batches(batches, reader.schema))
    assert isinstance(frame, pl.DataFrame)
    return header, frame


def _read_header(schema: pa.Schema, source: str) -> Header:
    told = json.loads((schema.metadata or {}).get(_HEADER, b"{}"))
    if told.get("version") != FILE_VERSION or told.keys() != {field.name for field in fields(Header)}:
        found = f"is of version {told['version']}" if "version" in told else "does not say its version"
        raise StateError(f"{source} {found}, not a file of state of version {FILE_VERSION}")
    return Header(**told)


def _header(snapshot: Snapshot, name: str) -> Header:
    groups = [snapshot.groups.first, snapshot.groups.end]
    names, one = list(snapshot.parts), snapshot
    return Header(FILE_VERSION, name, names, one.operator, one.number, one.whole, groups, one.seed, one.hash_version)


def _digest(data: memoryview | bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode()


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or "it ends too early"
