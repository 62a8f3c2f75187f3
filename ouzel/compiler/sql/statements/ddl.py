"""The other way: a schema as the text of CREATE TABLE, which reads back as the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sqlglot.tokens import Tokenizer

from ouzel.compiler.types import ArrayType, DataType, MapType, RowType, Schema

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset(word for phrase in Tokenizer.KEYWORDS for word in phrase.split()) | {
    "WATERMARK", "LIKE", "METADATA", "CONSTRAINT", "EMIT", "SYSTEM_TIME", "WITHIN", "TOP", "SORT", "MINUS", "TABLE", "SOURCE",
}  # fmt: skip
"""Words that mean something somewhere; a name that is one of them is written in quotes, whether it needs them or not."""


def name_text(name: str) -> str:
    """A name, in quotes where it might be taken for something else."""
    if _PLAIN.fullmatch(name) and name.upper() not in _WORDS:
        return name
    return quoted_name(name)


def quoted_name(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def string_text(value: str) -> str:
    """A string."""
    return "'" + value.replace("'", "''") + "'"


def type_text(kind: DataType) -> str:
    """A type; the fields of a ROW are in quotes, so that their case counts, as it does where they were found."""
    match kind:
        case ArrayType(element):
            return f"ARRAY<{type_text(element)}>"
        case MapType(key, value):
            return f"MAP<{type_text(key)}, {type_text(value)}>"
        case RowType(fields):
            return f"ROW<{', '.join(f'{quoted_name(name)} {type_text(inner)}' for name, inner in fields)}>"
    return str(kind)


def column_texts(columns: Schema) -> list[str]:
    """Each column's definition; of two whose names differ in case only both are in quotes."""
    lowered = [name.lower() for name in columns.names]
    return [
        f"{quoted_name(field.name) if lowered.count(field.name.lower()) > 1 else name_text(field.name)} {type_text(field.type)}"
        + ("" if field.nullable else " NOT NULL")
        for field in columns
    ]


def options_text(options: Mapping[str, str]) -> str:
    """The clause WITH."""
    return f"WITH ({', '.join(f'{string_text(key)} = {string_text(value)}' for key, value in options.items())})"


def table_text(name: str, elements: Iterable[str], options: Mapping[str, str]) -> str:
    """A whole CREATE TABLE, without a semicolon."""
    return f"CREATE TABLE {name_text(name)} (\n  " + ",\n  ".join(elements) + f"\n) {options_text(options)}"
