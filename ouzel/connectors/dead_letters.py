"""Dead letters: one line of JSON for each record that was refused. Stream and batch write the same."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.connectors.reading import BadRow
from ouzel.errors import ConnectorError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class RefusedRecord:
    """One refused record: where it was, why, and what is known of it: its own text, or base64 of bytes that are not UTF-8.

    `detail` are further lines for whoever reads the message.
    """

    where: str
    reason: str
    raw: str
    detail: str = ""
    is_base64: bool = False

    @classmethod
    def of(cls, bad: BadRow) -> RefusedRecord:
        """A record that a source could not read."""
        try:
            return cls(bad.where, bad.reason, bad.raw.decode())
        except UnicodeDecodeError:
            return cls(bad.where, bad.reason, b64encode(bad.raw).decode(), is_base64=True)

    def line(self) -> str:
        """The record as a line of JSON."""
        raw = {"raw_base64" if self.is_base64 else "raw": self.raw}
        return json.dumps({"where": self.where, "reason": self.reason, **raw}, ensure_ascii=False) + "\n"


def rows_as_json(frame: pl.DataFrame) -> list[str]:
    """Rows that were refused after they had been read: what is known of each."""
    from ouzel.connectors.formats.far_times import python_rows

    return [json.dumps(row, default=str, ensure_ascii=False) for row in python_rows(frame)]


def write_dead_letters(path: Path, records: Iterable[RefusedRecord]) -> None:
    """Append a line for each record.

    Raises:
        ConnectorError: the file cannot be written.
    """
    append_lines(path, "".join(record.line() for record in records))


def append_lines(path: Path, lines: str) -> None:
    """Append whole lines at once, so that several tasks may share a file.

    Raises:
        ConnectorError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            left = memoryview(lines.encode())
            while left:  # a disk that is nearly full takes a part, and says so only when asked again
                left = left[os.write(handle, left) :]
        finally:
            os.close(handle)
    except OSError as error:
        raise ConnectorError(f"cannot write to {path}: {error.strerror}") from error
