"""Small files of JSON that carry their checksum: one line of JSON, one line with the checksum of its bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import xxhash

from ouzel.errors import StateError


def seal(version: int, fields: dict[str, Any]) -> bytes:
    """The bytes of such a file."""
    text = json.dumps({"version": version, **fields}).encode()
    return text + b"\n" + _checksum(text) + b"\n"


def unseal(path: Path, version: int) -> dict[str, Any]:
    """What `seal` was given.

    Raises:
        StateError: the file is missing, torn or damaged, or is of another version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StateError(unreadable_file(path, error)) from None
    text, _, checksum = data.partition(b"\n")
    if checksum != _checksum(text) + b"\n":
        raise StateError(f"{path} is torn or damaged: its checksum is not that of its content")
    try:
        fields: dict[str, Any] = json.loads(text)
        found = fields.pop("version")
    except (ValueError, AttributeError, KeyError, TypeError):
        raise StateError(f"{path} is no file of Ouzel's checkpoints") from None
    if found != version:
        raise StateError(f"{path} is of version {found}; this version of Ouzel reads version {version}")
    return fields


def unreadable_file(path: Path, error: OSError) -> str:
    """Why a file of a checkpoint cannot be read, as a sentence."""
    return f"{path} is missing" if isinstance(error, FileNotFoundError) else f"{path} cannot be read: {error.strerror}"


def _checksum(text: bytes) -> bytes:
    return xxhash.xxh3_128_hexdigest(text).encode()
