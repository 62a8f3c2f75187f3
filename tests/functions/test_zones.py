"""Time zones around each change of clocks since 1970, in all zones, against Python's own reading of the same rules; some in Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import polars as pl
import pytest

from ouzel.compiler.expressions import Call, Column, Expression, Literal
from ouzel.compiler.functions.kernel import evaluate, lower
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.functions.zones import is_zone
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
        if not is_zone(zone):
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


ROWS = pl.DataFrame(
    {
        "t": [*(datetime(2026, 7, 1, 12, minute) for minute in range(5)), None, datetime(2026, 10, 25, 0, 30)],
        "zone": ["Europe/Berlin", "Asia/Kolkata", None, "UTC", "Europe/Berlin", "Asia/Kolkata", "Europe/Berlin"],
    },
    {"t": pl.Datetime("us"), "zone": pl.String},
)
"""Each row with a zone of its own."""


def call_by_row(function: str, *arguments: Expression) -> Call:
    made = resolve_call(function, arguments)
    assert isinstance(made, Call)
    return made


TIME, ZONE = Column(TIMESTAMP, "t"), Column(VARCHAR, "zone")
CALLS_BY_ROW = (
    call_by_row("from_utc_timestamp", TIME, ZONE),
    call_by_row("to_utc_timestamp", TIME, ZONE),
    call_by_row("convert_timezone", ZONE, Literal(VARCHAR, "America/New_York"), TIME),
    call_by_row("at_time_zone", TIME, ZONE),
)


@pytest.mark.parametrize("rows", [ROWS, ROWS.head(0), ROWS.head(1)], ids=len)
def test_a_zone_of_each_row(rows: pl.DataFrame) -> None:
    answer, failed = evaluate(rows, [(made.function, lower(made)) for made in CALLS_BY_ROW])
    assert failed is None or not failed.any()
    there = [None not in row for row in rows.rows()]
    for name, expected in (("from_utc_timestamp", from_utc), ("to_utc_timestamp", to_utc)):
        right = [expected(*row) if known else None for row, known in zip(rows.rows(), there, strict=True)]
        assert answer[name].to_list() == right
    instants = [to_utc(*row) if known else None for row, known in zip(rows.rows(), there, strict=True)]
    assert answer["at_time_zone"].dt.replace_time_zone(None).to_list() == instants
    in_new_york = [from_utc(at, "America/New_York") if at else None for at in instants]
    assert answer["convert_timezone"].to_list() == in_new_york


def test_a_row_whose_zone_there_is_not_fails() -> None:
    zones = ["Europe/Berlin", "Europe/Berln", "+02:00", "CEST", "", "europe/berlin", "UTC"]
    rows = pl.DataFrame({"t": [datetime(2026, 7, 1)] * len(zones), "zone": zones}).cast({"t": pl.Datetime("us")})
    _, failed = evaluate(rows, [("v", lower(CALLS_BY_ROW[0]))])
    assert failed is not None
    assert [str(zone) for zone in rows["zone"].filter(failed)] == zones[1:-1]


@pytest.mark.spark
def test_spark_reads_a_zone_of_each_row(spark: Any) -> None:
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    def ask(rows: pl.DataFrame) -> pl.DataFrame:
        table = spark.createDataFrame(rows.to_arrow()).select(F.col("t").cast("timestamp_ntz").alias("t"), "zone")
        made = (eval(to_spark(each), {"F": F}).alias(each.function) for each in CALLS_BY_ROW)
        return pl.DataFrame(pl.from_arrow(table.select(*made).toArrow()))

    ours, _ = evaluate(ROWS, [(made.function, lower(made)) for made in CALLS_BY_ROW])
    assert ask(ROWS).cast(pl.Datetime("us")).equals(ours.cast(pl.Datetime("us")))
    for zone in ("+02:00", "CEST", "Europe/Berln"):
        with pytest.raises(PySparkException):
            ask(ROWS.head(1).with_columns(zone=pl.lit(zone)))


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
