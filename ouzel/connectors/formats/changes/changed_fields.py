"""Logs of changes that hold a row as it is, and of an update what its fields were that are no longer so.

The rows stand in their records as JSON objects. They are cut out as text, and read side by side: what came, as the records of the format
`json` are, then what the changed fields were. The row that goes is the one that comes, with these fields as they were. That a field was
NULL is told from one that has not changed by its name being there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from ouzel.connectors.formats.base import Decoded, Records
from ouzel.connectors.formats.conversion import Change, convert_columns
from ouzel.connectors.formats.json.format import JsonDecoder
from ouzel.connectors.formats.json.names import EXACT, exact_names, fold

_NO_COLUMN: dict[str, pl.DataType] = {"$nothing": pl.String()}
"""A ROW has a field at least."""

_OLD, _NAMES = "old", "names"


@dataclass(frozen=True)
class ChangedRows:
    """Rows of changes side by side, in the order of their records: the row and its changed fields as JSON, and what became of it.

    `records` says of each which record it stands in. One that is updated goes and comes; only of such a one `old` counts.
    """

    data: pl.Series
    old: pl.Series
    records: np.ndarray
    goes: np.ndarray
    comes: np.ndarray

    def take(self, rows: np.ndarray) -> ChangedRows:
        """Only these."""
        return ChangedRows(self.data[rows], self.old[rows], self.records[rows], self.goes[rows], self.comes[rows])


class ChangedRowsDecoder:
    """Decodes rows of changes into `columns`, whose values are read as those of JSON; those in `texts` are parsed of any text."""

    def __init__(
        self,
        options: Mapping[str, str],
        columns: Mapping[str, pl.DataType],
        required: frozenset[str],
        texts: Mapping[str, Change],
    ) -> None:
        self._columns, self._required, self._texts = dict(columns), required, texts
        self._read = {name: pl.String() if name in texts else kind for name, kind in columns.items()} or _NO_COLUMN
        self._exact = exact_names(options, columns)
        kinds: dict[str, pl.DataType] = {_OLD: pl.Struct(self._read), _NAMES: _OBJECT}
        inside = ",".join(sorted({_OLD, _NAMES} | {f"{_OLD}.{name}" for name in self._exact}))
        self._rows = JsonDecoder({EXACT: ",".join(sorted(self._exact))}, self._read, frozenset())
        self._fields = JsonDecoder({EXACT: inside}, kinds, frozenset())

    def decode(self, changes: ChangedRows, bad: Mapping[int, str]) -> Decoded:
        """Decode all of them, beside the records that are known to be bad; a record of which one row is bad is bad as a whole."""
        reasons = dict(bad)
        now = self._rows.decode(_records_of(changes.data))
        changes = self._sift(changes, now, reasons)
        was, changes, now = self._before(changes, now, reasons)
        frame, at, weights = _interleave(was, now.frame, changes)
        checked = convert_columns(frame, self._columns, self._texts, self._required)
        reasons = {int(at[row]): reason for row, reason in reversed(checked.bad)} | reasons
        good = ~np.isin(at if checked.kept is None else at[checked.kept], [*reasons])
        at, weights = (at, weights) if checked.kept is None else (at[checked.kept], weights[checked.kept])
        left = checked.frame.filter(good) if self._columns else pl.DataFrame(height=int(good.sum()))
        notes = now.notes if self._columns else ()
        return Decoded(left, at[good], sorted(reasons.items()), notes, weights[good])

    def _sift(self, changes: ChangedRows, read: Decoded, reasons: dict[int, str]) -> ChangedRows:
        for row, reason in read.bad:
            reasons.setdefault(int(changes.records[row]), reason)
        return changes if read.kept is None else changes.take(read.kept)

    def _before(
        self, changes: ChangedRows, now: Decoded, reasons: dict[int, str]
    ) -> tuple[pl.DataFrame, ChangedRows, Decoded]:
        """The rows that go, and what is left of the others."""
        updated = np.flatnonzero(changes.goes & changes.comes)
        texts = changes.old[updated].to_frame("t").select(pl.concat_str(_TWICE)).to_series()
        read = self._fields.decode(_records_of(texts))
        for row, reason in read.bad:
            reasons.setdefault(int(changes.records[updated[row]]), reason)
        if read.kept is not None:
            kept = np.delete(np.arange(len(changes.records)), np.delete(updated, read.kept))
            updated = np.searchsorted(kept, updated[read.kept])
            changes, now = changes.take(kept), replace(now, frame=now.frame[kept])
        gone = np.flatnonzero(changes.goes)
        rows = now.frame[gone]
        place = np.searchsorted(gone, updated)
        return self._as_they_were(rows, place, read.frame), changes, now

    def _as_they_were(self, rows: pl.DataFrame, place: np.ndarray, read: pl.DataFrame) -> pl.DataFrame:
        """The rows with those at `place` as their changed fields say."""
        old, names = read[_OLD].struct.unnest(), read.select(_NAMES).with_row_index("$at").explode(_NAMES)
        said = names.select("$at", pl.col(_NAMES).struct.field("key"))
        every: Sequence[str] = said["key"].drop_nulls().unique().to_list()
        made = []
        for column in rows.get_columns():
            alike = [name for name in every if _is_name_of(name, column.name, self._exact)]
            changed = said.filter(pl.col("key").is_in(alike))["$at"].unique().to_numpy()
            made.append(_put(column, place[changed], old[column.name][changed]) if len(changed) else column)
        return pl.DataFrame(made)


_OBJECT = pl.List(pl.Struct({"key": pl.String(), "value": pl.String()}))
_TWICE = (pl.lit(f'{{"{_OLD}":'), pl.col("t"), pl.lit(f',"{_NAMES}":'), pl.col("t"), pl.lit("}"))
"""One object with the fields as a ROW and as a MAP, whose keys are their names."""


def _put(column: pl.Series, place: np.ndarray, values: pl.Series) -> pl.Series:
    """The column with these values there, of whatever type: `scatter` knows no ROW."""
    taken = np.arange(len(column))
    taken[place] = len(column) + np.arange(len(values))
    return pl.concat([column, values])[taken]


def _is_name_of(field: str, column: str, exact: Collection[str]) -> bool:
    return field == column or (column not in exact and fold(field) == fold(column))


def _records_of(texts: pl.Series) -> Records:
    """Texts as records, of which NULL is an empty one."""
    texts = texts.fill_null("")
    ends = np.cumsum(texts.str.len_bytes().to_numpy().astype(np.int64) + 1) - 1
    starts = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1])
    return Records((texts.str.join("\n").item() + "\n").encode(), starts, ends)


def _interleave(
    was: pl.DataFrame, now: pl.DataFrame, changes: ChangedRows
) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Of each row what goes and then what comes, with the record and the weight of each."""
    goes, comes = np.flatnonzero(changes.goes), np.flatnonzero(changes.comes)
    rows = np.concatenate([goes, comes])
    order = np.argsort(rows, kind="stable")
    weights = np.where(order < len(goes), -1, 1)
    return pl.concat([was, now[comes]])[order], changes.records[rows[order]], weights
