"""Debezium JSON: a database's log of changes. Each record says what a row was before and what it is after; an update is two rows.

Written, each change is a record: `c` for a row that comes, `d` for one that goes, as Flink writes it.

Envelope and codes of operations are those of Debezium's documentation ("Change event values").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.conversion import convert_columns
from ouzel.connectors.formats.json.format import FORMAT as JSON
from ouzel.connectors.formats.json.format import JsonDecoder, JsonEncoder
from ouzel.connectors.formats.json.names import EXACT, exact_names
from ouzel.connectors.formats.json.unseen import Unseen

WRAPPED = "debezium-json.schema-include"
BEFORE, AFTER, OPERATION, PAYLOAD = "before", "after", "op", "payload"

FORMAT = Format(
    "debezium-json",
    "A log of changes as Debezium writes it: one JSON object a record, with `before`, `after` and `op`. A row that is inserted (`c`) or "
    "was there at the snapshot (`r`) comes, one that is deleted (`d`) goes, one that is updated (`u`) goes as it was and comes as it is; "
    "so the table is what the database's is. Columns are read as in `json`. The database has to log whole rows (Postgres: `ALTER TABLE t "
    "REPLICA IDENTITY FULL`), and Debezium to write what JSON can say (`decimal.handling.mode=string`, `time.precision.mode=connect` with "
    "a computed column, or times as text). A truncated table (`t`) is a bad record. Written, a row that comes is `c`, and one that "
    "goes is `d`.",
    (
        Option(
            WRAPPED,
            "Whether a record holds the schema too, so that the change is its `payload` (Debezium's `schemas.enable`).",
            "false",
            kind="boolean",
        ),
        Option(
            "debezium-json.timestamp-format.standard",
            "Flink's option: `SQL` and `ISO-8601` are both read, whatever it says; only `SQL` is written.",
            choices=("SQL", "ISO-8601"),
        ),
        *(option for option in JSON.options if option.name == EXACT),
    ),
    "ouzel.connectors.formats.changes.debezium:DebeziumDecoder",
    "ouzel.connectors.formats.changes.debezium:DebeziumEncoder",
    quoted=EXACT,
    changelog=True,
)

_NO_COLUMN: dict[str, pl.DataType] = {"$nothing": pl.String()}
"""A ROW has a field at least."""


class DebeziumDecoder:
    """Decodes changes: of each record the row that goes, if there is one, then the row that comes."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self.columns, self.required = dict(columns), required
        row = pl.Struct(dict(columns) or _NO_COLUMN)
        envelope: dict[str, pl.DataType] = {BEFORE: row, AFTER: row, OPERATION: pl.String()}
        self._wrapped = options.get(WRAPPED) == "true"
        exact = exact_names(options, columns)
        above = f"{PAYLOAD}." if self._wrapped else ""
        names = ",".join(f"{above}{side}.{name}" for name in sorted(exact) for side in (BEFORE, AFTER))
        self._decoder = JsonDecoder(
            {EXACT: names}, {PAYLOAD: pl.Struct(envelope)} if self._wrapped else envelope, frozenset()
        )
        self._unseen = Unseen(self.columns, exact, self._row)

    def _row(self, record: Any) -> object:
        change = record.get(PAYLOAD) if self._wrapped else record
        return change.get(AFTER) or change.get(BEFORE)

    def decode(self, records: Records) -> Decoded:
        """Decode all of them; a record of which one row is bad is bad as a whole."""
        read = self._decoder.decode(records)
        changes = read.frame[PAYLOAD].struct.unnest() if self._wrapped else read.frame
        places = np.arange(len(records)) if read.kept is None else read.kept
        bad = dict(read.bad) | {int(places[row]): reason for row, reason in _odd(changes, self._wrapped).items()}
        goes = changes[OPERATION].is_in(["u", "d"]).fill_null(False).to_numpy()
        comes = changes[OPERATION].is_in(["c", "r", "u"]).fill_null(False).to_numpy()
        rows = pl.concat([changes[BEFORE].filter(goes), changes[AFTER].filter(comes)])
        indices = np.concatenate([places[goes], places[comes]])
        order = np.argsort(indices, kind="stable")
        frame, indices = rows[order].struct.unnest(), indices[order]
        weights = np.where(order < np.count_nonzero(goes), -1, 1)
        checked = convert_columns(frame, self.columns, {}, self.required)
        bad = {int(indices[row]): reason for row, reason in checked.bad} | bad
        notes = self._unseen.look(records, frame) if self.columns else ()
        whole = ~np.isin(indices, [*bad])
        left = frame.filter(whole) if self.columns else pl.DataFrame(height=int(whole.sum()))
        return Decoded(left, indices[whole], sorted(bad.items()), notes, weights[whole])


class DebeziumEncoder:
    """Encodes rows as changes: with +1 in the column behind the others, or without such a column, they come, with -1 they go."""

    def __init__(self, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> None:
        self._columns, self._rows = list(columns), JsonEncoder({}, columns)

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One change a row."""
        rows = self._rows.encode(frame.select(self._columns))
        if frame.width == len(self._columns):
            return [_COMES % row for row in rows]
        return [(_COMES if weight > 0 else _GOES) % row for row, weight in zip(rows, frame.to_series(-1), strict=True)]

    def lines(self, frame: pl.DataFrame) -> bytes:
        """All changes, one a line."""
        return b"".join(change + b"\n" for change in self.encode(frame))

    def header(self) -> bytes:
        """Nothing."""
        return b""


_COMES, _GOES = b'{"before":null,"after":%s,"op":"c"}', b'{"before":%s,"after":null,"op":"d"}'


def _odd(changes: pl.DataFrame, wrapped: bool) -> dict[int, str]:
    """The changes that cannot be read as such, and why; whether they were looked for in the `payload` may be the reason."""
    found: dict[int, str] = {}
    elsewhere = (
        f"leave '{WRAPPED}' out if it is not in a 'payload'"
        if wrapped
        else f"if it is in a 'payload', write '{WRAPPED}' = 'true'"
    )
    operation = pl.col(OPERATION)
    known = operation.is_in(["c", "r", "u", "d"]).fill_null(False)
    for row, given in changes.with_row_index("$row").filter(~known).select("$row", OPERATION).iter_rows():
        found[row] = (
            "the table was truncated, and a topology cannot take back rows that it does not know"
            if given == "t"
            else f"its 'op' is {'missing' if given is None else repr(given)}, and a change has c, r, u or d"
            + f"; {elsewhere}" * (given is None)
        )
    for side, needed, advice in (
        (BEFORE, ["u", "d"], "the database logs no whole rows (Postgres: ALTER TABLE ... REPLICA IDENTITY FULL)"),
        (AFTER, ["c", "r", "u"], "a row that comes has to be there"),
    ):
        missing = operation.is_in(needed) & pl.col(side).is_null()
        for row, given in changes.with_row_index("$row").filter(missing).select("$row", OPERATION).iter_rows():
            found[row] = f"its 'op' is '{given}' and it has no '{side}': {advice}"
    return found
