"""Dead letters: one line of JSON for each record that was refused. Stream and batch write the same."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ouzel.connectors.base import BadRow
from ouzel.errors import ConnectorError


@dataclass(frozen=True)
class Refused:
    """One refused record: where it was, why, and what is known of it as text. `detail` are further lines for whoever reads the message."""

    where: str
    reason: str
    raw: str
    detail: str = ""

    @classmethod
    def of(cls, bad: BadRow) -> Refused:
        """A record that a source could not read."""
        return cls(bad.where, bad.reason, bad.raw.decode(errors="replace"))


def write_dead_letters(path: Path, records: Iterable[Refused]) -> None:
    """Append a line for each record.

    Raises:
        ConnectorError: the file cannot be written.
    """
    kept = ({"where": one.where, "reason": one.reason, "raw": one.raw} for one in records)
    append_lines(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept))


def append_lines(path: Path, lines: str) -> None:
    """Append whole lines at once, so that several tasks may share a file.

    Raises:
        ConnectorError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, lines.encode())
        finally:
            os.close(handle)
    except OSError as error:
        raise ConnectorError(f"cannot write to {path}: {error.strerror}") from error
