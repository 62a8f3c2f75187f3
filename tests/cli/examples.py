"""The examples' questions as DuckDB is asked them, and a place to run them in."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter, defaultdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import duckdb

from tests.house.source import ROOT
from tests.law.oracle import ROUNDED

INPUTS = ("flights.parquet", "weather.parquet", "announcements.txt")

ORACLE = {
    "flight_delays": """
        SELECT CAST(time_bucket(INTERVAL 1 DAY, ts) AS DATE)::VARCHAR AS departure_day, origin, count(*) AS flights,
          count(*) - count(dep_delay) AS cancelled, rounded(sum(dep_delay), count(dep_delay), 1) AS avg_delay, max(dep_delay) AS max_delay,
          rounded(100 * count(*) FILTER (dep_delay > 15), count(*), 1) AS late_percent
        FROM 'data/flights.parquet' GROUP BY ALL""",
    "word_count": """
        SELECT word, count(*) AS occurrences
        FROM (SELECT unnest(string_split(line, ' ')) AS word
              FROM read_csv('data/announcements.txt', columns={'line': 'VARCHAR'}, delim='\\t', quote='', escape='', header=false))
        GROUP BY ALL""",
    "storms": """
        SELECT strftime(w, '%Y-%m-%dT%H:%M:%S') AS window_start, strftime(w + INTERVAL 6 HOUR, '%Y-%m-%dT%H:%M:%S') AS window_end, origin,
          max(mph) AS strongest_mph, rounded(sum((precip * 100)::BIGINT), 100, 2) AS rain_inches, min(visib) AS sight_miles,
          CASE WHEN min(visib) < 1 THEN 'blind' WHEN sum(precip) > 1 THEN 'wet' ELSE 'windy' END AS kind
        FROM (SELECT origin, coalesce(wind_gust, wind_speed) AS mph, precip, visib,
                unnest(range(time_bucket(INTERVAL 1 HOUR, ts) - INTERVAL 5 HOUR, ts + INTERVAL 1 MICROSECOND, INTERVAL 1 HOUR)) AS w
              FROM 'data/weather.parquet' WHERE wind_speed IS NOT NULL)
        GROUP BY w, origin HAVING max(mph) > 50""",
    "airport_traffic": """
        SELECT airport, count(*) FILTER (fate = 'flown') AS flown, count(*) FILTER (fate = 'cancelled') AS cancelled
        FROM (SELECT unnest([origin, dest]) AS airport, 'flown' AS fate FROM 'data/flights.parquet' WHERE dep_delay IS NOT NULL
              UNION ALL SELECT origin, 'cancelled' FROM 'data/flights.parquet' WHERE dep_delay IS NULL)
        GROUP BY airport HAVING count(*) > 10000""",
    "worst_routes": """
        SELECT w::DATE::VARCHAR AS week, place, origin, dest, avg_delay
        FROM (SELECT *, rank() OVER (PARTITION BY w ORDER BY avg_delay DESC) AS place
              FROM (SELECT time_bucket(INTERVAL 7 DAY, ts, TIMESTAMP '1970-01-01') AS w, origin, dest,
                      rounded(sum(arr_delay), count(arr_delay), 1) AS avg_delay
                    FROM 'data/flights.parquet' GROUP BY ALL HAVING count(arr_delay) >= 20))
        WHERE place <= 3""",
    "wind_and_delays": """
        SELECT f.origin, floor(w.wind_speed / 5)::INT * 5 AS mph_or_more, count(*) AS flights,
          rounded(sum(f.dep_delay), count(f.dep_delay), 1) AS avg_delay
        FROM 'data/flights.parquet' AS f
        ASOF LEFT JOIN (SELECT ts, origin, max(wind_speed) AS wind_speed FROM 'data/weather.parquet' GROUP BY ALL) AS w
        ON f.origin = w.origin AND f.ts >= w.ts GROUP BY ALL""",
    "late_carriers": """
        SELECT time_bucket(INTERVAL 7 DAY, ts, TIMESTAMP '1970-01-01') AS week_start, carrier, count(arr_delay) AS arrivals,
          count(*) FILTER (arr_delay > 60) AS late_over_an_hour, sum(distance)::BIGINT AS miles
        FROM 'data/flights.parquet' GROUP BY ALL""",
}

BAD_CLAIMS = [7, 14, 23, 31, 42, 53]
"""Numbers of the records of claims.csv, from 1, in which an error was planted."""


def stage(directory: Path) -> Path:
    """Copy the examples into a directory of their own, where they may write."""
    data = directory / "data"
    data.mkdir(parents=True)
    for name in INPUTS:
        (data / name).symlink_to(ROOT / "sql_examples/data" / name)
    for path in (ROOT / "sql_examples").iterdir():
        if path.suffix in (".sql", ".csv"):
            shutil.copy(path, directory)
    return directory


def asked(name: str, directory: Path, text: str = "") -> list[dict[str, Any]]:
    """DuckDB's answer, or that to another question, in the directory of the examples."""
    with duckdb.connect() as connection:
        connection.execute(f"{ROUNDED} SET file_search_path = '{directory}'")
        result = connection.execute(text or ORACLE[name])
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def claims(directory: Path) -> list[dict[str, Any]]:
    """The answer to claims.sql, in plain Python."""
    totals: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    with (directory / "claims.csv").open() as file:
        for number, row in enumerate(csv.DictReader(file), 1):
            if number not in BAD_CLAIMS:
                totals[row["filed"][:10], row["origin"]].append(Decimal(row["amount"]))
    return [
        {"window_start": f"{day}T00:00:00", "origin": origin, "claims": len(amounts), "dollars": str(sum(amounts))}
        for (day, origin), amounts in totals.items()
    ]


def same(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> None:
    """Both are the same table, in any order of rows; numbers to nine digits."""
    one, other = Counter(map(_line, left)), Counter(map(_line, right))
    assert one == other, f"only left: {[*one - other][:8]}; only right: {[*other - one][:8]}"


def _line(row: dict[str, Any]) -> str:
    return json.dumps({name: _plain(value) for name, value in row.items()}, default=str)


def _plain(value: Any) -> Any:
    try:
        return value if value is None or isinstance(value, str | int) else float(f"{float(value):.9g}")
    except (TypeError, ValueError, InvalidOperation):
        return value
