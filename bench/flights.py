"""Flights-like Parquet of a given size, and questions about it: some of sql_examples, and three that a batch job at size has to be good at.

A row takes some 42 bytes of a file. Carriers are skewed (the k-th of 16 has k ** -1.3 times the flights of the first); a file is a week of
flights in the order of time, in several row groups. Four columns are random and read by no query, as
real tables are wider than a query: `record`, `wheels_off`, `wheels_on` and `fuel` are three quarters of a file.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

EXAMPLES = Path(__file__).parents[1] / "sql_examples"
FILE_ROWS, GROUP_ROWS, ROW_BYTES = 4_000_000, 500_000, 42
AIRLINES = EXAMPLES / "data" / "airlines.parquet"
ORIGINS = ["EWR", "JFK", "LGA"]
FIRST_MINUTE, MINUTES, WEEK = np.datetime64("2013-01-01T00:00", "m"), 365 * 24 * 60, 7 * 24 * 60

TABLES = """CREATE TABLE flights (ts TIMESTAMP(3), carrier VARCHAR, tailnum VARCHAR, origin VARCHAR, dep_delay INT, arr_delay INT)
WITH ('connector' = 'file', 'path' = 'flights/*.parquet', 'format' = 'parquet');
CREATE TABLE airlines (carrier VARCHAR, name VARCHAR) WITH ('connector' = 'file', 'path' = 'airlines.parquet', 'format' = 'parquet');
"""
AT_SIZE = {
    "late_airlines": """SELECT name, COUNT(*) AS flights, AVG(arr_delay) AS arr_delay
FROM flights JOIN airlines ON flights.carrier = airlines.carrier WHERE dep_delay > 60 AND origin = 'JFK' GROUP BY name;
""",
    "turnarounds": """SELECT carrier, COUNT(*) AS flights, COUNT(*) FILTER (WHERE before > 15) AS after_a_late_one
FROM (
  SELECT carrier, dep_delay, LAG(arr_delay) OVER (PARTITION BY tailnum ORDER BY ts, dep_delay, arr_delay, carrier) AS before FROM flights)
WHERE dep_delay > 15 GROUP BY carrier;
""",
    "rotations": """SELECT tailnum, window_start, window_end, COUNT(*) AS flights, MAX(dep_delay) AS most
FROM TABLE(SESSION(TABLE flights PARTITION BY tailnum, DESCRIPTOR(ts), INTERVAL '30' MINUTE)) GROUP BY tailnum, window_start, window_end;
""",
}
"""A selective filter and a join with a small table; a window, and sessions, for which all of the table is shuffled and sorted."""

IN_TIME = frozenset({"rotations"})
"""Questions whose table of flights has a watermark."""

QUESTIONS = ["flight_delays", "late_carriers", "worst_routes", "airport_traffic", *AT_SIZE]


def question_of(name: str) -> str:
    """The text of a question, over the files of `write_flights`; its answer is shown, not written."""
    if name in AT_SIZE:
        watermark = ", WATERMARK FOR ts AS ts)" if name in IN_TIME else ")"
        return TABLES.replace(")\nWITH", f"{watermark}\nWITH", 1) + AT_SIZE[name]
    text = (EXAMPLES / f"{name}.sql").read_text(encoding="utf-8")
    return text.replace("data/flights.parquet", "flights/*.parquet").replace("INSERT INTO late_carriers\n", "")


def write_flights(folder: Path, gigabytes: float) -> int:
    """At least so many gigabytes of flights in at least eight files, and the airlines; the number of flights."""
    (folder / "flights").mkdir()
    shutil.copy(AIRLINES, folder)
    asked, written, number = gigabytes * 1e9, 0, 0
    rows = min(FILE_ROWS, round(asked / ROW_BYTES / 8))
    while written < asked:
        file = folder / "flights" / f"{number:04}.parquet"
        frame = flights(np.random.default_rng(number), rows, int(written / asked * (MINUTES - WEEK)))
        frame.write_parquet(file, compression="snappy", row_group_size=min(GROUP_ROWS, rows // 4))
        written, number = written + file.stat().st_size, number + 1
    return rows * number


def flights(random: np.random.Generator, rows: int, minute: int) -> pl.DataFrame:
    """A week of so many flights in the order of time, from a minute of the year on."""
    ts = FIRST_MINUTE + np.sort(random.integers(minute, minute + WEEK, rows)).astype("timedelta64[m]")
    carriers = pl.read_parquet(AIRLINES)["carrier"].to_list()
    late = random.exponential(25, rows).astype(np.int32) - 10
    flown = pl.Series(random.random(rows) > 0.025)
    frame = pl.DataFrame(
        {
            "ts": ts.astype("datetime64[us]"),
            "carrier": _pick(random, carriers, rows, 1.3),
            "flight": random.integers(1, 8500, rows, dtype=np.int32),
            "tailnum": _pick(random, [f"N{number:05}" for number in range(4000)], rows, 0),
            "origin": _pick(random, ORIGINS, rows, 0),
            "dest": _pick(random, [f"D{number:02}" for number in range(100)], rows, 0.7),
            "dep_delay": late,
            "arr_delay": late + random.normal(-5, 15, rows).astype(np.int32),
            "distance": random.integers(80, 5000, rows, dtype=np.int32),
            "record": random.integers(0, 1 << 62, rows),
            "wheels_off": random.integers(0, 1 << 50, rows).astype("datetime64[us]"),
            "wheels_on": random.integers(0, 1 << 50, rows).astype("datetime64[us]"),
            "fuel": random.random(rows),
        }
    )
    late_or_null = [pl.when(flown).then(name).alias(name) for name in ("dep_delay", "arr_delay")]
    return frame.with_columns(late_or_null)


def _pick(random: np.random.Generator, names: Sequence[str], rows: int, skew: float) -> pl.Series:
    """A name for each row, the k-th about as often as k ** -skew says."""
    weights = np.arange(1, len(names) + 1) ** -skew
    slots = np.repeat(np.arange(len(names)), np.ceil(weights / weights.sum() * SLOTS).astype(np.int64))
    return pl.Series(names, dtype=pl.Categorical).gather(pl.Series(slots[random.integers(0, len(slots), rows)]))


SLOTS = 100_000
"""Names are drawn from so many slots: drawing by weight takes several times as long."""
