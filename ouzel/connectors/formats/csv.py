"""CSV (RFC 4180): fields by the header's names, or by position as 'csv.columns' says. Every field is read as text, then converted."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import polars as pl

from ouzel.connectors.base import Option
from ouzel.connectors.formats.base import Decoded, Format, Records, looks_packed
from ouzel.connectors.formats.conversion import convert, from_text, merge, sql_name
from ouzel.errors import ConnectorError, QueryError

FORMAT = Format(
    "csv",
    "Fields separated by a delimiter (RFC 4180), values as JSON text has them. A field equal to `csv.null`, quoted or not, is NULL: "
    "with the default an empty text is NULL too. ARRAY, MAP and ROW have no place in it.",
    (
        Option("csv.delimiter", "One character between fields; `\\t` is a tab.", ","),
        Option(
            "csv.header",
            "Whether a file's first line names its fields; records of other sources have none.",
            "true",
            kind="boolean",
        ),
        Option("csv.columns", "Names of the fields in order, where no header says them."),
        Option(
            "csv.quote", "One character around fields that hold a delimiter, quote or line end; empty for none.", '"'
        ),
        Option("csv.null", "What stands for NULL.", ""),
    ),
    "ouzel.connectors.formats.csv:CsvDecoder",
    "ouzel.connectors.formats.csv:CsvEncoder",
)
_DEFAULTS = {option.name: option.default or "" for option in FORMAT.options}


class Dialect:
    """How fields are told apart."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {**_DEFAULTS, **options}
        self.delimiter = given["csv.delimiter"].replace("\\t", "\t")
        self.quote, self.null = given["csv.quote"], given["csv.null"]
        self.header = given["csv.header"] == "true"
        self.columns = tuple(name.strip() for name in given["csv.columns"].split(",") if name.strip())

    def fields(self, record: bytes) -> list[str]:
        """The fields of one record.

        Raises:
            ValueError: it is not UTF-8, or a quote is out of place.
        """
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        text = io.StringIO(record.decode().removesuffix("\r"), newline="")
        try:
            rows = list(
                csv.reader(text, delimiter=self.delimiter, quotechar=self.quote or None, quoting=quoting, strict=True)
            )
        except csv.Error as error:
            raise ValueError(f"it is not CSV ({error})") from None
        if len(rows) > 1:
            raise ValueError("it is not CSV (a line end outside quotes)")
        return rows[0] if rows else [""]


def check(options: Mapping[str, str], headed: bool) -> None:
    """See that the options make sense; `headed` is whether this connector's data can have a header.

    Raises:
        QueryError: they do not.
    """
    dialect = Dialect(options)
    if len(dialect.delimiter.encode()) != 1 or len(dialect.quote.encode()) > 1:
        raise QueryError("'csv.delimiter' and 'csv.quote' are one ASCII character each", instead="write ',' and '\"'")
    twice = [name for number, name in enumerate(dialect.columns) if name in dialect.columns[:number]]
    if twice:
        raise QueryError(f"'csv.columns' names '{twice[0]}' twice", instead="give each field a name of its own")
    if not dialect.columns and not (headed and dialect.header):
        raise QueryError(
            "nothing says which CSV field is which column",
            instead="list the fields in order: 'csv.columns' = 'a, b, c'",
        )


class CsvDecoder:
    """Decodes CSV records; `names` are the fields in order."""

    def __init__(
        self, options: Mapping[str, str], columns: Mapping[str, pl.DataType], required: frozenset[str]
    ) -> None:
        self.dialect = Dialect(options)
        self.names = self.dialect.columns
        self.columns, self.required = dict(columns), required
        for name, kind in columns.items():
            if isinstance(kind, (pl.List, pl.Struct)):
                raise ConnectorError(
                    f"the format 'csv' cannot hold column '{name}' of type {sql_name(kind)}; use 'json'"
                )
        self._changes = {name: from_text(kind) for name, kind in columns.items() if not isinstance(kind, pl.String)}

    def name_fields(self, header: bytes, where: str) -> None:
        """Take the fields' names from a file's first line.

        Raises:
            ConnectorError: a column is not among them, or one comes twice.
        """
        try:
            found = tuple(self.dialect.fields(header))
        except ValueError as error:
            raise ConnectorError(f"the header of {where} cannot be read: {error}") from None
        self.names = self.dialect.columns or found
        twice = [name for number, name in enumerate(self.names) if name in self.names[:number]]
        if twice:
            raise ConnectorError(
                f"the header of {where} names '{twice[0]}' twice; give the fields names of your own: 'csv.columns' = 'a, b, c'"
            )
        lacking = [name for name in self.columns if name not in self.names]
        if lacking:
            raise ConnectorError(f"{where} has no field '{lacking[0]}'; its header names {', '.join(found)}")

    def decode(self, records: Records) -> Decoded:
        """Decode all of them."""
        raw = self._parse(records)
        return self._finish(raw) if raw is not None else self._sift(records)

    def _finish(self, raw: pl.DataFrame) -> Decoded:
        null = self.dialect.null
        raw = raw.select(pl.when(pl.col(name) != null).then(pl.col(name)).alias(name) for name in self.columns)
        return convert(raw, self.columns, self._changes, self.required)

    def _parse(self, records: Records) -> pl.DataFrame | None:
        """All at once; None unless every record plainly has the right number of fields."""
        if not len(records) or looks_packed(records.blob) or not self._regular(records):
            return None
        try:
            raw = pl.read_csv(
                io.BytesIO(records.blob),
                has_header=False,
                schema=dict.fromkeys(self.names, pl.String()),
                separator=self.dialect.delimiter,
                quote_char=self.dialect.quote or None,
                empty_string_is_null=False,
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None
        return raw if raw.height == len(records) else None

    def _regular(self, records: Records) -> bool:
        """Whether every record has balanced quotes and the delimiters, outside quotes, of all its fields."""
        data = np.frombuffer(records.blob, np.uint8)
        delimiters = np.flatnonzero(data == ord(self.dialect.delimiter))
        if self.dialect.quote:
            quotes = np.flatnonzero(data == ord(self.dialect.quote))
            if np.any(np.searchsorted(quotes, records.ends) & 1):
                return False
            delimiters = delimiters[np.searchsorted(quotes, delimiters) & 1 == 0]
        counts = np.diff(
            np.searchsorted(delimiters, records.ends), prepend=np.searchsorted(delimiters, records.starts[0])
        )
        return bool(np.all(counts == len(self.names) - 1))

    def _sift(self, records: Records) -> Decoded:
        """Look at each record by itself."""
        rows: list[list[str]] = []
        good: list[int] = []
        bad: dict[int, str] = {}
        for index, record in enumerate(records.values()):
            try:
                rows.append(self._fields(record))
                good.append(index)
            except ValueError as error:
                bad[index] = str(error)
        raw = pl.DataFrame(rows, schema=dict.fromkeys(self.names, pl.String()), orient="row")
        return merge(self._finish(raw), good, bad, len(records))

    def _fields(self, record: bytes) -> list[str]:
        fields = self.dialect.fields(record)
        if len(fields) != len(self.names):
            raise ValueError(f"it has {len(fields)} fields instead of {len(self.names)}")
        return fields


class CsvEncoder:
    """Encodes rows as CSV records."""

    def __init__(self, options: Mapping[str, str], columns: Mapping[str, pl.DataType]) -> None:
        self.dialect = Dialect(options)
        self._columns = columns
        for name, kind in columns.items():
            if isinstance(kind, (pl.List, pl.Struct)):
                raise ConnectorError(
                    f"the format 'csv' cannot hold column '{name}' of type {sql_name(kind)}; use 'json'"
                )

    def encode(self, frame: pl.DataFrame) -> list[bytes]:
        """One record a row."""
        return [self.lines(frame[row : row + 1]).removesuffix(b"\n") for row in range(frame.height)]

    def lines(self, frame: pl.DataFrame) -> bytes:
        """One record a line."""
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
