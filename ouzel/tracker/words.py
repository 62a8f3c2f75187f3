"""Figures and times as pages show them; what is not known is told as such, never as 0."""

from __future__ import annotations

from datetime import UTC, datetime

from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME

NOTHING = "–"


def time_text(time_us: int | None) -> str:
    """A time in microseconds since 1970, UTC."""
    if time_us is None or time_us <= BEGINNING_OF_TIME:
        return NOTHING
    if time_us >= END_OF_TIME:
        return "end of the input"
    try:
        return datetime.fromtimestamp(time_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{time_us} us"


def behind_text(time_us: int | None, now_s: float) -> str:
    """How far a time in microseconds since 1970 is behind the wall clock."""
    seconds = behind_s(time_us, now_s)
    return NOTHING if seconds is None else duration_text(seconds)


def behind_s(time_us: int | None, now_s: float) -> float | None:
    """The same in seconds; None of no time, of the beginning and of the end of time."""
    if time_us is None or not BEGINNING_OF_TIME < time_us < END_OF_TIME:
        return None
    return max(0.0, now_s - time_us / 1e6)


def duration_text(seconds: float) -> str:
    """A duration in its largest unit, to a whole number."""
    for limit, unit in ((2 * 86_400, 86_400), (2 * 3_600, 3_600), (120, 60)):
        if seconds >= limit:
            return f"{seconds // unit:,.0f} {_UNITS[unit]}"
    return f"{seconds:.0f} s"


_UNITS = {86_400: "d", 3_600: "h", 60: "min"}


def count_text(count: float | None) -> str:
    """A count with its thousands apart."""
    return NOTHING if count is None else f"{count:,.0f}"


def rate_text(rate: float | None) -> str:
    """Three digits and a unit."""
    if rate is None:
        return NOTHING
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= limit:
            scaled = rate / limit
            return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.1f}{unit}"
    return f"{rate:.0f}" if rate >= 10 or rate == 0 else f"{rate:.2g}"


def share_text(share: float | None) -> str:
    """A share as per cent."""
    return NOTHING if share is None else f"{100 * share:.0f} %"


CAPACITY_LIMITS = (0.5, 0.9)
"""From these shares of a core on, a task counts as busy, and as full."""


def load_level(share: float | None) -> str:
    """How much of a core a task uses: none (not known), low, busy or full."""
    busy, full = CAPACITY_LIMITS
    if share is None:
        return "none"
    return "full" if share >= full else "busy" if share >= busy else "low"


def small_share_text(share: float | None) -> str:
    """A share as per cent, to a hundredth."""
    return NOTHING if share is None else f"{100 * share:.2f} %"


def duration_or_nothing(seconds: float | None) -> str:
    """A duration in its largest unit, if it is known."""
    return NOTHING if seconds is None else duration_text(seconds)


def milliseconds_text(value: float | None) -> str:
    """A duration."""
    return NOTHING if value is None else f"{value:.1f} ms"


def nanoseconds_text(value: float | None) -> str:
    """A duration in nanoseconds, to three digits in its largest unit."""
    if value is None:
        return NOTHING
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}" if value < 1_000 * limit else f"{value / limit:,.0f} {unit}"
    return f"{value:.3g} ns"


def bytes_text(count: float | None) -> str:
    """An amount of memory."""
    if count is None:
        return NOTHING
    for limit, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count:.0f} B"
