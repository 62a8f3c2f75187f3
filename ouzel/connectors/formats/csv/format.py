"""CSV (RFC 4180): fields by the header's names, or by position as 'csv.columns' says. Every field is read as text, then converted."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl

from ouzel.connectors.base import Alias, Option
from ouzel.connectors.formats.base import Decoded, Format, Records, looks_packed
from ouzel.connectors.formats.conversion import convert_columns, merge, parse_column, sql_name
from ouzel.connectors.formats.csv.facts import AFTER_QUOTE, AT, FIELD, FIELDS, KIND, LINE_END, PLAIN, UNCLOSED
from ouzel.connectors.formats.csv.first_lines import describe_blanks, describe_excel
from ouzel.connectors.formats.csv.records import count_fields, find_ends, judge_records, split_fields
from ouzel.connectors.misfits import advise_utf8
from ouzel.errors import ConnectorError, QueryError
from ouzel.lists import split_list

FORMAT = Format(
    "csv",
    "Fields separated by a delimiter (RFC 4180), values as JSON text has them. A header's names match columns whatever their case, and "
    "each file of a table may have its own order. A field equal to `csv.null`, quoted or not, is NULL; with the default, though, a "
    "VARCHAR's or BYTES' `\"\"` is empty and not NULL. In a column of another type every empty field is NULL. A line end between quotes "
    "belongs to its field, and a bad record is bad with all its lines: a quote that nothing closes takes the lines up to the end of the "
    "file, or up to 16 MB, and the reason says which. ARRAY, MAP and ROW have no place in it.",
    (
        Option(
            "csv.delimiter",
            "One character between fields; `\\t` is a tab.",
            ",",
            aliases=(Alias("csv.field-delimiter"),),
        ),
        Option(
            "csv.header",
            "Whether a file's first line names its fields; records of other sources have none.",
            "true",
            kind="boolean",
        ),
        Option("csv.columns", "Names of the fields in order, where no header says them."),
        Option(
            "csv.quote",
            "One character around fields that hold a delimiter, quote or line end; empty for none.",
            '"',
            aliases=(Alias("csv.quote-character"),),
        ),
        Option("csv.null", "What stands for NULL.", "", aliases=(Alias("csv.null-literal"),)),
    ),
    "ouzel.connectors.formats.csv.format:CsvDecoder",
    "ouzel.connectors.formats.csv.format:CsvEncoder",
    kernels="ouzel.connectors.formats.csv.kernels",
)
_MAY_BE_EMPTY = (pl.String, pl.Binary)
"""What an empty field is a value of."""

_DEFAULTS = {option.name: option.default or "" for option in FORMAT.options}


_DELIMITERS = ",;\t|"
"""What may stand between the fields of a file."""


class Dialect:
    """How fields are told apart."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {**_DEFAULTS, **options}
        self.delimiter = given["csv.delimiter"].replace("\\t", "\t")
        self.quote, self.null = given["csv.quote"], given["csv.null"]
        self.header = given["csv.header"] == "true"
        self.columns = split_list(given["csv.columns"])

    def judge(self, records: Records) -> np.ndarray:
        """What each record is made of, as `records.judge_records` says it."""
        data, delimiter = np.frombuffer(records.blob, np.uint8), ord(self.delimiter)
        odd = b"\r" in records.blob or records.blob.count(b"\n") > len(records)
        if odd or (self.quote and self.quote.encode() in records.blob):
            return judge_records(data, records.starts, records.ends, self.quote_byte, delimiter)
        return count_fields(data, records.starts, records.ends, delimiter)

    def cut(self, data: np.ndarray, bytes_max: int) -> tuple[np.ndarray, np.ndarray]:
        """Where records end, and the number of lines up to there, as `records.find_ends` says it."""
        return find_ends(data, self.quote_byte, ord(self.delimiter), bytes_max)

    def other_delimiter(self, record: bytes) -> str:
        """The sign that parts a record which this delimiter leaves whole; empty if none does, or if the record is no text."""
        counts = {}
        with suppress(ValueError):
            counts = {sign: len(self._with(sign).fields(record)) for sign in (self.delimiter, *_DELIMITERS)}
        sign = max(counts, key=lambda sign: counts[sign], default="")
        return sign.replace("\t", "\\t") if counts.get(self.delimiter) == 1 < counts[sign] else ""

    def _with(self, delimiter: str) -> Dialect:
        other = copy(self)
        other.delimiter = delimiter
        return other

    @property
    def quote_byte(self) -> int:
        """The quote; -1 for none."""
        return ord(self.quote) if self.quote else -1

    def fields(self, record: bytes, names: Sequence[str] = ()) -> list[str]:
        """The fields of one record, called by their names.

        Raises:
            ValueError: it is not CSV, or not UTF-8.
        """
        return [field or "" for field in self.split(record, self.judge(Records.of([record]))[0], names)]

    def split(self, record: bytes, facts: np.ndarray, names: Sequence[str]) -> list[str | None]:
        """The same of a record that has been judged; None is a field of no bytes, without even quotes."""
        if facts[KIND] in FAULTS:
            fault = FAULTS[int(facts[KIND])].format(_name_field(int(facts[FIELD]), names))
            raise ValueError(f"{fault}: {_show(record[int(facts[AT]) :])}")
        fields = split_fields(record.removesuffix(b"\r"), self.quote.encode(), self.delimiter.encode())
        try:
            return [None if field is None else field.decode() for field in fields]
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{_name_field(fields.index(error.object), names)} is not UTF-8: {_show(error.object)}"
            ) from None


_SPELLED = {
    "tab": "\\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "bar": "|",
    "space": " ",
    "colon": ":",
    "none": "",
}
"""Signs that some spell out, and how an option has them."""


def convert_advice(error: ValueError, path: str) -> str:
    """What goes behind the error of a file's first line: how one that is not UTF-8 becomes so."""
    return f"; if the file is Latin-1, `{advise_utf8(path)}` makes one of UTF-8" if " not UTF-8" in str(error) else ""


def check_signs(options: Mapping[str, str]) -> None:
    """See that fields can be told apart.

    Raises:
        QueryError: they cannot, by what the options say.
    """
    dialect = Dialect(options)
    for option, sign, lengths in (("csv.delimiter", dialect.delimiter, (1,)), ("csv.quote", dialect.quote, (0, 1))):
        if len(sign.encode()) not in lengths:
            usual = _SPELLED.get(sign.lower(), "," if option == "csv.delimiter" else '"')
            raise QueryError(
                f"'{option}' is one ASCII character, and '{sign}' is none", instead=f"write '{option}' = '{usual}'"
            )
    if dialect.delimiter in ("\r", "\n") or dialect.quote in ("\r", "\n"):
        raise QueryError("'csv.delimiter' and 'csv.quote' are no end of a line", instead="write ',' and '\"'")
    if dialect.delimiter == dialect.quote:
        raise QueryError(
            "'csv.delimiter' and 'csv.quote' are the same character", instead="write 'csv.quote' = '' for no quotes"
        )


def check_csv_options(options: Mapping[str, str], headed: bool) -> None:
    """See that the options make sense; `headed` is whether this connector's data can have a header.

    Raises:
        QueryError: they do not.
    """
    check_signs(options)
    dialect = Dialect(options)
    lower = [name.lower() for name in dialect.columns]
    twice = [name for number, name in enumerate(dialect.columns) if lower[number] in lower[:number]]
    if twice:
        raise QueryError(f"'csv.columns' names '{twice[0]}' twice", instead="give each field a name of its own")
    if not dialect.columns and not (headed and dialect.header):
        raise QueryError(
            "nothing says which CSV field is which column",
            instead="list the fields in order: 'csv.columns' = 'a, b, c'",
        )


def _refuse_nested(columns: Mapping[str, pl.DataType]) -> None:
    for name, kind in columns.items():
        if isinstance(kind, (pl.List, pl.Struct)):
            raise ConnectorError(f"the format 'csv' cannot hold column '{name}' of type {sql_name(kind)}; use 'json'")


class LackingColumn(ConnectorError):
    """The header of a file has no such `column`; `is_answered` if the message says what is likely meant."""

    def __init__(self, message: str, column: str, is_answered: bool) -> None:
        super().__init__(message)
        self.column, self.is_answered = column, is_answered


class CsvDecoder:
    """Decodes CSV records; `names` are the fields in order."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self.dialect = Dialect(options)
        self.columns, self.required = dict(columns), required
        _refuse_nested(columns)
        self._changes = {name: parse_column(kind) for name, kind in columns.items() if not isinstance(kind, pl.String)}
        self._empty_is_null = self.dialect.null == ""
        self._name(self.dialect.columns)

    def _name(self, names: Sequence[str]) -> None:
        """Take the fields' names: a column finds its own whatever its case, and a field that none asks for is known by its place."""
        asked = {name.lower(): name for name in self.columns}
        self.names = tuple(names)
        self._keys = [asked.get(name.lower(), f"${place}") for place, name in enumerate(names)]

    def name_fields(self, header: bytes, where: str) -> None:
        """Take the fields' names from a file's first line.

        Raises:
            LackingColumn: a column is not among them.
            ConnectorError: one comes twice, or the line cannot be read.
        """
        try:
            found = tuple(self.dialect.fields(header))
        except ValueError as error:
            raise ConnectorError(
                f"the header of {where} cannot be read: {error}{convert_advice(error, where)}"
            ) from None
        self._name(self.dialect.columns or found)
        twice = [name for place, name in enumerate(self.names) if self._keys[place] in self._keys[:place]]
        if twice:
            raise ConnectorError(
                f"the header of {where} names '{twice[0]}' twice; give the fields names of your own: 'csv.columns' = 'a, b, c'"
            )
        lacking = [name for name in self.columns if name not in self._keys]
        if lacking:
            raise self._describe_lacking(lacking[0], header, found, where)

    def _describe_lacking(self, column: str, header: bytes, found: Sequence[str], where: str) -> LackingColumn:
        dialect = self.dialect
        if excel := describe_excel(header, where, dialect.delimiter):
            return LackingColumn(excel, column, True)
        told = f"its header names {', '.join(found)}" if any(found) else "its first line, the header, is empty"
        meant = ""
        if other := dialect.other_delimiter(header):
            meant = f"; write 'csv.delimiter' = '{other}'"
        elif blanks := describe_blanks(column, found, where, dialect.delimiter):
            meant = f"; {blanks}"
        elif near := get_close_matches(column.lower(), found, 1):
            meant = f"; did you mean {near[0]}?"
        return LackingColumn(f"{where} has no column '{column}'; {told}{meant}", column, bool(meant))

    def decode(self, records: Records) -> Decoded:
        """Decode all of them: those that every reader takes alike at once, the others one by one."""
        if not len(records):
            return self._finish(self._frame([]))
        facts = self.dialect.judge(records)
        plain = np.flatnonzero((facts[:, FIELDS] == len(self.names)) & (facts[:, KIND] == PLAIN))
        raw = self._parse(records if len(plain) == len(records) else records.pick(plain.tolist()))
        if raw is None:
            plain, raw = plain[:0], self._frame([])
        if len(plain) == len(records):
            return self._finish(raw)
        return self._sift(records, facts, plain, raw)

    def _frame(self, rows: list[list[str | None]]) -> pl.DataFrame:
        return pl.DataFrame(rows, schema=self._schema, orient="row")

    @property
    def _schema(self) -> dict[str, pl.DataType]:
        return dict.fromkeys(self._keys, pl.String())

    def _finish(self, raw: pl.DataFrame) -> Decoded:
        """The columns. A field of no bytes is NULL already where that is what stands for NULL."""
        null = self.dialect.null
        words = {name: {null} if isinstance(kind, _MAY_BE_EMPTY) else {"", null} for name, kind in self.columns.items()}
        if self._empty_is_null:
            words = {name: words[name] for name, kind in self.columns.items() if not isinstance(kind, _MAY_BE_EMPTY)}
        raw = raw.select(
            pl.when(~pl.col(name).is_in([*words[name]])).then(pl.col(name)).alias(name) if name in words else name
            for name in self.columns
        )
        return convert_columns(raw, self.columns, self._changes, self.required)

    def _parse(self, records: Records) -> pl.DataFrame | None:
        """All at once; None where that fails."""
        if looks_packed(records.blob):
            return None
        try:
            raw = pl.read_csv(
                io.BytesIO(records.blob),
                has_header=False,
                schema=self._schema,
                separator=self.dialect.delimiter,
                quote_char=self.dialect.quote or None,
                empty_string_is_null=self._empty_is_null,
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        return raw if raw.height == len(records) else None

    def _sift(self, records: Records, facts: np.ndarray, done: np.ndarray, raw: pl.DataFrame) -> Decoded:
        """Look at each record by itself, but for those that are `done` and stand in `raw`."""
        rows: list[list[str | None]] = []
        good: list[int] = []
        bad: dict[int, str] = {}
        for index in np.delete(np.arange(len(records)), done).tolist():
            try:
                rows.append(self._fields(records[index], facts[index]))
                good.append(index)
            except ValueError as error:
                bad[index] = str(error)
        indices = np.concatenate([done, np.array(good, np.int64)])
        order = np.argsort(indices)
        every = pl.concat([raw, self._frame(rows)])[order]
        return merge(self._finish(every), indices[order].tolist(), bad, len(records))

    def _fields(self, record: bytes, facts: np.ndarray) -> list[str | None]:
        fields = self.dialect.split(record, facts, self.names)
        if not self._empty_is_null:
            fields = [field or "" for field in fields]
        if len(fields) != len(self.names):
            raise ValueError(f"it has {len(fields)} fields instead of {len(self.names)}")
        return fields


FAULTS = {
    AFTER_QUOTE: "{} has text behind its closing quote",
    UNCLOSED: "the quote that opens {} is not closed",
    LINE_END: "{} has a line end outside quotes",
}
"""What is wrong with a record, by its kind."""


def _name_field(field: int, names: Sequence[str]) -> str:
    return f"column '{names[field]}'" if field < len(names) else f"field {field + 1}"


def _show(value: bytes) -> str:
    """As much of a value as fits into a message."""
    return repr(value[:40].decode(errors="replace")) + "..." * (len(value) > 40)


class CsvEncoder:
    """Encodes rows as CSV records."""

    def __init__(self, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> None:
        self.dialect = Dialect(options)
        self._columns = columns
        _refuse_nested(columns)

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One record a row."""
        return [self._text(frame[row : row + 1]).removesuffix(b"\n") for row in range(frame.height)]

    def lines(self, frame: pl.DataFrame) -> bytes:
        """One record a line.

        Raises:
            ConnectorError: a line would be blank, which is no record to any reader.
        """
        if frame.width == 1 and not self.dialect.null and frame.to_series().null_count():
            raise ConnectorError(
                f"NULL in '{frame.columns[0]}', the one column, would be a blank line, which readers pass over; "
                "say what stands for NULL: 'csv.null' = '\\N'"
            )
        return self._text(frame)

    def _text(self, frame: pl.DataFrame) -> bytes:
        text = frame.with_columns(
            pl.selectors.binary().bin.encode("base64"), pl.selectors.duration().dt.total_microseconds()
        )
        made: str = text.write_csv(**self._dialect(), include_header=False)
        return made.encode()

    def header(self) -> bytes:
        """The columns' names, if files have a header."""
        if not self.dialect.header:
            return b""
        made: str = pl.DataFrame(schema=dict.fromkeys(self._columns, pl.String())).write_csv(**self._dialect())
        return made.encode()

    def _dialect(self) -> dict[str, Any]:
        style: dict[str, Any] = {"quote_style": "necessary"} if self.dialect.quote else {"quote_style": "never"}
        if self.dialect.quote:
            style["quote_char"] = self.dialect.quote
        return {"separator": self.dialect.delimiter, "null_value": self.dialect.null, **style}
