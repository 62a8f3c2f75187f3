"""Words that files have where there is no value."""

from __future__ import annotations

import re

NULL_WORDS = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "\\N", "None", "nan", "-", "?")
"""Texts that may mean NULL in a column of numbers."""

_MISFIT = re.compile(r"'([^']*)' does not fit column ")


def find_null_word(reason: str, raw: str) -> str:
    """The word of these for which a record of CSV is bad, by the reason and its text; empty if it is bad for another reason."""
    found = _MISFIT.match(reason)
    word = found[1] if found else ""
    return word if word in NULL_WORDS and not raw.lstrip().startswith(("{", "[")) else ""
