"""Small files of JSON that carry their checksum: one line of JSON, one line with the checksum of its bytes."""

from __future__ import annotations

import errno
import json
from typing import Any

import xxhash

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.objects import ObjectStore, StoreAway


class MissingFile(StateError):
    """There is no file of that name."""


def seal(version: int, fields: dict[str, Any]) -> bytes:
    """The bytes of such a file."""
    text = json.dumps({"version": version, **fields}).encode()
    return text + b"\n" + _checksum(text) + b"\n"


def unseal(store: ObjectStore, name: str, version: int) -> dict[str, Any]:
    """What `seal` was given.

    Raises:
        MissingFile: there is no such file.
        StateError: it is torn or damaged, or is of another version.
        StoreAway: the store does not answer.
    """
    where = store.where(name)
    try:
        data = store.get(name)
    except OSError as error:
        raise unreadable_file(where, error) from None
    text, _, checksum = data.partition(b"\n")
    if checksum != _checksum(text) + b"\n":
        raise StateError(f"{where} is torn or damaged: its checksum is not that of its content")
    try:
        fields: dict[str, Any] = json.loads(text)
        found = fields.pop("version")
    except (ValueError, AttributeError, KeyError, TypeError):
        raise StateError(f"{where} is no file of Ouzel's checkpoints") from None
    if found != version:
        raise StateError(f"{where} is of version {found}; this version of Ouzel reads version {version}")
    return fields


def unreadable_file(where: str, error: OSError) -> StateError | StoreAway:
    """What to raise of a file of a checkpoint that cannot be read: of a store that does not answer nobody knows whether it is harmed."""
    if isinstance(error, StoreAway):
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):  # of the temporary file that an object is read into
        return StoreAway(error.errno, error.strerror, where)
    if isinstance(error, FileNotFoundError):
        return MissingFile(f"{where} is missing")
    return StateError(f"{where} cannot be read: {error.strerror}")


def _checksum(text: bytes) -> bytes:
    return xxhash.xxh3_128_hexdigest(text).encode()
