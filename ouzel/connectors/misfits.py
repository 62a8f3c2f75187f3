"""What a text may mean that does not fit its column: no value, or a number of another type."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

NULL_WORDS = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "\\N", "None", "nan", "-", "?")
"""Texts that may mean NULL in a column of numbers."""

_MISFIT = re.compile(r"'([^']*)' does not fit column ")
_FRACTION = re.compile(r"'?[+-]?\d+\.(\d+)'? does not fit column '(.*)' of type (?:TINYINT|SMALLINT|INT|BIGINT)$")
_SIGNED = re.compile(
    r"'?[+-]?(?:\d+|\d{1,3}(?:(?P<thousands>[.,'])\d{3})+)(?P<point>[.,])\d+'? does not fit column '(?P<column>.*)' "
    r"of type (?P<type>FLOAT|DOUBLE|DECIMAL\(\d+, \d+\))$"
)


def find_null_word(reason: str, raw: str) -> str:
    """The word of these for which a record of CSV is bad, by the reason and its text; empty if it is bad for another reason."""
    found = _MISFIT.match(reason)
    word = found[1] if found else ""
    return word if word in NULL_WORDS and not raw.lstrip().startswith(("{", "[")) else ""


class ForeignNumber(NamedTuple):
    """The column of a number with other signs than a point: `thousands`, which may be empty, parts its thousands."""

    column: str
    type: str
    thousands: str
    point: str

    @property
    def signs(self) -> list[tuple[str, str]]:
        """What is replaced in it, by what, in order."""
        pairs = [(self.thousands, ""), (self.point, ".")]
        return [(sign, own) for sign, own in pairs if sign not in ("", own)]


def find_foreign_number(reason: str) -> ForeignNumber | None:
    """The number with a decimal comma or parted thousands for which a record is bad; None if it is bad for another reason."""
    found = _SIGNED.match(reason)
    if found is None or found["thousands"] == found["point"] or (not found["thousands"] and found["point"] == "."):
        return None
    return ForeignNumber(found["column"], found["type"], found["thousands"] or "", found["point"])


_OWN_SIGNS = re.compile(r"[+-]?\d*\.?\d+")
_OTHERS = r"[\s%€$£¥₹]*"
_SIGNS = re.compile(
    rf"(?P<before>{_OTHERS})[+-]?(?:\d+|\d{{1,3}}(?:(?P<thousands>[.,' ])\d{{3}})(?:(?P=thousands)\d{{3}})*)"
    rf"(?P<rest>[.,]\d+)?(?P<behind>{_OTHERS})"
)


class NumberSigns(NamedTuple):
    """How texts write numbers: what parts `thousands`, the decimal `point`, each empty where none is, and whether there are `others`, as $.

    `sample` is one of the texts. Of `1,234` alone nobody knows which of the two the comma is: it `may_part_thousands`.
    """

    sample: str
    thousands: str
    point: str
    others: bool
    may_part_thousands: bool = False

    def read(self, written: str) -> str:
        """SQL that makes of such a text one that CAST reads."""
        if self.others:
            written = f"REGEXP_REPLACE({written}, '[^0-9{self.point}-]', '')"
        elif self.thousands:
            written = f"REPLACE({written}, {quote_text(self.thousands)}, '')"
        return f"REPLACE({written}, ',', '.')" if self.point == "," else written


def find_signs(texts: Iterable[str]) -> NumberSigns | None:
    """How these texts write numbers where CAST cannot read them; None if no text is such a number, or two contradict each other."""
    found = [signs for text in texts if (signs := _signs_of(text.strip())) is not None]
    if not found:
        return None
    known = [signs for signs in found if not signs.may_part_thousands] or found
    points, thousands = {signs.point for signs in known} - {""}, {signs.thousands for signs in known} - {""}
    if len(points) > 1 or len(thousands) > 1 or points & thousands:
        return None
    others = any(signs.others for signs in found)
    return known[0]._replace(point=next(iter(points), ""), thousands=next(iter(thousands), ""), others=others)


def _signs_of(text: str) -> NumberSigns | None:
    found = _SIGNS.fullmatch(text)
    if found is None or _OWN_SIGNS.fullmatch(text):
        return None
    thousands, rest = found["thousands"] or "", found["rest"] or ""
    others = bool((found["before"] + found["behind"]).strip())
    if not thousands and rest[:1] == "," and len(rest) == 4:  # three digits behind the comma
        return NumberSigns(text, ",", "", others, may_part_thousands=True)
    return None if thousands and thousands == rest[:1] else NumberSigns(text, thousands, rest[:1], others)


def quote_text(text: str) -> str:
    """The text as a constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def advise_utf8(path: str, encoding: str = "latin1") -> str:
    """How a file of text becomes one of UTF-8, which is what is read."""
    name = PurePath(path)
    written, made = shlex.quote(path), shlex.quote(str(name.with_name(f"{name.stem}.utf8{name.suffix}")))
    return f"iconv -f {encoding} -t utf-8 {written} > {made}"


def find_decimal(reason: str) -> tuple[str, str] | None:
    """The column and the type that take the number for which a record of whole numbers is bad; None if it is bad for another reason."""
    found = _FRACTION.match(reason)
    return (found[2], f"DECIMAL(18, {len(found[1])})") if found and len(found[1]) <= 18 else None
