"""The spellings of types: Flink's, Postgres's and Spark's names for the types of `ouzel.compiler.types`."""

from __future__ import annotations

import difflib
from dataclasses import replace

from ouzel.compiler.sql.syntax.source import QueryText, Span, Tokens, is_word, span_of
from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    RowType,
    TimestampType,
    VarcharType,
)  # fmt: skip
from ouzel.errors import NotSupported, QueryError

_SIMPLE: dict[str, DataType] = {
    "BOOLEAN": BOOLEAN, "BOOL": BOOLEAN, "TINYINT": TINYINT, "SMALLINT": SMALLINT, "INT2": SMALLINT, "INT": INT, "INTEGER": INT,
    "INT4": INT, "BIGINT": BIGINT, "INT8": BIGINT, "LONG": BIGINT, "FLOAT": FLOAT, "REAL": FLOAT, "FLOAT4": FLOAT, "DOUBLE": DOUBLE,
    "FLOAT8": DOUBLE, "DATE": DATE, "STRING": VARCHAR, "TEXT": VARCHAR, "VARCHAR": VARCHAR, "CHAR": VARCHAR, "CHARACTER": VARCHAR,
    "BYTES": BYTES, "VARBINARY": BYTES, "BINARY": BYTES, "BYTEA": BYTES, "TIMESTAMP_LTZ": TIMESTAMP_LTZ,
    "TIMESTAMP_NTZ": TIMESTAMP, "TIMESTAMPTZ": TIMESTAMP_LTZ, "TIMESTAMP": TIMESTAMP, "DATETIME": TIMESTAMP,
}  # fmt: skip
_LENGTHS_MAX = {"VARCHAR", "CHAR", "CHARACTER", "VARBINARY", "BINARY"}
_PRECISION = {"TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMPTZ", "TIMESTAMP_NTZ"}
_KNOWN = (*_SIMPLE, "DECIMAL", "NUMERIC", "ARRAY", "MAP", "ROW")
_SHOWN = "BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, STRING, BYTES, DATE, TIMESTAMP, TIMESTAMP_LTZ, ARRAY, MAP, ROW"
_DIGITS = "write DECIMAL(18, 2) for two, or DECIMAL(10, 0) if none is meant"
_AS_TEXT = "write STRING, and JSON_VALUE(text, '$.path') for a value in it"
_FOREIGN = {
    "TIME": "write STRING, or a TIMESTAMP with a day",
    "JSON": _AS_TEXT, "JSONB": _AS_TEXT, "VARIANT": _AS_TEXT,
    "MULTISET": "write ARRAY<...>, or MAP<..., BIGINT> with how often each is there",
    "RAW": "write BYTES",
    "INTERVAL": "write BIGINT for a number of seconds, and TIMESTAMPADD(SECOND, n, t) to add it",
    "UUID": "write STRING",
    "SERIAL": "write BIGINT; nothing numbers rows here",
    "BIGSERIAL": "write BIGINT; nothing numbers rows here",
    "UNSIGNED": "write BIGINT",
    "ENUM": "write STRING",
    "NUMBER": "write DECIMAL(18, 2), or BIGINT for whole numbers",
    "HUGEINT": "write DECIMAL(38, 0)",
    "BLOB": "write BYTES",
    "MONEY": "write DECIMAL(18, 2)",
    "FLOAT64": "write DOUBLE", "FLOAT32": "write FLOAT", "INT64": "write BIGINT", "INT32": "write INT", "INT16": "write SMALLINT",
    "UINT64": "write DECIMAL(20, 0), or BIGINT", "UINT32": "write BIGINT", "SIGNED": "write BIGINT", "NVARCHAR": "write STRING",
    "VARCHAR2": "write STRING", "NVARCHAR2": "write STRING", "DATETIME2": "write TIMESTAMP(3)", "BIGNUMERIC": "write DECIMAL(38, 10)",
    "BIGDECIMAL": "write DECIMAL(38, 10)", "DATETIMEOFFSET": "write TIMESTAMP_LTZ(3)", "OBJECT": _AS_TEXT,
    "LIST": "write ARRAY<...>", "BIT": "write BOOLEAN", "MEDIUMINT": "write INT", "LONGTEXT": "write STRING", "MEDIUMTEXT": "write STRING",
    "UNIQUEIDENTIFIER": "write STRING", "STR": "write STRING",
}  # fmt: skip
"""Types of other systems, and what to write instead."""


def read_type(source: QueryText, tokens: Tokens) -> DataType:
    """The type that the tokens spell.

    Raises:
        QueryError: there is no such type.
        NotSupported: a type of other systems that Ouzel does not have.
    """
    reader = _TypeReader(source, tokens)
    kind = reader.type()
    if reader.at < len(tokens):
        extra = tokens[reader.at]
        advice = f"if {extra.text} is another column write a comma before it"
        raise source.error(f"{extra.text} does not belong to the type {kind}", reader.span(), advice)
    return kind


def read_type_at(source: QueryText, tokens: Tokens, at: int) -> tuple[DataType, int]:
    """The type that begins `at` that token, and the index behind its last.

    Raises:
        QueryError: there is no such type.
        NotSupported: a type of other systems that Ouzel does not have.
    """
    reader = _TypeReader(source, tokens, at)
    return reader.type(), reader.at


class _TypeReader:
    """Recursive descent over the tokens of one type."""

    def __init__(self, source: QueryText, tokens: Tokens, at: int = 0) -> None:
        self.source, self.tokens, self.at = source, tokens, at

    def type(self) -> DataType:
        """One type with its suffixes (`INT ARRAY`, `INT[]`)."""
        kind = self._base()
        while self._match("ARRAY") or self._match("[", "]"):
            kind = ArrayType(kind)
        return kind

    def span(self) -> Span:
        """Where the reader stands."""
        token = self.tokens[min(self.at, len(self.tokens) - 1)]
        return span_of([token])

    def _base(self) -> DataType:
        span = self.span()
        name = self._word().upper()
        match name:
            case "ARRAY" | "MAP" | "ROW" | "STRUCT":
                return self._read_nested(name, span)
            case "DECIMAL" | "NUMERIC" | "DEC":
                return self._decimal(span)
        if name not in _SIMPLE:
            raise self._unknown(name, span)
        self._match("PRECISION" if name == "DOUBLE" else "VARYING")
        numbers = self._arguments() if name in _LENGTHS_MAX | _PRECISION else []
        kind = self._read_zone(_SIMPLE[name]) if name == "TIMESTAMP" else _SIMPLE[name]
        if isinstance(kind, VarcharType) and numbers:
            return VarcharType(numbers[0], padded=not name.startswith("VAR"))
        return replace(kind, digits=numbers[0]) if isinstance(kind, TimestampType) and numbers else kind

    def _read_nested(self, name: str, span: Span) -> DataType:
        closing = self._open(name, span)
        if name == "ARRAY":
            kind: DataType = ArrayType(self.type())
        elif name == "MAP":
            key = self.type()
            self._expect(",")
            kind = MapType(key, self.type())
        else:
            fields = [self._field()]
            while self._match(","):
                fields.append(self._field())
            kind = RowType(tuple(fields))
        self._expect(closing)
        return kind

    def _field(self) -> tuple[str, DataType]:
        """`a INT`, or `a: INT` as Spark and Hive write it."""
        name = self._word()
        self._match(":")
        return name, self.type()

    def _open(self, name: str, span: Span) -> str:
        for opening, closing in (("<", ">"), ("(", ")")):
            if self._match(opening):
                return closing
        shape = {"ARRAY": "ARRAY<INT>", "MAP": "MAP<STRING, INT>"}.get(name, "ROW<a INT, b STRING>")
        raise self.source.error(f"{name} does not say of what", span, f"write for example {shape}")

    def _decimal(self, span: Span) -> DataType:
        if not self._peek("("):
            self.source.note(
                "DECIMAL without precision is DECIMAL(10, 0), which has no digits after its point", span, _DIGITS
            )
            return DecimalType(10, 0)
        precision, scale = (*self._arguments(), 0, 0)[:2]
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise self.source.error(
                f"DECIMAL({precision}, {scale}) is out of range",
                span,
                "precision goes from 1 to 38 and scale from 0 to precision",
            )
        return DecimalType(precision, scale)

    def _arguments(self) -> list[int]:
        numbers: list[int] = []
        if not self._match("("):
            return numbers
        while not self._match(")"):
            text = self._word()
            if not text.isdigit():
                raise self.source.error(
                    f"{text} is not a length", span_of([self.tokens[self.at - 1]]), "write a whole number"
                )
            numbers.append(int(text))
            self._match(",")
        return numbers

    def _read_zone(self, kind: DataType) -> DataType:
        if self._match("WITHOUT"):
            self._expect("TIME")
            self._expect("ZONE")
        elif self._match("WITH"):
            self._match("LOCAL")
            self._expect("TIME")
            self._expect("ZONE")
            return TIMESTAMP_LTZ
        return kind

    def _unknown(self, name: str, span: Span) -> QueryError:
        if name in _FOREIGN:
            return self.source.error(f"the type {name} is not supported", span, _FOREIGN[name], NotSupported)
        near = difflib.get_close_matches(name, _KNOWN, 1)
        return self.source.error(
            f"there is no type {name}",
            span,
            f"did you mean {near[0]}?" if near else f"the types are {_SHOWN}",
        )

    def _word(self) -> str:
        if self.at >= len(self.tokens):
            raise self.source.error("the type ends too early", self.span())
        self.at += 1
        return self.tokens[self.at - 1].text

    def _peek(self, *texts: str) -> bool:
        ahead = self.tokens[self.at : self.at + len(texts)]
        return len(ahead) == len(texts) and all(map(is_word, ahead, texts))

    def _match(self, *texts: str) -> bool:
        found = self._peek(*texts)
        self.at += found * len(texts)
        return found

    def _expect(self, text: str) -> None:
        if not self._match(text):
            raise self.source.error(f"the type lacks a {text} here", self.span())
