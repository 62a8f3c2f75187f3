"""A text by a date pattern as a CAST, which reads its digits in another order. So TRY_CAST gives NULL where a text does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GROUPS = {"yyyy": r"(\d{4})", "yy": r"(\d{2})"} | {letter * 2: r"(\d{2})" for letter in "MdHms"}
_GROUPS |= dict.fromkeys("MdHms", r"(\d{1,2})")
_DATE, _TIME = ("yyyy", "MM", "dd"), ("HH", "mm", "ss")
_ISO = re.compile(r"yyyy-MM?-dd?(?:[ T]HH?:mm(?::ss(?:\.S+)?)?)?")


def cast_of_pattern(text: str, pattern: str, parts: Iterable[tuple[str, bool]], kind: str, tried: bool = True) -> str:
    """[TRY_]CAST of a text, as it is written, to DATE or TIMESTAMP by a pattern; empty if none does.

    Args:
        text: as it is written.
        pattern: in Java's letters.
        parts: its runs of letters (True) and of other signs.
        kind: DATE or TIMESTAMP.
        tried: whether NULL is given for a text that does not fit.
    """
    call = f"{'TRY_' * tried}CAST({{}} AS {kind})"
    if _ISO.fullmatch(pattern.replace("'T'", "T")):
        return call.format(text)
    shape = ""
    places: dict[str, str] = {}
    for run, letters in parts:
        if letters and (run not in _GROUPS or run[0] in places):
            return ""
        if letters:
            places[run[0]] = f"{'20' * (run == 'yy')}${len(places) + 1}"
        shape += _GROUPS[run] if letters else re.escape(run).replace("'", "''").replace(r"\ ", " ").replace(r"\-", "-")
    if not {"y", "M", "d"} <= places.keys() or ("H" in places) != ("m" in places):
        return ""
    date = "-".join(places[name[0]] for name in _DATE)
    time = ":".join(places[name[0]] for name in _TIME if name[0] in places)
    filled = f"{date} {time}{':00' * ('s' not in places)}" if time else date
    return call.format(f"REGEXP_REPLACE({text}, '^{shape}$', '{filled}')")
