"""Columns that no JSON record has, most likely because the name is spelled differently there. It is reported once, and is no error."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

import polars as pl

from ouzel.connectors.formats.base import Records

RECORDS = 1_000
"""After so many records a column that none of them had is named, whatever their fields are called."""

_LOOKED_AT = 100
_NEAR = 0.75


class Unseen:
    """Which columns no record has had so far. `fields_of` finds the object with the fields in a record that holds more."""

    def __init__(
        self,
        columns: Collection[str],
        exact: Collection[str] = (),
        fields_of: Callable[[Any], object] = lambda record: record,
    ) -> None:
        self._columns, self._exact, self._left = columns, exact, list(columns)
        self._fields_of = fields_of
        self._records = 0

    def look(self, records: Records, frame: pl.DataFrame) -> Sequence[str]:
        """Take in the next records, decoded as `frame`; a sentence for each column that is to be named now.

        One that is near to a field that no column asks for is named at once. What costs anything is done only while a column is NULL
        throughout.
        """
        if not self._left or not frame.height:
            return ()
        self._records += len(records)
        self._left = [name for name in self._left if frame[name].null_count() == frame.height]
        self._left = [name for name in self._left if not self._stands_in(name, records.blob)]
        if not self._left:
            return ()
        fields = _fields(records, self._fields_of)
        said = {name: self._sentence(name, fields) for name in self._left}
        self._left = [name for name in self._left if not said[name]]
        return [sentence for sentence in said.values() if sentence]

    def _stands_in(self, name: str, blob: bytes) -> bool:
        written = json.dumps(name).encode()
        return written in blob or (name not in self._exact and written.lower() in blob.lower())

    def _sentence(self, name: str, fields: Sequence[str]) -> str:
        others = {field.lower(): field for field in fields if field not in self._columns}
        near = [others[match] for match in get_close_matches(name.lower(), others, 3, _NEAR)]
        if not near and self._records < RECORDS:
            return ""
        found = f"they have {' and '.join(repr(field) for field in near)}" if near else f"they have {_some(fields)}"
        return f"none of the first {self._records:,} records has a field '{name}', so that column is NULL; {found}"


def _fields(records: Records, fields_of: Callable[[Any], object]) -> list[str]:
    """The fields of the first few, in the order in which they come."""
    fields: dict[str, None] = {}
    for record in islice(records.values(), _LOOKED_AT):
        try:
            found = fields_of(json.loads(record))
        except (ValueError, AttributeError):
            continue
        fields.update(dict.fromkeys(found) if isinstance(found, dict) else {})
    return list(fields)


def _some(fields: Sequence[str]) -> str:
    shown = ", ".join(f"'{field}'" for field in fields[:10])
    return f"{shown} and more" if len(fields) > 10 else shown or "no field at all"
