"""Time zones: AT TIME ZONE, CONVERT_TIMEZONE, FROM_UTC_TIMESTAMP and TO_UTC_TIMESTAMP.

A local time that occurs twice, when clocks go back, is the first of the two. One that does not occur, when clocks go forward, is read
with the offset that held before. Both rules are Java's (`LocalDateTime.atZone`), and so Spark's.
"""

from __future__ import annotations

import re
from calendar import isleap
from collections.abc import Callable, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

from ouzel.compiler.expressions import Expression
from ouzel.compiler.functions.formats import BEYOND, YEARS_S
from ouzel.compiler.functions.lowering import call_on_frame, parenthesize, quote, with_errors
from ouzel.compiler.functions.registry import Function, KernelLowering, Lowered, Signature, SparkLowering
from ouzel.compiler.functions.search import text_at
from ouzel.compiler.functions.signatures import overloads
from ouzel.compiler.types import TIMESTAMP, TIMESTAMP_LTZ, VARCHAR, to_polars
from ouzel.errors import QueryError

if TYPE_CHECKING:
    import polars as pl

_KNOWN_UNTIL = 2100
"""Polars has no changes of clocks from this year on; the rules that hold by then are read off earlier years (`_near`)."""
NAME_ZONE = "write a name such as 'UTC' or 'Europe/Berlin', as IANA spells it"
"""What to write instead of a zone that there is not."""
REGION = "UTC|[A-Z][A-Za-z_]+/[A-Za-z0-9_+/-]+"
"""What a zone in a column is called. Bare offsets and abbreviations are none: each engine would read them otherwise."""
_SHORT = {
    "EDT": "America/New_York", "CST": "America/Chicago", "CDT": "America/Chicago", "MDT": "America/Denver", "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles", "BST": "Europe/London", "CEST": "Europe/Berlin", "EEST": "Europe/Helsinki", "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo", "AEST": "Australia/Sydney",
}  # fmt: skip
"""A region whose clocks bear an abbreviation that is no name."""
UNKNOWN = "a time zone that there is not"
_CYCLE = range(_KNOWN_UNTIL - 28, _KNOWN_UNTIL)
"""Years of every calendar: a leap year and a common one that begin with each day of the week."""


def _check_zones(*positions: int) -> Callable[[Sequence[Expression]], None]:
    """A check of the zones that are written as they are; those of rows are checked when these come."""

    def check(arguments: Sequence[Expression]) -> None:
        for position in positions:
            zone = text_at(arguments, position)
            if zone is not None and not is_zone(zone):
                about = ("argument", str(position))
                raise QueryError(f"there is no time zone '{zone}'", instead=name_zone(zone), about=about)

    return check


def name_zone(zone: str) -> str:
    """What to write instead of this zone, that there is not: the region that is most likely meant, if one is."""
    regions = {
        name.rpartition("/")[2].lower(): name for name in sorted(available_timezones(), reverse=True) if "/" in name
    }
    word = zone.rpartition("/")[2].lower().replace(" ", "_")
    near = get_close_matches(word, regions, 1, 0.8)
    found = _SHORT.get(zone.upper()) or (regions[near[0]] if near else "")
    return f"write a region as IANA spells it: '{found}'" if found and is_zone(found) else NAME_ZONE


@lru_cache(maxsize=4096)
def is_zone(name: str) -> bool:
    """Whether it is a region; a bare offset such as +02:00 is none, and each engine would read it otherwise."""
    import polars as pl

    if not name[:1].isalpha():
        return False
    try:
        pl.Series([datetime(2000, 1, 1)]).dt.replace_time_zone(name)
    except pl.exceptions.PolarsError:
        return False
    return True


@cache
def _same_calendar() -> tuple[int, ...]:
    """For each year of a cycle of 400, a year before 2100 that begins with the same day and is as long."""
    alike = {(date(year, 1, 1).weekday(), isleap(year)): year for year in _CYCLE}
    return tuple(alike[date(2000 + year, 1, 1).weekday(), isleap(2000 + year)] for year in range(400))


def _near(time: pl.Expr) -> pl.Expr:
    """A time at which clocks stand as they do at `time`, before 2100: changes of clocks are on a day of the week of a month."""
    import polars as pl

    year = time.dt.year()
    other = (year % 400).replace_strict(range(400), _same_calendar(), return_dtype=pl.Int32)
    moved = time - (pl.date(year, 1, 1) - pl.date(other, 1, 1))
    return pl.when(year >= _KNOWN_UNTIL).then(moved).otherwise(time)


def _instant(local: pl.Expr, zone: str) -> pl.Expr:
    """The UTC time at which the clocks of a zone show `local`."""
    import polars as pl

    day = pl.duration(days=1)

    def read(time: pl.Expr) -> pl.Expr:
        zoned = time.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
        return zoned.dt.convert_time_zone("UTC").dt.replace_time_zone(None)

    # No time zone has skipped more than a day, so a day before the clocks went by the offset that held before.
    return pl.coalesce(read(local), read(local - day) + day)


def _local(instant: pl.Expr, zone: str) -> pl.Expr:
    """What the clocks of a zone show at a UTC time."""
    return instant.dt.replace_time_zone("UTC").dt.convert_time_zone(zone).dt.replace_time_zone(None)


def read_elsewhere(time: pl.Expr, source: str, target: str) -> pl.Expr:
    """A time that clocks of the zone `source` show, as those of `target` show it then; for years up to 261,000."""
    near = _near(time)
    return time + (_local(_instant(near, source), target) - near)


def _read_all(time: pl.Expr, source: str, target: str) -> pl.Expr:
    """`read_elsewhere` of a whole column in one call: it names its time thirteen times, so that of four in each other Polars made 20 GB."""
    import polars as pl

    moved = read_elsewhere(pl.col("0"), source, target)
    return call_on_frame(
        (time.cast(pl.Datetime("us")),), lambda rows: rows.select(moved).to_series(), pl.Datetime("us")
    )


def _read_by_row(time: pl.Expr, source: pl.Expr, target: pl.Expr) -> pl.Expr:
    """`read_elsewhere` by the zones of each row: a struct of `value` and `failed`, which is true where a zone is none."""
    import polars as pl

    made = pl.Struct({"value": pl.Datetime("us"), "failed": pl.Boolean})

    def batch(rows: pl.DataFrame) -> pl.Series:
        parts = [_read_rows(part) for part in rows.with_row_index("at").partition_by("1", "2")]
        return pl.concat(parts).sort("at")["row"] if parts else pl.Series("row", [], made)

    return call_on_frame((time.cast(pl.Datetime("us")), source, target), batch, made)


def _read_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of one pair of zones: their places, and what `_read_by_row` says of them."""
    import polars as pl

    _, _, *zones = rows.row(0)
    given = [zone for zone in zones[: 1 if zones[0] is None else 2] if zone is not None]
    failed = not all(re.fullmatch(REGION, zone) and is_zone(zone) for zone in given)
    known = len(given) == 2 and not failed
    moved = read_elsewhere(pl.col("0"), *given) if known else pl.lit(None, pl.Datetime("us"))
    return rows.select("at", row=pl.struct(value=moved, failed=pl.lit(failed)))


def _kernel(time: int, source: int | None, target: int | None) -> KernelLowering:
    """A time that clocks of one zone show, as those of another show it then: positions of the arguments, None for UTC."""

    def lower(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
        import polars as pl

        given = arguments[time].value.dt.replace_time_zone(None)
        fits = given.dt.epoch("s").is_between(-YEARS_S, YEARS_S)
        shown = pl.when(fits).then(given)
        zones = [
            Lowered(pl.lit("UTC"), literal="UTC") if place is None else arguments[place] for place in (source, target)
        ]
        if all(isinstance(zone.literal, str) for zone in zones):
            moved = _read_all(shown, *(str(zone.literal) for zone in zones))
            return with_errors(moved.cast(to_polars(signature.result)), arguments, ~fits, BEYOND)
        both = _read_by_row(shown, *(zone.value for zone in zones))
        moved, unknown = both.struct.field("value"), both.struct.field("failed")
        return with_errors(
            moved.cast(to_polars(signature.result)), arguments, ~fits | unknown, f"{BEYOND} or {UNKNOWN}"
        )

    return lower


def _spark(time: int, source: int | None, target: int | None) -> SparkLowering:
    """The same in Spark, which has it of times without a zone alone."""

    def lower(arguments: Sequence[str], signature: Signature) -> str:
        zones = ['F.lit("UTC")' if place is None else _spark_zone(arguments[place]) for place in (source, target)]
        zoned = signature.parameters[time] == TIMESTAMP_LTZ
        given = f'{parenthesize(arguments[time])}.cast("timestamp_ntz")' if zoned else arguments[time]
        call = f"F.convert_timezone({', '.join(zones)}, {given})"
        return f'{call}.cast("timestamp")' if signature.result == TIMESTAMP_LTZ else call

    return lower


def _spark_zone(zone: str) -> str:
    """A zone of a row, or an error: Spark knows more names, each release others."""
    if zone.startswith("F.lit("):
        return zone
    known = f"F.when({parenthesize(zone)}.isNull() | {parenthesize(zone)}.rlike({quote(f'^({REGION})$')}), {zone})"
    return f"{known}.otherwise(F.raise_error(F.lit({quote(UNKNOWN)})))"


_FROM_UTC, _TO_UTC, _BETWEEN = (0, None, 1), (0, 1, None), (2, 0, 1)
"""The places of the time, of its zone and of the zone that is asked for."""


def _at_time_zone(arguments: Sequence[Lowered], signature: Signature) -> Lowered:
    return _kernel(*(_TO_UTC if signature.result == TIMESTAMP_LTZ else _FROM_UTC))(arguments, signature)


def _spark_at_time_zone(arguments: Sequence[str], signature: Signature) -> str:
    return _spark(*(_TO_UTC if signature.result == TIMESTAMP_LTZ else _FROM_UTC))(arguments, signature)


_ZONES: tuple[object, ...] = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Pacific/Apia",
    "Australia/Lord_Howe",
)
_BY_ZONE = overloads(((TIMESTAMP, VARCHAR), TIMESTAMP))
FUNCTIONS: tuple[Function, ...] = (
    Function(
        "at_time_zone", overloads(((TIMESTAMP_LTZ, VARCHAR), TIMESTAMP), ((TIMESTAMP, VARCHAR), TIMESTAMP_LTZ)),
        _at_time_zone, _spark_at_time_zone,
        "What clocks in a zone show at an instant; of a TIMESTAMP, the instant at which they show it.", "t AT TIME ZONE zone",
        check=_check_zones(1), examples=((1, _ZONES),),
    ),
    Function(
        "convert_timezone", overloads(((VARCHAR, VARCHAR, TIMESTAMP), TIMESTAMP)), _kernel(*_BETWEEN), _spark(*_BETWEEN),
        "A time of one zone as clocks of another show it.", "CONVERT_TIMEZONE(from, to, t)",
        check=_check_zones(0, 1), examples=((0, _ZONES[:3]), (1, _ZONES[:3])),
    ),
    Function(
        "from_utc_timestamp", _BY_ZONE, _kernel(*_FROM_UTC), _spark(*_FROM_UTC),
        "A time of UTC as clocks of a zone show it.", "FROM_UTC_TIMESTAMP(t, zone)",
        check=_check_zones(1), examples=((1, _ZONES),),
    ),
    Function(
        "to_utc_timestamp", _BY_ZONE, _kernel(*_TO_UTC), _spark(*_TO_UTC),
        "A time that clocks of a zone show, as that of UTC.", "TO_UTC_TIMESTAMP(t, zone)",
        check=_check_zones(1), examples=((1, _ZONES),),
    ),
)  # fmt: skip
