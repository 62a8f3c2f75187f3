"""Groups of which the stream has a part: each aggregate is excused only with what some of the rows can give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from math import inf, nan
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.reconcile import Class
from ouzel.reconcile.recording.record import read_record
from tests.reconcile.planting import FIRST, classes, edit, found, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

TABLE = """
CREATE TABLE rows (id BIGINT, ts TIMESTAMP(3), k BIGINT, delay INT, miles DOUBLE, price FLOAT, name VARCHAR, ok BOOLEAN,
  WATERMARK FOR ts AS ts) WITH ('connector' = 'file', 'path' = 'flights.parquet', 'format' = 'parquet');
"""
EVERY = """
SELECT window_start, k, COUNT(*) AS n, COUNT(delay) AS known, COUNT(DISTINCT delay) AS kinds, COUNT_IF(ok) AS good,
  APPROX_COUNT_DISTINCT(delay) AS about, ARRAY_AGG(delay ORDER BY id) AS delays, COLLECT_LIST(name) AS texts, HISTOGRAM(delay) AS bars,
  MAP_AGG(delay, name) AS called, STRING_AGG(name, ', ' ORDER BY id) AS names, MIN(name) AS first_name, MAX(ts) AS last_at,
  MIN_BY(name, delay) AS best_name, FIRST_VALUE(name ORDER BY id) AS beginning, MEDIAN(delay) AS middle,
  PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY price) AS half, MODE(delay) AS often, STDDEV(delay) AS spread, VAR_POP(miles) AS variance,
  BIT_OR(id) AS any_bits, BIT_AND(id) AS all_bits, BIT_XOR(id) AS odd_bits, BOOL_AND(ok) AS all_good, CORR(delay, price) AS joint,
  SUM(DISTINCT delay) AS once, AVG(DISTINCT delay) AS mean_once, SUM(miles) AS miles, AVG(miles) AS distance, MIN(miles) AS near,
  MAX(miles) AS far, SUM(price) AS paid, AVG(price) AS mean, MIN(price) AS cheap, MAX(price) AS dear,
  CAST(SUM(price) AS FLOAT) AS cast_paid, CAST(MAX(delay) AS BIGINT) AS worst, SKEWNESS(delay) AS skew, KURTOSIS(delay) AS tails
FROM TABLE(TUMBLE(TABLE rows, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, k EMIT CHANGES;
"""
GROUPS, ROWS, PART = 60, 20, 10

Row = Mapping[str, Any]
Forgery = Callable[[Row, Row], dict[str, Any]]
"""From the rows of a part and of the whole to what a wrong engine claims of the part."""

FORGERIES: Mapping[str, Forgery] = {
    "no kinds of values": lambda part, whole: {"kinds": 0},
    "fewer kinds than the missing leave": lambda part, whole: {"kinds": whole["kinds"] - (ROWS - PART) - 1},
    "more good ones than rows": lambda part, whole: {"good": PART + 1},
    "an estimate above all rows": lambda part, whole: {"about": 2 * PART},
    "an array of other values": lambda part, whole: {"delays": [*part["delays"][:-1], 7_777]},
    "an array in another order": lambda part, whole: {"delays": part["delays"][::-1]},
    "an array with a value twice": lambda part, whole: {"delays": [*part["delays"][:-1], *part["delays"][-2:-1]]},
    "an array that is too short": lambda part, whole: {"delays": part["delays"][:-1]},
    "an array of nothing": lambda part, whole: {"delays": []},
    "no array": lambda part, whole: {"delays": None},
    "a list of others": lambda part, whole: {"texts": ["zzz"]},
    "a bar that is too high": lambda part, whole: {"bars": raised(part["bars"])},
    "a bar of none": lambda part, whole: {"bars": [{"key": 7_777, "value": 1}]},
    "a name of another": lambda part, whole: {"called": [{"key": part["bars"][0]["key"], "value": "zzz"}]},
    "a text of others": lambda part, whole: {"names": "zzz"},
    "a text cut short": lambda part, whole: {"names": part["names"][:-1]},
    "a text in another order": lambda part, whole: {"names": ", ".join(part["names"].split(", ")[::-1])},
    "a first name before all": lambda part, whole: {"first_name": ""},
    "a last time before all": lambda part, whole: {"last_at": FIRST - timedelta(days=9)},
    "no last time": lambda part, whole: {"last_at": None},
    "a best name behind all": lambda part, whole: {"best_name": "zzz"},
    "a beginning before all": lambda part, whole: {"beginning": ""},
    "a middle above all": lambda part, whole: {"middle": 301.0},
    "half above all": lambda part, whole: {"half": 2_000.0},
    "a mode below all": lambda part, whole: {"often": -300},
    "a spread above all": lambda part, whole: {"spread": 1_000.0},
    "a spread below none": lambda part, whole: {"spread": -1.0},
    "a variance above all": lambda part, whole: {"variance": 1e7},
    "a bit that none has": lambda part, whole: {"any_bits": part["any_bits"] | 1 << 20},
    "a bit that all lack": lambda part, whole: {"all_bits": part["all_bits"] | 1 << 20},
    "an odd bit that none has": lambda part, whole: {"odd_bits": part["odd_bits"] | 1 << 20},
    "a correlation above 1": lambda part, whole: {"joint": 1.1},
    "a distinct sum above all": lambda part, whole: {"once": 300 * ROWS},
    "a distinct mean above all": lambda part, whole: {"mean_once": 301.0},
    "a sum of floats above all": lambda part, whole: {"paid": whole["paid"] + 0.01},
    "a sum of floats below none": lambda part, whole: {"paid": -0.01},
    "no sum of floats": lambda part, whole: {"paid": None},
    "a mean of floats above all": lambda part, whole: {"mean": whole["dear"] + 0.01},
    "a mean that is not of the sum of floats": lambda part, whole: {"mean": part["mean"] + 1e-5},
    "a least float below all": lambda part, whole: {"cheap": whole["cheap"] * (1 - 1e-6)},
    "a greatest float below the least": lambda part, whole: {"dear": whole["cheap"] * (1 - 1e-6)},
    "a sum cast to a float": lambda part, whole: {"cast_paid": whole["paid"] + 0.5},
    "a greatest that is one more than all": lambda part, whole: {"worst": whole["worst"] + 1},
    "more lopsided than can be": lambda part, whole: {"skew": 10.0},
    "heavier tails than can be": lambda part, whole: {"tails": 100.0},
    "a float that is no number": lambda part, whole: {"paid": nan},
    "a float that is infinite": lambda part, whole: {"dear": inf},
}
AMID_NAN: Mapping[str, Forgery] = {
    "a sum above all that are finite": lambda part, whole: {"miles": 1e9},
    "a mean below all that are finite": lambda part, whole: {"distance": -1.0},
    "a least above all that are finite": lambda part, whole: {"near": 1e9},
    "a greatest above all that are finite": lambda part, whole: {"far": 1e9},
    "minus infinity": lambda part, whole: {"miles": -inf},
}
"""In groups some of whose miles are NaN and infinite."""


def raised(bars: list[dict[str, int]]) -> list[dict[str, int]]:
    """Each value once more often than all rows."""
    return [{**bar, "value": ROWS + 1} for bar in bars]


def made() -> pl.DataFrame:
    """Twenty rows of each group; of the last groups half the miles are NaN or infinite."""
    random, rows = Random(6), []
    for number in range(GROUPS * ROWS):
        group, place = number // ROWS, number % ROWS
        special = group >= len(FORGERIES) and place >= PART
        rows.append(
            {
                "id": number,
                "ts": FIRST + timedelta(seconds=number),
                "k": group,
                "delay": random.randint(-200, 300),
                "miles": random.choice([nan, inf]) if special else random.random() * 1_000,
                "price": random.random() * 1_000,
                "name": random.choice(["Ada", "Bob", "Bob, jr", "Cy", ", "]) + str(place),
                "ok": random.random() < 0.8,
            }
        )
    return pl.DataFrame(
        rows, {"id": pl.Int64, "ts": pl.Datetime("us"), "k": pl.Int64, "delay": pl.Int32, "miles": pl.Float64, "price": pl.Float32,
               "name": pl.String, "ok": pl.Boolean},
    )  # fmt: skip


def test_no_aggregate_of_a_part_is_what_none_of_its_rows_can_give(tmp_path: Path, spark: SparkSession) -> None:
    data = made()
    (tmp_path / "part").mkdir()
    _, few = run(EVERY, tmp_path / "part", data.filter(pl.col("id") % ROWS < PART), TABLE)
    job, home = run(EVERY, tmp_path, data, TABLE)
    forgeries = {**FORGERIES, **AMID_NAN}
    assert len(forgeries) < GROUPS - 3
    names = dict(enumerate(forgeries))
    whole = {row["k"]: row for row in pl.read_parquet(home / "results.parquet").to_dicts()}

    def forge(answer: pl.DataFrame) -> pl.DataFrame:
        part = pl.read_parquet(few / "results.parquet")
        told = [
            {**row, **(forgeries[names[row["k"]]](row, whole[row["k"]]) if row["k"] in names else {})}
            for row in part.to_dicts()
        ]
        return pl.DataFrame(told, answer.schema)

    edit(home, forge)
    replace(read_record(home), closed_us=0).save(home)
    result = found(job, home, spark)
    excused = {names.get(row.row[1], row.row[1]) for row in result.samples[Class.IN_FLIGHT]}
    assert excused & set(forgeries) == set()
    assert excused == set(range(len(forgeries), GROUPS))
    assert set(result.counts) == {Class.IN_FLIGHT, Class.VALUE_DIFFERS}
    assert not any("values of" in note for note in result.notes), result.notes


def test_whatever_part_of_a_group_there_is_all_its_aggregates_are_in_flight(
    tmp_path: Path, spark: SparkSession
) -> None:
    data, random = made(), Random(8)
    blank = pl.col("id") % 7 == 0
    data = data.with_columns(
        delay=pl.when(~blank).then("delay"), price=pl.when(~blank).then("price"), name=pl.when(~blank).then("name")
    )
    (tmp_path / "part").mkdir()
    share = {group: random.random() for group in range(GROUPS)}
    part = data.filter(pl.Series([random.random() < share[group] for group in data["k"]]))
    _, few = run(EVERY, tmp_path / "part", part, TABLE)
    job, home = run(EVERY, tmp_path, data, TABLE)
    edit(home, lambda answer: pl.read_parquet(few / "results.parquet"))
    replace(read_record(home), closed_us=0).save(home)
    result = found(job, home, spark)
    assert set(classes(result)) <= {Class.IN_FLIGHT, Class.FLOAT}, result.samples[Class.VALUE_DIFFERS][0]
    assert result.counts[Class.IN_FLIGHT] > GROUPS - 10


SUMS = "SELECT k, SUM(miles) AS total, AVG(miles) AS mean, CAST(SUM(miles) AS FLOAT) AS cast_total FROM rows GROUP BY k EMIT CHANGES;"


def test_rounding_excuses_no_more_than_another_order_can_make(tmp_path: Path, spark: SparkSession) -> None:
    """One value is huge and many are small: what they cancel to may be off by the sum of all sizes, not by as many of the largest."""
    data = made().with_columns(k=pl.col("id") % 2)
    half = pl.col("id") // 2
    huge = pl.when(half == 0).then(1e12).when(half == 1).then(-1e12).otherwise(pl.col("id") % 3 - 1)
    data = data.with_columns(miles=huge.cast(pl.Float64))
    job, home = run(SUMS, tmp_path, data, TABLE)
    unit, size, number = 2.0**-52, 2e12 + 400, GROUPS * ROWS / 2

    def off_by(total: float, mean: float) -> dict[Class, int]:
        edit(home, lambda answer: answer.with_columns(total=pl.col("total") + total, mean=pl.col("mean") + mean))
        told = classes(found(job, home, spark))
        edit(home, lambda answer: answer.with_columns(total=pl.col("total") - total, mean=pl.col("mean") - mean))
        return told

    assert off_by(0.5 * unit * number * size, 0.0) == {Class.FLOAT: 2}
    assert off_by(2 * unit * number * size, 0.0) == {Class.VALUE_DIFFERS: 2}
    assert off_by(0.0, 0.5 * unit * size) == {Class.FLOAT: 2}
    assert off_by(0.0, 2 * unit * size) == {Class.VALUE_DIFFERS: 2}
