"""Time zones around each change of clocks since 1970, in all zones, against Python's own reading of the same rules; some in Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import polars as pl
import pytest

from ouzel.compiler.expressions import Call, Column, Literal
from ouzel.compiler.functions.kernel import evaluate, lower
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.functions.zones import _is_zone
from ouzel.compiler.types import TIMESTAMP, VARCHAR

SHARES = 12
ZONES = sorted(zone for zone in available_timezones() if "/" in zone and not zone.startswith(("posix", "right")))
NEAR = [timedelta(minutes=minutes) for minutes in (-1500, -61, -30, -1, 0, 1, 29, 60, 90, 1500)]
FAR = [datetime(2100, 7, 1), datetime(2399, 2, 28, 23), datetime(9999, 12, 31, 9), datetime(9998, 4, 5, 3, 30)]


def steps(zone: str, times: pl.Series) -> pl.Series:
    """Those of these UTC times before which clocks have changed since the time before."""
    local = times.dt.replace_time_zone("UTC").dt.convert_time_zone(zone).dt.replace_time_zone(None)
    ahead = local - times
    return times.filter((ahead != ahead.shift(1)).fill_null(False))


@cache
def changes(zone: str) -> tuple[datetime, ...]:
    """The UTC times since 1970 at which clocks change, looked for day by day and then in quarters of an hour."""
    days = steps(
        zone, pl.datetime_range(datetime(1970, 1, 1), datetime(2037, 12, 31), "1d", eager=True, time_unit="us")
    )
    quarters = pl.DataFrame({"before": [timedelta(minutes=15 * quarter) for quarter in range(96, -1, -1)]})
    times = days.alias("day").to_frame().join(quarters, how="cross", maintain_order="left_right")
    return tuple(steps(zone, times.select(pl.col("day") - pl.col("before")).to_series()))


def from_utc(time: datetime, zone: str) -> datetime:
    return time.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


def to_utc(time: datetime, zone: str) -> datetime:
    """Python reads a time that occurs twice as the first, and one that does not occur by the offset before, as Java does."""
    return time.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)


def call(function: str, zone: str) -> Call:
    made = resolve_call(function, [Column(TIMESTAMP, "t"), Literal(VARCHAR, zone)])
    assert isinstance(made, Call)
    return made


@pytest.mark.parametrize("share", range(SHARES))
def test_what_clocks_show(share: int) -> None:
    for zone in ZONES[share::SHARES]:
        if not _is_zone(zone):
            continue
        times = sorted({at + near for at in changes(zone) for near in NEAR} | set(FAR))
        for function, expected in (("from_utc_timestamp", from_utc), ("to_utc_timestamp", to_utc)):
            # to_utc of a local time: around the change as clocks show it
            asked = times if expected is from_utc else [from_utc(time, zone) for time in times if time.year < 9999]
            frame = pl.DataFrame({"t": pl.Series(asked, dtype=pl.Datetime("us"))})
            answer, failed = evaluate(frame, [("v", lower(call(function, zone)))])
            assert failed is None
            right = [expected(time, zone) for time in asked]
            wrong = [case for case in zip(asked, answer["v"], right, strict=True) if case[1] != case[2]]
            assert not wrong, f"{function} {zone}: {wrong[:3]} of {len(wrong)}"


@pytest.mark.spark
def test_spark_shows_the_same(spark: Any) -> None:
    from pyspark.sql import functions as F

    zones = (
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Africa/Casablanca",
        "Asia/Kathmandu",
    )
    for zone in zones:
        near = sorted({at + step for at in changes(zone) for step in NEAR})
        times = [*near, *(from_utc(time, zone) for time in near)]
        frame = pl.DataFrame({"t": pl.Series(times, dtype=pl.Datetime("us"))})
        table = spark.createDataFrame(frame.to_arrow()).select(F.col("t").cast("timestamp_ntz").alias("t"))
        calls = [call(function, zone) for function in ("from_utc_timestamp", "to_utc_timestamp")]
        answers = table.select(*(eval(to_spark(each), {"F": F}).alias(str(at)) for at, each in enumerate(calls)))
        theirs = pl.DataFrame(pl.from_arrow(answers.toArrow()))
        ours, failed = evaluate(frame, [(str(at), lower(each)) for at, each in enumerate(calls)])
        assert failed is None
        assert theirs.cast(pl.Datetime("us")).equals(ours), zone
