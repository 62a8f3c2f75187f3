"""JSON: one object a record. All records are read into columns at once; one that is bad or odd is looked at by itself, and only it.

A field that is not there is NULL, one that no column asks for is ignored. An integer may stand for a DOUBLE, and so may NaN, Infinity and
-Infinity, bare or quoted, which JSON has no numbers for; nothing but an integer for an integer. A Boolean given for VARCHAR becomes its
text; a number, an object or an array stays as it is written. ARRAY, ROW and MAP are arrays and objects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.conversion import convert_columns, merge, misfit
from ouzel.connectors.formats.far_times import python_values
from ouzel.connectors.formats.json.broken import ONE_A_LINE, describe_broken
from ouzel.connectors.formats.json.names import (
    EXACT,
    AmbiguousField,
    exact_inside,
    exact_names,
    match_fields,
)
from ouzel.connectors.formats.json.unseen import Unseen
from ouzel.connectors.formats.json.values import (
    Number,
    Unwritten,
    Whole,
    WrittenDecoder,
    json_to_python,
    to_json,
)
from ouzel.connectors.formats.json.writing import find_unwritable, write_objects

if TYPE_CHECKING:
    from ouzel.connectors.formats.json.columns import ColumnReader

FORMAT = Format(
    "json",
    "One JSON object a record, one record a line in files. Timestamps are ISO-8601 or `yyyy-MM-dd HH:mm:ss[.ffffff]` text, BYTES base64 "
    "text, DECIMAL a number or text, MAP an object. A TIMESTAMP is UTC: a zone in its text counts. A VARCHAR may be given anything: a "
    "number, an object or an array stays as it is written. NaN and Infinity, bare or quoted, are values of DOUBLE and FLOAT. As in "
    "SQL, a field's name matches a column in any case (of A to Z), unless the table's definition has the column in quotes; a field in the "
    "very same case wins over others, and a record with two others is bad. So do fields inside a ROW, each for itself. A column that "
    "no record has is NULL; the run says so once, with the names that the records have.",
    (
        Option(
            EXACT,
            "Columns, separated by commas, whose fields have their names in the same case, and `column.field` for fields of a ROW; `*` "
            "for all. Quoted names in the table's definition are among them by themselves.",
        ),
        Option(
            "json.nulls", "Whether NULL columns are written as `null`; `false` leaves them out.", "true", kind="boolean"
        ),
        Option(
            "json.timestamp-format.standard",
            "Flink's option: `SQL` (`2013-01-31 23:59:59.5`) and `ISO-8601` (`2013-01-31T23:59:59.5Z`) are both read, whatever it says, "
            "and only `SQL` is written. For numbers see `timestamp.epoch`.",
            choices=("SQL", "ISO-8601"),
        ),
    ),
    "ouzel.connectors.formats.json.format:JsonDecoder",
    "ouzel.connectors.formats.json.format:JsonEncoder",
    kernels="ouzel.connectors.formats.json.columns",
    quoted=EXACT,
)


class JsonDecoder:
    """Decodes JSON objects into columns."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self.columns, self.required = dict(columns), required
        self._exact = exact_names(options, columns)
        self._unseen = Unseen(self.columns, self._exact)

    def decode(self, records: Records) -> Decoded:
        """Decode all of them: at once what is beyond doubt, the others one by one."""
        decoded = self._decode(records)
        return replace(decoded, notes=self._unseen.look(records, decoded.frame))

    @cached_property
    def _reader(self) -> ColumnReader:
        from ouzel.connectors.formats.json.columns import ColumnReader

        return ColumnReader(self.columns, self._exact)

    def _decode(self, records: Records) -> Decoded:
        if is_utf8(records.blob):
            frame, good = self._reader.read(records)
        else:
            sound = [index for index, value in enumerate(records.values()) if is_utf8(value)]
            frame, places = self._reader.read(records.pick(sound))
            good = np.array(sound, np.int64)[places]
        if len(good) == len(records):
            return convert_columns(frame, self.columns, {}, self.required)
        return self._sift(records, frame, good)

    def _sift(self, records: Records, frame: pl.DataFrame, done: np.ndarray) -> Decoded:
        """Look at each record by itself, but for those that are `done` and stand in `frame`."""
        bad: dict[int, str] = {}
        found: dict[int, dict[str, object]] = {}
        for index in np.delete(np.arange(len(records)), done).tolist():
            try:
                found[index] = check_record(records[index], self.columns, self._exact)
            except ValueError as error:
                bad[index] = str(error)
        more = [
            pl.Series(name, [values[name] for values in found.values()], kind) for name, kind in self.columns.items()
        ]
        indices = np.concatenate([done, np.array([*found], np.int64)])
        order = np.argsort(indices)
        rows = pl.concat([frame, pl.DataFrame(more)])[order] if more else pl.DataFrame(height=len(order))
        decoded = convert_columns(rows, self.columns, {}, self.required)
        return merge(decoded, indices[order].tolist(), bad, len(records))


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are text."""
    try:
        pa.py_buffer(data) and pa.Array.from_buffers(
            pa.large_binary(), 1, [None, pa.py_buffer(np.array([0, len(data)])), pa.py_buffer(data)]
        ).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


_FORMS: dict[type, str] = {list: "an array", str: "text", bool: "true or false", type(None): "null"}


def check_record(value: bytes, columns: Mapping[str, pl.DataType], exact: Collection[str] = ()) -> dict[str, object]:
    """One record's values by column: what every value means. A column that is not in `exact` finds its field whatever its case.

    Raises:
        ValueError: it is not a JSON object, or a value does not fit its column; the text is the reason.
    """
    try:
        return _values(value, columns, exact, json.JSONDecoder)
    except Unwritten:
        return _values(value, columns, exact, WrittenDecoder)


def _values(
    value: bytes, columns: Mapping[str, pl.DataType], exact: Collection[str], decoder: type[json.JSONDecoder]
) -> dict[str, object]:
    try:
        found = json.loads(value.decode(), cls=decoder, parse_float=Number, parse_int=Whole, parse_constant=Number)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        if value.lstrip().startswith(b"["):
            raise ValueError(f"it begins a JSON array, {ONE_A_LINE}") from None
        if not value.lstrip().startswith(b"{") and any(sign in value for sign in b",;\t|"):
            raise ValueError("it is not JSON, and looks like CSV: write 'format' = 'csv'") from None
        raise ValueError(describe_broken(value, error)) from None
    if not isinstance(found, dict):
        raise ValueError(f"it is not a JSON object but {_FORMS.get(type(found), 'a number')}")
    values: dict[str, object] = {}
    fields = match_fields(found, columns, exact)
    for name, kind in columns.items():
        held = found.get(fields[name])
        try:
            values[name] = json_to_python(held, kind, exact_inside(name, exact))
        except (Unwritten, AmbiguousField):
            raise
        except (ValueError, ArithmeticError):
            raise ValueError(misfit(name, kind, held)) from None
    return values


class JsonEncoder:
    """Encodes rows as JSON objects."""

    def __init__(self, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> None:
        self._nulls = options.get("json.nulls", "true") == "true"

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One object a row."""
        return self.lines(frame).splitlines()

    def lines(self, frame: pl.DataFrame) -> bytes:
        """All rows, one object a line: those that hold what Polars' writer has no text for one by one, the others all at once."""
        unwritable = find_unwritable(frame)
        if not unwritable.any():
            return write_objects(frame, self._nulls)
        others = iter(write_objects(frame.filter(~unwritable), self._nulls).splitlines(keepends=True))
        columns = map(python_values, frame.filter(unwritable).get_columns())
        odd = (self._write_one(row, frame.schema) for row in zip(*columns, strict=True))
        return b"".join(next(odd if one else others) for one in unwritable)

    def _write_one(self, row: tuple[object, ...], schema: pl.Schema) -> bytes:
        values = {name: to_json(value, kind) for (name, kind), value in zip(schema.items(), row, strict=True)}
        if not self._nulls:
            values = {name: value for name, value in values.items() if value is not None}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"

    def header(self) -> bytes:
        """Nothing."""
        return b""
