"""What one task kept in one epoch, as one file.

a line     what it is, and its version; then a line of JSON, the header: all but the frames. Spaces fill both up to a multiple of 64 bytes
streams    an Arrow IPC stream for each part of each operator's snapshot, in the header's order
16 bytes   the digest (xxh3, 128 bits) of all before
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from typing import BinaryIO

import pyarrow as pa
import xxhash

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.manifest import TaskFile
from ouzel.runtime.checkpoints.objects import FreshObject, ObjectStore
from ouzel.runtime.checkpoints.sealed import unreadable_file
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.state.context import KeyGroups, Snapshot
from ouzel.runtime.state.state_parts import read_state_part, write_state_part
from ouzel.runtime.state.task_snapshot import TaskSnapshot

TASK_FILE_VERSION = 1
"""Raised when a file of another make is written."""

_BEGIN = b"ouzel task snapshot"
_ALIGNMENT = 64
_DIGEST_BYTES = 16
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class OperatorHeader:
    """A snapshot of an operator but for its frames: `parts` are their names."""

    operator: str
    number: int
    whole: bool
    groups: tuple[int, int]
    seed: int
    hash_version: int
    parts: list[str]


@dataclass(frozen=True)
class TaskHeader:
    """A task's snapshot but for its frames, and the topology and epoch that it is of."""

    topology: str
    epoch: int
    component: str
    index: int
    operators: list[OperatorHeader]
    places: dict[str, list[int]]
    time_us: int
    counts: dict[str, int]

    @property
    def task(self) -> str:
        """The task, as users write it."""
        return f"{self.component}[{self.index}]"

    def is_continuation_of(self, before: TaskHeader) -> bool:
        """Whether this holds, for each operator, all or what has changed since that was written."""
        if self.epoch <= before.epoch or len(self.operators) != len(before.operators):
            return False
        pairs = zip(before.operators, self.operators, strict=True)
        return all(a.operator == b.operator and (b.whole or b.number == a.number + 1) for a, b in pairs)

    def __str__(self) -> str:
        return f"{self.task} of topology '{self.topology}' in epoch {self.epoch}"


def write_task_file(file: FreshObject, topology: str, epoch: int, snapshot: TaskSnapshot) -> str:
    """Write a task's snapshot; the digest of the content.

    Raises:
        OSError: it cannot be written.
    """
    file.write(_opening(_header(topology, epoch, snapshot)))
    sink = pa.PythonFile(file, mode="w")
    for state in snapshot.states:
        for part in state.parts.values():
            write_state_part(sink, part)
    digest = file.digest
    file.write(digest)
    return digest.hex()


def read_task_file(store: ObjectStore, told: TaskFile) -> tuple[TaskHeader, TaskSnapshot]:
    """What a task kept.

    Raises:
        StateError: the file is missing, torn, damaged, of another version, or not the one that is told of.
    """
    where = store.where(told.name)
    try:
        data = store.get(told.name)
    except OSError as error:
        raise unreadable_file(where, error) from None
    _check_size(where, told, len(data))
    content = io.BytesIO(data)  # shares the bytes
    header = _check(where, told, content)
    try:
        return header, _snapshot(header, memoryview(data)[content.tell() : -_DIGEST_BYTES])
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise StateError(f"{where} holds frames that cannot be read: {error}") from error


def check_task_file(store: ObjectStore, told: TaskFile) -> TaskHeader:
    """What a task's file says of itself, once all its bytes are known to be those that were written; they are not kept.

    Raises:
        StateError: as for `read_task_file`.
    """
    where = store.where(told.name)
    try:
        with store.open(told.name) as file:
            _check_size(where, told, file.seek(0, io.SEEK_END))
            file.seek(0)
            return _check(where, told, file)
    except OSError as error:
        raise unreadable_file(where, error) from None


def _check_size(where: str, told: TaskFile, size: int) -> None:
    if size != told.size:
        torn = "is torn" if size < told.size else "is damaged"
        raise StateError(f"{where} {torn}: it has {size:,} bytes, not {told.size:,}")


def _check(where: str, told: TaskFile, file: BinaryIO) -> TaskHeader:
    """Read all of the file; behind the header then."""
    found = xxhash.xxh3_128()
    for place in range(0, told.size - _DIGEST_BYTES, _PIECE_BYTES):
        found.update(file.read(min(_PIECE_BYTES, told.size - _DIGEST_BYTES - place)))
    own = file.read(_DIGEST_BYTES)
    if found.digest() != own:
        raise StateError(f"{where} is damaged: its checksum is not that of its content")
    file.seek(0)
    header = _read_header(where, file)
    if own.hex() != told.digest:
        raise StateError(f"{where} is another file than the one that was written: it holds {header}")
    return header


def _read_header(where: str, file: BinaryIO) -> TaskHeader:
    begin, version = file.readline().rstrip().rpartition(b" ")[::2]
    if begin != _BEGIN:
        raise StateError(f"{where} is no file of a task's snapshot")
    if version != b"%d" % TASK_FILE_VERSION:
        told = f"version {version.decode(errors='replace')}; this version of Ouzel reads version {TASK_FILE_VERSION}"
        raise StateError(f"{where} is of {told}")
    try:
        fields = json.loads(file.readline())
        operators = [OperatorHeader(**operator) for operator in fields.pop("operators")]
        return TaskHeader(**fields, operators=operators)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise StateError(f"{where} has a header that cannot be read") from None


def _header(topology: str, epoch: int, snapshot: TaskSnapshot) -> TaskHeader:
    one = snapshot
    operators = [_operator_header(state) for state in one.states]
    places = {partition: list(place) for partition, place in one.places.items()}
    return TaskHeader(topology, epoch, one.component, one.index, operators, places, one.time_us, dict(one.counts))


def _operator_header(one: Snapshot) -> OperatorHeader:
    groups = (one.groups.first, one.groups.end)
    return OperatorHeader(one.operator, one.number, one.whole, groups, one.seed, one.hash_version, list(one.parts))


def _opening(header: TaskHeader) -> bytes:
    text = b"%s %d\n%s" % (_BEGIN, TASK_FILE_VERSION, json.dumps(asdict(header)).encode())
    return text + b" " * (-(len(text) + 1) % _ALIGNMENT) + b"\n"


def _snapshot(header: TaskHeader, streams: memoryview) -> TaskSnapshot:
    source = pa.BufferReader(pa.py_buffer(streams))
    states = tuple(
        Snapshot(
            one.operator,
            KeyGroups(*one.groups),
            one.seed,
            one.number,
            one.whole,
            {name: read_state_part(source) for name in one.parts},
            one.hash_version,
        )
        for one in header.operators
    )
    places = {partition: Place(*place) for partition, place in header.places.items()}
    return TaskSnapshot(header.component, header.index, states, places, header.time_us, header.counts)
