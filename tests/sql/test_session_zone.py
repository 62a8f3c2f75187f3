"""SET 'time.zone': what a session shows and computes of instants, against Python's own reading of the same rules."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest

import ouzel
from ouzel.compiler.catalog import QueryWarning
from ouzel.errors import NotSupported, QueryError
from tests.functions.test_zones import NEAR, changes

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Asia/Kolkata",
)


def answer(query: str) -> pl.DataFrame:
    return ouzel.table(ouzel.query(query), "memory")


def one(expression: str, zone: str = "Europe/Berlin") -> Any:
    """The value of an expression in a session."""
    return answer(f"SET 'time.zone' = '{zone}'; SELECT {expression} AS v").item()


def local(at: datetime, zone: str) -> datetime:
    return at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


def instant(shown: datetime, zone: str) -> datetime:
    return shown.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def month_later(at: datetime) -> datetime:
    year, month = divmod(at.year * 12 + at.month, 12)
    last = (datetime(year + (month + 1) // 12, (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return at.replace(year=year, month=month + 1, day=min(at.day, last))


OF_CLOCKS: dict[str, Callable[[datetime], Any]] = {
    "CAST(at AS TIMESTAMP)": lambda shown: shown,
    "CAST(at AS DATE)": lambda shown: shown.date(),
    "CAST(at AS VARCHAR)": lambda shown: f"{shown:%Y-%m-%d %H:%M:%S}",
    "DATE_FORMAT(at, 'dd.MM.yyyy HH:mm')": lambda shown: f"{shown:%d.%m.%Y %H:%M}",
    "HOUR(at)": lambda shown: shown.hour,
    "MINUTE(at)": lambda shown: shown.minute,
    "EXTRACT(DAY FROM at)": lambda shown: shown.day,
    "DAYNAME(at)": lambda shown: f"{shown:%a}",
    "TIMESTAMPDIFF(DAY, TIMESTAMP_LTZ '1969-01-01 00:00:00', at)": lambda shown: (shown - datetime(1969, 1, 1)).days,
}
"""What clocks show at an instant."""

BACK: dict[str, Callable[[datetime], datetime]] = {
    "DATE_TRUNC('day', at)": lambda shown: shown.replace(hour=0, minute=0),
    "DATE_TRUNC('month', at)": lambda shown: shown.replace(day=1, hour=0, minute=0),
    "CAST(CAST(at AS DATE) AS TIMESTAMP_LTZ)": lambda shown: shown.replace(hour=0, minute=0),
    "CAST(CAST(at AS VARCHAR) AS TIMESTAMP_LTZ)": lambda shown: shown,
    "CAST(CAST(at AS TIMESTAMP) AS TIMESTAMP_LTZ)": lambda shown: shown,
    "TIMESTAMPADD(DAY, 1, at)": lambda shown: shown + timedelta(days=1),
    "at + INTERVAL '1' MONTH": month_later,
}
"""Instants at which clocks show something else."""


@pytest.mark.parametrize("zone", ZONES)
def test_near_each_change_of_clocks_since_1970(zone: str, tmp_path: Any) -> None:
    times = sorted({at + near for at in (*changes(zone), datetime(2026, 7, 1)) for near in NEAR})
    pl.DataFrame({"at": pl.Series(times, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC")}).write_parquet(
        tmp_path / "t.parquet"
    )
    items = ", ".join(f"{text} AS v{number}" for number, text in enumerate((*OF_CLOCKS, *BACK)))
    found = answer(
        f"""SET 'time.zone' = '{zone}';
        CREATE TABLE times WITH ('connector' = 'file', 'path' = '{tmp_path}/t.parquet', 'format' = 'parquet');
        SELECT at, {items} FROM times"""
    ).sort("at")
    assert found.height == len(times)
    shown = [local(at, zone) for at in times]
    for number, (text, right) in enumerate(OF_CLOCKS.items()):
        assert found[f"v{number}"].to_list() == [right(one) for one in shown], text
    for number, (text, after) in enumerate(BACK.items(), len(OF_CLOCKS)):
        assert found[f"v{number}"].to_list() == [instant(after(one), zone) for one in shown], text


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("CAST('2026-03-29 12:00:00' AS TIMESTAMP_LTZ)", datetime(2026, 3, 29, 10)),
        ("CAST('2026-03-29' AS TIMESTAMP_LTZ)", datetime(2026, 3, 28, 23)),
        ("CAST('2026-03-29 12:00:00Z' AS TIMESTAMP_LTZ)", datetime(2026, 3, 29, 12)),
        ("CAST('2026-03-29 12:00:00.5 UTC' AS TIMESTAMP_LTZ)", datetime(2026, 3, 29, 12, 0, 0, 500_000)),
        ("CAST('2026-03-29T12:00:00+01:00' AS TIMESTAMP_LTZ)", datetime(2026, 3, 29, 11)),
        ("CAST('2026-03-29 12:00:00-03:30' AS TIMESTAMP_LTZ)", datetime(2026, 3, 29, 15, 30)),
        ("CAST('2026-03-29 12:00 Asia/Tokyo' AS TIMESTAMP_LTZ)", datetime(2026, 3, 29, 3)),
        ("TRY_CAST('no time' AS TIMESTAMP_LTZ)", None),
        ("CAST(CAST(NULL AS VARCHAR) AS TIMESTAMP_LTZ)", None),
        ("TIMESTAMP_LTZ '2026-03-29 12:00:00'", datetime(2026, 3, 29, 10)),
        ("TIMESTAMP_LTZ '2026-10-25 02:30:00'", datetime(2026, 10, 25, 0, 30)),
        ("TIMESTAMP_LTZ '2026-03-29 12:00:00Z' + INTERVAL '1' DAY", datetime(2026, 3, 30, 12)),
        ("DATE_TRUNC('hour', TIMESTAMP_LTZ '2026-10-25 01:30:00Z')", datetime(2026, 10, 25, 1)),
        ("TO_TIMESTAMP_LTZ(0, 0)", datetime(1970, 1, 1)),
        ("GREATEST(TIMESTAMP_LTZ '2026-03-29 12:00:00Z', TIMESTAMP '2026-03-29 15:00:00')", datetime(2026, 3, 29, 13)),
    ],
)
def test_an_instant(text: str, right: datetime | None) -> None:
    assert one(text) == (right and right.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("TIMESTAMP_LTZ '2026-03-29 10:00:00Z' = TIMESTAMP '2026-03-29 12:00:00'", True),
        ("TIMESTAMP_LTZ '2026-03-28 23:00:00Z' = DATE '2026-03-29'", True),
        ("TIMESTAMP_LTZ '2026-03-29 10:00:00Z' = '2026-03-29 12:00:00'", True),
        ("TIMESTAMP_LTZ '2026-03-29 10:00:00Z' BETWEEN '2026-03-29' AND '2026-03-29 12:00:00'", True),
        ("UNIX_SECONDS(TIMESTAMP_LTZ '1970-01-01 01:00:00')", 0),
        ("HOUR(TIMESTAMP '2026-03-29 12:00:00')", 12),
        ("FROM_UTC_TIMESTAMP(TIMESTAMP '2026-03-29 12:00:00', 'Asia/Tokyo')", datetime(2026, 3, 29, 21)),
        ("TIMESTAMPDIFF(HOUR, TIMESTAMP_LTZ '2026-03-29 00:00:00', TIMESTAMP_LTZ '2026-03-30 00:00:00')", 23),
        ("TIMESTAMPDIFF(DAY, TIMESTAMP_LTZ '2026-03-29 00:00:00', TIMESTAMP_LTZ '2026-03-30 00:00:00')", 1),
        ("CONCAT('at ', CAST(TIMESTAMP_LTZ '2026-03-29 12:00:00Z' AS VARCHAR))", "at 2026-03-29 14:00:00"),
    ],
)
def test_what_else_depends_on_the_zone_and_what_does_not(text: str, right: object) -> None:
    assert one(text) == right


def test_the_setting_of_the_command_wins_and_that_of_flink_is_taken() -> None:
    query = "SET 'table.local-time-zone' = 'Europe/Berlin'; SELECT HOUR(TIMESTAMP_LTZ '2026-03-29 12:00:00Z') AS h"
    assert answer(query).item() == 14
    assert ouzel.table(ouzel.query(query, time_zone="Asia/Tokyo"), "memory").item() == 21


ORDERS = """CREATE TABLE orders (ts {kind}(3), amount DECIMAL(10, 2), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
    WITH ('connector' = 'file', 'path' = 'sql_examples/shop/orders.csv', 'format' = 'csv');"""
WINDOWS = "SELECT window_start, COUNT(*) AS n FROM {call} GROUP BY window_start, window_end"


def windows(call: str, kind: str = "TIMESTAMP_LTZ", zone: str = "Europe/Berlin") -> list[tuple[datetime, int]]:
    return (
        answer(f"SET 'time.zone' = '{zone}'; {ORDERS.format(kind=kind)} {WINDOWS.format(call=call)}")
        .sort("window_start")
        .rows()
    )


def test_windows_of_days_of_instants_are_those_of_the_zone() -> None:
    named = windows("TUMBLE(orders, ts, INTERVAL '1' DAY, 'Europe/Berlin')", zone="UTC")
    assert windows("TUMBLE(orders, ts, INTERVAL '1' DAY)") == named
    assert [(start.hour, n) for start, n in named] == [(23, 5), (23, 5), (23, 6), (22, 4)]
    assert windows("TUMBLE(orders, ts, INTERVAL '1' DAY, 'UTC')")[0][0].hour == 0


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        ("TUMBLE(orders, ts, INTERVAL '1' DAY)", "TIMESTAMP", "ts is a TIMESTAMP: its days are those that it shows"),
        (
            "CUMULATE(orders, ts, INTERVAL '1' DAY, INTERVAL '2' DAY)",
            "TIMESTAMP_LTZ",
            "the days of CUMULATE are those of UTC",
        ),
    ],
)
def test_other_windows_of_days_are_warned_of(call: str, kind: str, told: str) -> None:
    with pytest.warns(QueryWarning, match=told):
        assert windows(call, kind) == windows(call, kind, "UTC")


def test_a_window_cast_to_an_instant_is_warned_of() -> None:
    query = f"SET 'time.zone' = 'Europe/Berlin'; {ORDERS.format(kind='TIMESTAMP_LTZ')} " + WINDOWS.format(
        call="TUMBLE(orders, ts, INTERVAL '1' HOUR)"
    ).replace("window_start,", "CAST(window_start AS TIMESTAMP_LTZ) AS begins,", 1)
    with pytest.warns(
        QueryWarning,
        match="window_start is UTC, and is cast as a time of 'Europe/Berlin'; write window_start AT TIME ZONE 'UTC'",
    ):
        ouzel.query(query)


def test_elements_are_not_cast_between_instants_and_others() -> None:
    with pytest.raises(
        NotSupported, match=r"CAST of ARRAY<TIMESTAMP_LTZ.*> to ARRAY<VARCHAR> is not supported in a session of"
    ):
        one("CAST(ARRAY[TIMESTAMP_LTZ '2026-03-29 12:00:00Z'] AS ARRAY<VARCHAR>)")
    assert one("CAST(ARRAY[1] AS ARRAY<VARCHAR>)").to_list() == ["1"]


def test_a_program_in_python_sets_none() -> None:
    with pytest.raises(QueryError, match=r"time_zone is a setting of SQL; write time\.astimezone\(ZoneInfo"):
        ouzel.Source.of([1]).map(lambda n: n).table(time_zone="Europe/Berlin")
    with pytest.raises(QueryError, match="time_zone is a setting of SQL"):
        ouzel.TopologyBuilder("t", ouzel.Settings(time_zone="Europe/Berlin"))
