"""What a text may mean that does not fit its column: no value, a number with other signs, a day in another order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple

NULL_WORDS = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "\\N", "None", "nan", "-", "?")
"""Texts that may mean NULL in a column of numbers."""

_MISFIT = re.compile(r"(?:'(.*)'|([^' ]+)) does not fit column '(.*)' of type (.+)$", re.DOTALL)
_FRACTION = re.compile(r"'?[+-]?\d+\.(\d+)'? does not fit column '(.*)' of type (?:TINYINT|SMALLINT|INT|BIGINT)$")


class MisfitText(NamedTuple):
    """A text that does not fit the type of its column."""

    text: str
    column: str
    type: str


def find_misfit(reason: str) -> MisfitText | None:
    """The text for which a record is bad; None if it is bad for another reason."""
    found = _MISFIT.match(reason)
    return MisfitText(found[1] if found[2] is None else found[2], found[3], found[4]) if found else None


def find_null_word(reason: str, raw: str) -> str:
    """The word of these for which a record of CSV is bad, by the reason and its text; empty if it is bad for another reason."""
    found = find_misfit(reason)
    word = found.text if found else ""
    return word if word in NULL_WORDS and not raw.lstrip().startswith(("{", "[")) else ""


_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
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

    def read_in_python(self, written: str) -> str:
        """The same in Python, for Decimal."""
        if self.others:
            written = f"re.sub('[^0-9{self.point}-]', '', {written})"
        elif self.thousands:
            written = f"{written}.replace({self.thousands!r}, '')"
        return f"{written}.replace(',', '.')" if self.point == "," else written

    def fit(self, kind: str) -> str:
        """The type of SQL that takes them in place of this one."""
        return "DECIMAL(18, 2)" if self.point and kind in _WHOLE else kind

    def advise(self, call: Callable[[NumberSigns], str]) -> str:
        """What reads such texts, as the call of these signs has it, and why; two calls where the sample leaves it open."""
        if self.may_part_thousands:
            comma = self._replace(thousands="", point=",")
            return (
                f"{call(self)} if the comma of {self.sample} parts thousands, or {call(comma)} if it is a decimal comma"
            )
        has = (
            "a decimal comma" * (self.point == ","),
            "parted thousands" * bool(self.thousands),
            "other signs" * self.others,
        )
        return f"{call(self)}, for {self.sample} has {' and '.join(filter(None, has))}"


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


_DAY = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:([ T])(\d{1,2}):\d\d(:\d\d)?)?")


def find_day_patterns(texts: Sequence[str]) -> list[str]:
    """The patterns, in Java's letters, by which these days and times can be read, of which none is written as SQL has it.

    There are two where nothing shows whether the day or the month is first, and none where they are written in several ways.
    """
    if all(re.fullmatch(r"\d{8}", text) for text in texts):
        return [pattern for pattern in ("yyyyMMdd",) if _all_fit(texts, pattern)]
    found = [match for text in texts if (match := _DAY.fullmatch(text))]
    if not found or len(found) < len(texts) or len({(match[2], match[5], not match[7]) for match in found}) > 1:
        return []
    sign, between, seconds = found[0][2], found[0][5], found[0][7]
    width = 1 + all(len(match[3]) == 2 and min(len(match[1]), len(match[4])) >= 2 for match in found)
    day, month, hour = "d" * width, "M" * width, "H" * (1 + all(len(match[6] or "00") == 2 for match in found))
    time = (" " if between == " " else "'T'") + f"{hour}:mm" + (":ss" if seconds else "") if between else ""
    orders = [("yyyy", month, day)] if sign != "-" else []
    orders += [(day, month, "yyyy")] if sign == "." else [(day, month, "yyyy"), (month, day, "yyyy")]
    return [pattern for order in orders if _all_fit(texts, pattern := sign.join(order) + time)]


def python_pattern(pattern: str) -> str:
    """The pattern in the letters of strptime."""
    return re.sub(r"'T'|y+|M+|d+|H+|m+|s+", lambda run: "T" if run[0] == "'T'" else f"%{_LETTERS[run[0][0]]}", pattern)


_LETTERS = {"y": "Y", "M": "m", "d": "d", "H": "H", "m": "M", "s": "S"}


def _all_fit(texts: Sequence[str], pattern: str) -> bool:
    try:
        for text in texts:
            datetime.strptime(text, python_pattern(pattern))
    except ValueError:
        return False
    return True


def quote_text(text: str) -> str:
    """The text as a constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def advise_utf8(path: str, encoding: str = "latin1") -> str:
    """How a file of text becomes one of UTF-8, which is what is read."""
    return f"iconv -f {encoding} -t utf-8 {shlex.quote(path)} > {name_beside(path, 'utf8')}"


def name_beside(path: str, word: str) -> str:
    """The name of a file beside that one, for what a command makes of it, as a shell takes it."""
    name = PurePath(path)
    return shlex.quote(str(name.with_name(f"{name.stem}.{word}{name.suffix}")))


def find_decimal(reason: str) -> tuple[str, str] | None:
    """The column and the type that take the number for which a record of whole numbers is bad; None if it is bad for another reason."""
    found = _FRACTION.match(reason)
    return (found[2], f"DECIMAL(18, {len(found[1])})") if found and len(found[1]) <= 18 else None
