"""JSON: one object a record. Polars parses whole chunks; where it refuses one, each record is looked at by itself to find the bad ones.

A field that is not there is NULL, one that no column asks for is ignored. An integer may stand for a DOUBLE, and so may "NaN", "Infinity"
and "-Infinity", which JSON has no numbers for; nothing but an integer for an integer. A Boolean given for VARCHAR becomes its text; a
number, an object or an array stays as it is written. ARRAY, ROW and MAP are arrays and objects.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Decoded, Format, Records, looks_packed
from ouzel.connectors.formats.conversion import Change, convert, from_text, merge, misfit
from ouzel.connectors.formats.json_unseen import Unseen
from ouzel.connectors.formats.json_values import (
    NO_NUMBERS,
    Number,
    Unwritten,
    WrittenDecoder,
    from_json,
    holds_floats,
    is_finite,
    is_plain,
    to_json,
)

FORMAT = Format(
    "json",
    "One JSON object a record, one record a line in files. Timestamps are ISO-8601 or `yyyy-MM-dd HH:mm:ss[.ffffff]` text, BYTES base64 "
    "text, DECIMAL a number or text, MAP an object. A TIMESTAMP is UTC: a zone in its text counts. A VARCHAR may be given anything: a "
    "number, an object or an array stays as it is written, but is written anew inside an ARRAY or ROW. A column that no record has is "
    "NULL; the run says so once, with the names that the records have.",
    (
        Option(
            "json.nulls", "Whether NULL columns are written as `null`; `false` leaves them out.", "true", kind="boolean"
        ),
    ),
    "ouzel.connectors.formats.json:JsonDecoder",
    "ouzel.connectors.formats.json:JsonEncoder",
)

_NATIVE = (pl.Int32, pl.Int64, pl.Float32, pl.Float64, pl.String, pl.Boolean)
_NARROW = (pl.Int8, pl.Int16, pl.Duration)
_TEXT = (pl.Date, pl.Datetime, pl.Decimal, pl.Binary)
_WRITTEN = (pl.Int8, pl.Int16, pl.Date, pl.Datetime, pl.Decimal, pl.Binary)
_PANIC = pl.exceptions.PanicException
_NOTHING: dict[str, pl.DataType] = {"$nothing": pl.String()}
"""Polars infers a schema when it is given none."""
_NO_NUMBER = re.compile(f'"(?:{"|".join(NO_NUMBERS)})"'.encode())
_NO_STRING = r"^[\[{\-0-9]"
"""How a number, object or array begins, once Polars has made a text of it. A string may begin so too."""


class JsonDecoder:
    """Decodes JSON objects into columns."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self.columns, self.required = dict(columns), required
        self._raw: dict[str, pl.DataType] = {}
        self._changes: dict[str, Change] = {}
        self._slow: list[str] = []
        for name, kind in columns.items():
            self._plan(name, kind)
        self._floats = [name for name in self._raw if holds_floats(columns[name])]
        self._texts = [name for name, kind in columns.items() if isinstance(kind, pl.String)]
        self._raw = self._raw or _NOTHING
        self._unseen = Unseen(self.columns)

    def _plan(self, name: str, kind: pl.DataType) -> None:
        if isinstance(kind, _NATIVE) or is_plain(kind):
            self._raw[name] = kind
        elif isinstance(kind, _NARROW):
            self._raw[name] = pl.Int64()
            self._changes[name] = lambda numbers: numbers.cast(kind, strict=False)
        elif isinstance(kind, _TEXT) and not (isinstance(kind, pl.Decimal) and kind.precision > 15):
            self._raw[name] = pl.String()
            self._changes[name] = from_text(kind)
        else:
            self._slow.append(name)

    def decode(self, records: Records) -> Decoded:
        """Decode all of them."""
        blob = records.blob
        if blob.count(b"\n") > len(records):  # a record of several lines, or blank lines between records
            records = Records.of([value.replace(b"\n", b" ") for value in records.values()])
        raw = None if self._slow else self._parse(records, self._raw)
        decoded = self._sift(records) if raw is None else self._finish(raw)
        return replace(decoded, notes=self._unseen.look(records, decoded.frame))

    def _parse(self, records: Records, schema: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
        if not len(records):
            return pl.DataFrame(schema=schema)
        if looks_packed(records.blob):
            return None
        try:
            raw = pl.read_ndjson(io.BytesIO(records.blob), schema=schema)
        except (pl.exceptions.PolarsError, _PANIC):
            return None
        return self._as_written(raw, records) if raw.height == len(records) else None

    def _as_written(self, raw: pl.DataFrame, records: Records) -> pl.DataFrame:
        """What is given for VARCHAR and is no string stays as it is written; Polars writes it anew."""
        doubtful = raw.select(pl.col(self._texts).str.contains(_NO_STRING).any())
        asked = [name for name in self._texts if doubtful[name][0]]
        if not asked:
            return raw
        from ouzel.connectors.formats.json_written import as_written

        return as_written(raw, asked, records)

    def _finish(self, raw: pl.DataFrame) -> Decoded:
        return convert(raw, self.columns, self._changes, self.required)

    def _sift(self, records: Records) -> Decoded:
        """Look at each record by itself: what Python's parser refuses is bad, the others go through Polars as always."""
        slow = [*self._slow, *(self._floats if _NO_NUMBER.search(records.blob) else ())]
        bad: dict[int, str] = {}
        values: dict[str, list[object]] = {name: [] for name in slow}
        good: list[int] = []
        for index, value in enumerate(records.values()):
            try:
                found = check_record(value, self.columns)
            except ValueError as error:
                bad[index] = str(error)
                continue
            good.append(index)
            for name in slow:
                values[name].append(found[name])
        return self._merge(records, good, values, bad)

    def _merge(self, records: Records, good: list[int], slow: dict[str, list[object]], bad: dict[int, str]) -> Decoded:
        schema = {name: kind for name, kind in self._raw.items() if name not in slow} or _NOTHING
        frames, kept = [pl.DataFrame(schema={**schema, **{name: self.columns[name] for name in slow}})], []
        for first, last, raw in self._halves(records.pick(good), schema, 0):
            if raw is None:
                bad[good[first]] = "it is not JSON that can be read exactly"
                continue
            made = [pl.Series(name, values[first:last], self.columns[name]) for name, values in slow.items()]
            frames.append(raw.with_columns(made))
            kept += good[first:last]
        return merge(self._finish(pl.concat(frames)), kept, bad, len(records))

    def _halves(
        self, records: Records, schema: Mapping[str, pl.DataType], first: int
    ) -> list[tuple[int, int, pl.DataFrame | None]]:
        """Cut in two, again and again, what Polars refuses although each record looked right."""
        raw = self._parse(records, schema)
        if raw is not None or len(records) == 1:
            return [(first, first + len(records), raw)]
        middle = len(records) // 2
        left, right = records.pick(range(middle)), records.pick(range(middle, len(records)))
        return [*self._halves(left, schema, first), *self._halves(right, schema, first + middle)]


def check_record(value: bytes, columns: Mapping[str, pl.DataType]) -> dict[str, object]:
    """One record's values by column; those of VARCHAR columns, which take anything, are left out.

    Raises:
        ValueError: it is not a JSON object, or a value does not fit its column; the text is the reason.
    """
    try:
        return _values(value, columns, json.JSONDecoder)
    except Unwritten:
        return _values(value, columns, WrittenDecoder)


def _values(value: bytes, columns: Mapping[str, pl.DataType], decoder: type[json.JSONDecoder]) -> dict[str, object]:
    try:
        found = json.loads(value, cls=decoder, parse_float=Number, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        if value.lstrip().startswith(b"["):
            raise ValueError("it begins a JSON array, and a record is one object a line") from None
        raise ValueError(f"it is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f"it is not a JSON object but {type(found).__name__}")
    values: dict[str, object] = {}
    for name, kind in columns.items():
        if isinstance(kind, pl.String):  # which takes anything
            continue
        try:
            values[name] = from_json(found.get(name), kind)
        except Unwritten:
            raise
        except (ValueError, ArithmeticError):
            raise ValueError(misfit(name, kind, found[name])) from None
    return values


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


class JsonEncoder:
    """Encodes rows as JSON objects."""

    def __init__(self, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> None:
        self._nulls = options.get("json.nulls", "true") == "true"
        self._floats = [name for name, kind in columns.items() if holds_floats(kind)]
        self._native = self._nulls and all(is_plain(kind) or isinstance(kind, _WRITTEN) for kind in columns.values())

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One object a row."""
        return self.lines(frame).splitlines()

    def lines(self, frame: pl.DataFrame) -> bytes:
        """All rows, one object a line."""
        finite = all(is_finite(frame[name]) for name in self._floats if name in frame.columns)
        if self._native and finite:
            return frame.with_columns(pl.selectors.binary().bin.encode("base64")).write_ndjson().encode()
        return b"".join(self._line(row, frame.schema) for row in frame.iter_rows())

    def _line(self, row: tuple[object, ...], schema: pl.Schema) -> bytes:
        values = {name: to_json(value, kind) for (name, kind), value in zip(schema.items(), row, strict=True)}
        if not self._nulls:
            values = {name: value for name, value in values.items() if value is not None}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"

    def header(self) -> bytes:
        """Nothing."""
        return b""
