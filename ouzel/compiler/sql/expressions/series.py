"""Advice for lists of days and times, which are made of numbers: GENERATE_SERIES and SEQUENCE of dates, as other dialects have them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_A_DAY = re.compile(r"(?is)(?:DATE\s*)?'(\d{4}-\d\d-\d\d)'(?:\s*::\s*DATE)?")
_A_TIME = re.compile(r"(?is).*(?:\bDATE\b|\bTIMESTAMP\b|'\d{4}-\d\d-\d\d).*")
_STEP = re.compile(r"(?is)INTERVAL\s*'?\s*(\d+)\s*'?\s*([a-z]+?)s?\s*'?|'(\d+)\s*([a-z]+?)s?'(?:\s*::\s*INTERVAL)?")
_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")


def of_series(arguments: Sequence[str], are_times: bool = False) -> str:
    """The query of a series from one day or time to another, a step apart; empty if it is a series of numbers."""
    if len(arguments) not in (2, 3) or not (are_times or _A_TIME.fullmatch(arguments[0])):
        return ""
    start, stop = (_A_DAY.sub(r"DATE '\1'", argument.strip()) for argument in arguments[:2])
    found = _STEP.fullmatch(arguments[2].strip()) if len(arguments) == 3 else None
    count, unit = (found[1] or found[3], (found[2] or found[4]).upper()) if found else ("1", "DAY")
    unit = unit if unit in _UNITS else "DAY"
    step = "" if count == "1" else f", {count}"
    time = f"TIMESTAMPADD({unit}, n, {start})"
    is_day = unit not in _UNITS[:3] and "TIMESTAMP" not in start.upper()
    item = f"CAST({time} AS DATE) AS day" if is_day else f"{time} AS ts"
    return f"SELECT {item} FROM UNNEST(SEQUENCE(0, TIMESTAMPDIFF({unit}, {start}, {stop}){step})) AS u (n)"
