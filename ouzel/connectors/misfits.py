"""What a text may mean that does not fit its column: no value, or a number of another type."""

from __future__ import annotations

import re

NULL_WORDS = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "\\N", "None", "nan", "-", "?")
"""Texts that may mean NULL in a column of numbers."""

_MISFIT = re.compile(r"'([^']*)' does not fit column ")
_FRACTION = re.compile(r"'?[+-]?\d+\.(\d+)'? does not fit column '(.*)' of type (?:TINYINT|SMALLINT|INT|BIGINT)$")
_COMMA = re.compile(r"'?[+-]?\d+,\d+'? does not fit column '(.*)' of type (?:FLOAT|DOUBLE|DECIMAL\(\d+, \d+\))$")


def find_null_word(reason: str, raw: str) -> str:
    """The word of these for which a record of CSV is bad, by the reason and its text; empty if it is bad for another reason."""
    found = _MISFIT.match(reason)
    word = found[1] if found else ""
    return word if word in NULL_WORDS and not raw.lstrip().startswith(("{", "[")) else ""


def find_comma(reason: str) -> str:
    """The column of a number with a decimal comma; empty if the record is bad for another reason."""
    found = _COMMA.match(reason)
    return found[1] if found else ""


def find_decimal(reason: str) -> tuple[str, str] | None:
    """The column and the type that take the number for which a record of whole numbers is bad; None if it is bad for another reason."""
    found = _FRACTION.match(reason)
    return (found[2], f"DECIMAL(18, {len(found[1])})") if found and len(found[1]) <= 18 else None
