"""Spans of time as options, settings and commands have them: `10s`, `1.5 min`, `2 hours`."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

UNIT_US = {
    "week": 604_800_000_000, "d": 86_400_000_000, "day": 86_400_000_000, "h": 3_600_000_000, "hour": 3_600_000_000,
    "min": 60_000_000, "m": 60_000_000, "minute": 60_000_000, "s": 1_000_000, "sec": 1_000_000, "second": 1_000_000,
    "ms": 1_000, "milli": 1_000, "millisecond": 1_000,
}  # fmt: skip
"""Microseconds of each unit, which may be in the plural."""


def parse_span(text: str) -> int | None:
    """Microseconds; None if the text is no number with a unit behind it, or no time at all."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", text.strip().lower(), re.ASCII)
    unit = found and (UNIT_US.get(found[2]) or UNIT_US.get(found[2].removesuffix("s")))
    return int(Decimal(found[1]) * unit) or None if found and unit else None


def microseconds_of(span: object) -> int | None:
    """Microseconds of a timedelta, or of a text with a number and perhaps a unit; None if it is neither."""
    if isinstance(span, timedelta):
        return span // timedelta(microseconds=1)
    text = str(span).strip()
    return parse_span(f"{text} s" if text.isdigit() else text)
