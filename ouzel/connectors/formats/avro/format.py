"""Avro: records of one schema, or each with the number of its schema in a registry. Decoded in columns by Polars' reader of Avro files.

That reader takes a file and looks at no record's end. So records are put into one, side by side, each with a mark behind it that nobody
can know: if all marks are found in their places, every record was read as it was written.
"""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ouzel.connectors.base import Alias, Option
from ouzel.connectors.formats.avro.schema import check_body, parse_schema, symbols_of_nullable, write_varint
from ouzel.connectors.formats.base import Decoded, Format, Records
from ouzel.connectors.formats.conversion import convert_columns, merge
from ouzel.connectors.formats.widening import match_columns, require_columns, widen
from ouzel.errors import ConnectorError

SCHEMA, SCHEMA_FILE, REGISTRY = "avro.schema", "avro.schema-file", "schema-registry.url"

_TYPES = (
    "A union of null and a type is a column that may be NULL; record is ROW, array ARRAY, map MAP, enum VARCHAR, fixed BYTES; the logical "
    "types date, decimal and timestamp are DATE, DECIMAL and TIMESTAMP_LTZ (local ones TIMESTAMP), others are what they are made of. "
    "Columns take wider types as from Parquet, and names match in any case. Any other union, a type inside itself, and an enum inside "
    "another type is refused."
)

AVRO = Format(
    "avro",
    "Avro, one record of a known schema each, without a header. " + _TYPES + " It can only be read.",
    (
        Option(SCHEMA, "The schema that the records were written with, as JSON."),
        Option(SCHEMA_FILE, "A file with that schema, which has to be wherever the table is read."),
    ),
    "ouzel.connectors.formats.avro.format:AvroDecoder",
    readable_only=True,
    files=(SCHEMA_FILE,),
    one_of=(SCHEMA_FILE, SCHEMA),
)

AVRO_CONFLUENT = Format(
    "avro-confluent",
    "Avro as Confluent's serializers write it: a zero byte, four bytes with the number of the schema in a registry, and the record. "
    "Each schema is asked for once. A column that a record's schema lacks is NULL. Types are as in `avro`. It can only be read.",
    (
        Option(
            REGISTRY,
            "Where the schema registry answers, `http://host:8081` say.",
            required=True,
            aliases=(Alias("avro-confluent.url"),),
        ),
    ),
    "ouzel.connectors.formats.avro.format:ConfluentDecoder",
    readable_only=True,
)

_HEADER, _MAGIC = 5, 0
_MARK_SIZE, _SYNC = 16, b"\0" * 16
_TIMEOUT_S = 10


class AvroDecoder:
    """Decodes records of one schema."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self._columns, self._required = dict(columns), required
        text, where = _given_schema(options)
        self._schema = _Schema(text, where, columns)
        require_columns(self._schema.names, columns, where)

    def decode(self, records: Records) -> Decoded:
        """Decode all of them."""
        frame, good, bad = self._schema.read(records.values())
        return merge(convert_columns(frame, self._columns, {}, self._required), good, bad, len(records))


class ConfluentDecoder:
    """Decodes records that say which schema they have."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self._columns, self._required = dict(columns), required
        self._registry = options[REGISTRY].rstrip("/")
        self._schemas: dict[int, _Schema | str] = {}

    def decode(self, records: Records) -> Decoded:
        """Decode all of them, schema by schema."""
        numbers, bad = _schema_numbers(records)
        frames, found = [pl.DataFrame(schema=self._columns)], list[int]()
        for number in np.unique(numbers[numbers >= 0]).tolist():
            places = np.flatnonzero(numbers == number).tolist()
            schema = self._schema(number)
            if isinstance(schema, str):
                bad |= dict.fromkeys(places, schema)
                continue
            frame, good, odd = schema.read([records[place][_HEADER:] for place in places])
            frames.append(frame)
            found += [places[index] for index in good]
            bad |= {places[index]: reason for index, reason in odd.items()}
        order = np.argsort(found)
        rows = pl.concat(frames)[order] if self._columns else pl.DataFrame(height=len(found))
        return merge(
            convert_columns(rows, self._columns, {}, self._required), np.array(found)[order].tolist(), bad, len(records)
        )

    def _schema(self, number: int) -> _Schema | str:
        """The schema of this number, or why a record of it is bad."""
        if number not in self._schemas:
            self._schemas[number] = self._ask(number)
        return self._schemas[number]

    def _ask(self, number: int) -> _Schema | str:
        from urllib.error import HTTPError
        from urllib.request import urlopen

        address = f"{self._registry}/schemas/ids/{number}"
        try:
            with urlopen(address, timeout=_TIMEOUT_S) as answer:
                found = json.load(answer)
        except HTTPError as error:
            if error.code == 404:
                return f"the schema registry {self._registry} knows no schema {number}"
            raise ConnectorError(f"the schema registry answers {error.code} to {address}") from None
        except (OSError, ValueError) as error:
            raise ConnectorError(
                f"the schema registry does not answer to {address} ({error}); see '{REGISTRY}'"
            ) from None
        if found.get("schemaType", "AVRO") != "AVRO":
            return f"its schema {number} is of type {found['schemaType']}, and the format 'avro-confluent' reads AVRO"
        return _Schema(found["schema"], f"schema {number} of {self._registry}", self._columns)


def _schema_numbers(records: Records) -> tuple[np.ndarray, dict[int, str]]:
    """The number of each record's schema, -1 for those that have none, and why."""
    data = np.frombuffer(records.blob, np.uint8)
    sizes = records.ends - records.starts
    whole = sizes >= _HEADER
    starts = np.where(whole, records.starts, 0)
    numbers = np.zeros(len(records), np.int64)
    for place in range(1, _HEADER) if len(data) >= _HEADER else ():
        numbers = numbers << 8 | data[starts + place]
    whole &= data[starts] == _MAGIC
    reason = "it does not begin with a zero byte and the number of a schema; if it is plain Avro, use the format 'avro'"
    return np.where(whole, numbers, -1), dict.fromkeys(np.flatnonzero(~whole).tolist(), reason)


def _given_schema(options: Mapping[str, str]) -> tuple[str, str]:
    """The text of the schema, and what to call it."""
    if SCHEMA in options:
        return options[SCHEMA], f"'{SCHEMA}'"
    path = options[SCHEMA_FILE]
    try:
        return Path(path).read_text(), path
    except (OSError, UnicodeDecodeError) as error:
        raise ConnectorError(f"'{SCHEMA_FILE}' = '{path}' cannot be read ({error})") from None


class _Schema:
    """A schema that records were written with, and how the table's columns are made of it."""

    def __init__(self, text: str, where: str, columns: Mapping[str, pl.DataType]) -> None:
        self._checked = parse_schema(text, where)
        self._mark = secrets.token_bytes(_MARK_SIZE)
        self._mark_name = "$mark"
        mark = {"name": self._mark_name, "type": {"type": "fixed", "name": "mark", "size": _MARK_SIZE}}
        fields = self._checked["fields"]
        self._symbols = {field["name"]: found for field in fields if (found := symbols_of_nullable(field["type"]))}
        plain = [{**field, "type": ["null", "int"]} if field["name"] in self._symbols else field for field in fields]
        written = json.dumps(self._checked | {"fields": [*plain, mark]}).encode()
        parts = (b"avro.schema", written, b"avro.codec", b"null")
        pairs = b"".join(write_varint(len(part)) + part for part in parts)
        self._head = b"Obj\x01" + write_varint(2) + pairs + b"\0" + _SYNC
        held = self._held(where)
        self.names = list(held)
        own = match_columns(held, columns, where)
        self._given = list(columns)
        self._beyond = [
            pl.col(name).to_physical().abs() >= pl.lit(10**kind.precision, pl.Int128)
            for name, kind in held.items()
            if isinstance(kind, pl.Decimal)
        ]
        self._columns = [
            (widen(self._column(own[name]), held[own[name]], kind) if name in own else pl.lit(None, kind)).alias(name)
            for name, kind in columns.items()
        ]

    def _held(self, where: str) -> dict[str, pl.DataType]:
        """The types of its fields as Polars has them."""
        try:
            schema = pl.read_avro(io.BytesIO(self._head)).schema
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise ConnectorError(f"{where} cannot be read: {error}") from None
        texts = dict.fromkeys(self._symbols, pl.String())
        return {name: kind for name, kind in (schema | texts).items() if name != self._mark_name}

    def _column(self, name: str) -> pl.Expr:
        """The field; Polars knows no enum that may be null, and has the numbers of its symbols."""
        symbols = self._symbols.get(name)
        column = pl.col(name)
        return column.replace_strict(range(len(symbols)), symbols, return_dtype=pl.String) if symbols else column

    def read(self, bodies: Sequence[bytes]) -> tuple[pl.DataFrame, list[int], dict[int, str]]:
        """The rows of the good ones, which these are, and why the others are bad."""
        everything = list(range(len(bodies)))
        frame = self._read(bodies)
        if frame is not None:
            return frame, everything, {}
        bad = {index: reason for index in everything if (reason := self._reason(bodies[index]))}
        good = [index for index in everything if index not in bad]
        frame = self._read([bodies[index] for index in good])
        assert frame is not None, "Polars refuses Avro records that have the schema's form"
        return frame, good, bad

    def _read(self, bodies: Sequence[bytes]) -> pl.DataFrame | None:
        """All rows; None if one of the records is not of the schema, or has a value that is not of its field's type."""
        data = self._mark.join([*bodies, b""])
        file = b"".join((self._head, write_varint(len(bodies)), write_varint(len(data)), data, _SYNC))
        try:
            frame = pl.read_avro(io.BytesIO(file if bodies else self._head))
            if frame.height != len(bodies) or not frame[self._mark_name].eq(pl.Series([self._mark])).all():
                return None
            if self._beyond and frame.select(pl.any_horizontal(self._beyond).any()).item():
                return None
            if not self._columns:
                return pl.DataFrame(height=frame.height)
            return frame.with_columns(self._columns).select(self._given)  # one NULL alone would be a frame of one row
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):  # the last where bytes are missing
            return None

    def _reason(self, body: bytes) -> str:
        try:
            check_body(self._checked, body)
        except ValueError as error:
            return str(error)
        return ""
