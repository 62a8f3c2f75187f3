"""Each kind of fault is planted in a run, and found: its class, its rows, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.reconcile import Class
from ouzel.session import Job
from tests.reconcile.planting import (
    DAYS,
    FIRST,
    ORIGINS,
    ROWS,
    AskedOnce,
    classes,
    counted,
    drop_late,
    edit,
    flights,
    kept,
    run,
    say,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark]

DAY, PLACE = date(2013, 1, 5), "JFK"
CHOSEN = pl.col("departure_day").eq_missing(DAY) & pl.col("origin").eq_missing(PLACE)


Ran = tuple[Job, Path]


@pytest.fixture(scope="module")
def clean(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Callable[[str], tuple[Job, Path, AskedOnce]]:
    """A clean run of a query, and the batch job's answer, each made once."""

    @cache
    def ran(query: str) -> tuple[Job, Path, AskedOnce]:
        job, home = run(query, tmp_path_factory.mktemp("clean"))
        return job, home, AskedOnce(job, home, spark)

    return ran


def of(query: str) -> Callable[..., Iterator[Ran]]:
    """A clean run of this query, in which what a test plants is undone behind it."""

    @pytest.fixture
    def planted(clean: Callable[[str], tuple[Job, Path, AskedOnce]], monkeypatch: pytest.MonkeyPatch) -> Iterator[Ran]:
        job, home, once = clean(query)
        once.put(monkeypatch)
        with kept(home):
            yield job, home

    return planted


days, origins = of(DAYS), of(ORIGINS)


def changed(name: str, by: object) -> pl.Expr:
    """The column with something added in the chosen row."""
    return pl.when(CHOSEN).then(pl.col(name) + by).otherwise(pl.col(name)).alias(name)


@pytest.mark.parametrize("query", [DAYS, ORIGINS, ROWS], ids=["windows", "changes", "rows"])
def test_a_clean_run_has_no_difference(query: str, tmp_path: Path, spark: SparkSession) -> None:
    job, home = run(query, tmp_path)
    result = counted(job, home, spark)
    assert set(classes(result)) <= {Class.FLOAT}
    assert result.explained
    assert result.matched + result.differing == result.stream_rows == result.batch_rows > 0


def test_a_corrupted_value_differs(days: Ran, spark: SparkSession) -> None:
    job, home = days
    edit(home, lambda frame: frame.with_columns(changed("max_delay", 1)))
    result = counted(job, home, spark, 1e-12)
    (row,) = result.samples[Class.VALUE_DIFFERS]
    assert (row.row[:2], row.differing) == ((DAY, PLACE), ("max_delay",))
    assert row.stream is not None
    assert row.batch is not None
    assert row.stream[3] == row.batch[3] + 1
    assert not result.explained
    assert result.timeline is not None
    day = (datetime.combine(DAY, datetime.min.time()) - FIRST).days
    per_day = 86_400_000_000 // result.timeline.width_us
    counts = result.timeline.counts[Class.VALUE_DIFFERS]
    assert [number for number, count in enumerate(counts) if count] == [day * per_day]


def test_a_row_that_was_removed_is_only_in_the_batch(days: Ran, spark: SparkSession) -> None:
    job, home = days
    edit(home, lambda frame: frame.filter(~CHOSEN))
    result = counted(job, home, spark)
    (row,) = result.samples[Class.ONLY_BATCH]
    assert (row.row[:2], row.stream) == ((DAY, PLACE), None)
    assert result.unexplained == 1


def test_a_row_that_was_added_is_only_in_the_stream(days: Ran, spark: SparkSession) -> None:
    job, home = days
    edit(home, lambda frame: pl.concat([frame, frame.filter(CHOSEN).with_columns(origin=pl.lit("SFO"))]))
    result = counted(job, home, spark)
    (row,) = result.samples[Class.ONLY_STREAM]
    assert (row.row[:2], row.batch) == ((DAY, "SFO"), None)
    assert result.unexplained == 1


def test_null_keys_are_keys(origins: Ran, spark: SparkSession) -> None:
    job, home = origins
    edit(home, lambda frame: frame.with_columns(flights=pl.col("flights") + pl.col("origin").is_null().cast(pl.Int64)))
    result = counted(job, home, spark)
    (row,) = result.samples[Class.VALUE_DIFFERS]
    assert row.row[0] is None
    assert classes(result) == {Class.VALUE_DIFFERS: 1}


def test_a_row_written_twice_is_not_explained_by_a_replay(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run(ROWS, tmp_path)
    edit(home, lambda frame: pl.concat([frame, frame.slice(10, 3)]))
    say(home, "replayed")
    expected = pl.read_parquet(home / "results.parquet").slice(10, 3)["id"].to_list()
    result = counted(job, home, spark)
    assert classes(result) == {Class.ONLY_STREAM: 3}
    assert [row.row[0] for row in result.samples[Class.ONLY_STREAM]] == sorted(expected)


def test_a_lost_row_is_lost_only_at_most_once(days: Ran, spark: SparkSession) -> None:
    job, home = days
    gone = flights().filter(pl.col("ts").dt.date() == DAY, pl.col("origin") == PLACE).head(2)
    fewer = changed("flights", -2), changed("miles", -gone["miles"].sum())
    edit(home, lambda frame: frame.with_columns(*fewer).filter(pl.col("departure_day") != date(2013, 1, 9)))
    say(home, "note")
    before = counted(job, home, spark)
    assert before.counts[Class.VALUE_DIFFERS] == 1
    assert before.counts[Class.ONLY_BATCH] == 4
    say(home, "note", "at-most-once")
    assert not counted(job, home, spark).explained, "nothing broke, so nothing was lost"
    say(home, "rows-lost", "at-most-once")
    after = counted(job, home, spark)
    assert after.counts[Class.LOST] == 5
    assert after.explained


def test_lost_state_does_not_explain_a_higher_count(origins: Ran, spark: SparkSession) -> None:
    job, home = origins
    edit(home, lambda frame: frame.with_columns(flights=pl.col("flights") + 1))
    say(home, "rows-lost", "at-most-once")
    assert classes(counted(job, home, spark)) == {Class.VALUE_DIFFERS: 4}


def test_what_is_left_of_values_that_cancel_is_rounding(tmp_path: Path, spark: SparkSession) -> None:
    """An account that is settled: its sum is nothing, or some digits of what came and went."""
    data = flights(9).with_columns(origin=pl.lit("JFK"), miles=pl.Series([1e16, 1.0, -1e16] * 3))
    query = "SELECT origin, SUM(miles) AS total, AVG(miles) AS mean, COUNT(*) AS n FROM flights GROUP BY origin;"
    job, home = run(query, tmp_path, data)
    assert set(classes(counted(job, home, spark))) <= {Class.FLOAT}
    for total, mean, expected in (
        (7.0, 2.0, Class.FLOAT),
        (7.0, 99.0, Class.VALUE_DIFFERS),
        (999.0, 2.0, Class.VALUE_DIFFERS),
    ):
        edit(home, lambda rows: rows.with_columns(total=pl.lit(total), mean=pl.lit(mean)))  # noqa: B023
        assert classes(counted(job, home, spark)) == {expected: 1}, (total, mean)


def test_rows_that_are_only_counted_as_late_explain_their_groups_only(days: Ran, spark: SparkSession) -> None:
    job, home = days
    line = {
        "$component": "aggregate_by_origin",
        "window_start": "2013-01-05T00:00:00",
        "window_end": "2013-01-06T00:00:00",
        "origin": PLACE,
    }
    drop_late(home, [{**line, "$rows": 2}])
    gone = flights().filter(pl.col("ts").dt.date() == DAY, pl.col("origin") == PLACE).head(2)
    edit(home, lambda frame: frame.with_columns(changed("flights", -2), changed("miles", -gone["miles"].sum())))
    result = counted(job, home, spark)
    assert result.counts[Class.LATE] == 1
    assert result.explained
    assert "Taken on trust: that the rows were late which aggregate_by_origin dropped" in result.notes[0]
    edit(home, lambda frame: frame.with_columns(flights=pl.col("flights") - 1))
    result = counted(job, home, spark)
    assert Class.LATE not in result.counts, "two rows were dropped, and three are missing"
    assert result.counts[Class.VALUE_DIFFERS] == result.batch_rows
    drop_late(home, [{**line, "$rows": 3, "$component": "another"}])
    assert Class.LATE not in counted(job, home, spark).counts


def test_late_rows_explain_what_they_make_and_nothing_else(tmp_path: Path, spark: SparkSession) -> None:
    data = flights().reverse()  # in one batch: none of these was late, and any of them can have been
    job, home = run(DAYS, tmp_path, data)
    day = (pl.col("ts").dt.date() == DAY) & (pl.col("origin") == PLACE)
    first, second = data.filter(day & pl.col("delay").is_not_null()).head(2).to_dicts()
    line = {
        "$component": "aggregate_by_origin", "window_start": "2013-01-05", "window_end": "2013-01-06", "origin": PLACE, "$rows": 1,
        "flights": 1, "max_delay": first["delay"], "$result2": float(first["delay"]), "$result3": first["miles"],
    }  # fmt: skip
    drop_late(home, [line])
    rest = data.filter(day & (pl.col("id") != first["id"]))
    edit(home, lambda frame: frame.with_columns(
        changed("flights", -1), changed("miles", -first["miles"]),
        pl.when(CHOSEN).then(rest["delay"].max()).otherwise("max_delay").alias("max_delay"),
        pl.when(CHOSEN).then(round(float(rest["delay"].mean() or 0), 1)).otherwise("avg_delay").alias("avg_delay"),
    ))  # fmt: skip
    result = counted(job, home, spark)
    assert result.counts[Class.LATE] == 1
    assert result.explained
    (dropped,) = result.differences.where("class = 'late'").select("dropped").collect()
    assert [json.loads(text) for text in dropped[0]] == [line]
    drop_late(home, [{**line, "$result3": second["miles"]}])
    assert counted(job, home, spark).counts[Class.VALUE_DIFFERS] == 1, "no such row was read"
    drop_late(home, [line, line])
    assert counted(job, home, spark).explained, "there is only one such row to be left out"


def test_a_window_still_open_is_in_flight(days: Ran, spark: SparkSession) -> None:
    from dataclasses import replace

    from ouzel.reconcile.recording.record import read_record

    job, home = days
    edit(home, lambda frame: frame.filter(pl.col("departure_day") < date(2013, 1, 15)))
    closed = datetime(2013, 1, 16, 5)
    replace(read_record(home), closed_us=int((closed - datetime(1970, 1, 1)).total_seconds()) * 1_000_000).save(home)
    result = counted(job, home, spark)
    assert result.counts[Class.IN_FLIGHT] == 5 * 4
    assert {row.row[0] for row in result.samples[Class.ONLY_BATCH]} == {date(2013, 1, 15)}


def test_a_mean_in_a_window_still_open_does_not_show_that_rows_are_missing(tmp_path: Path, spark: SparkSession) -> None:
    from dataclasses import replace

    from ouzel.reconcile.recording.record import read_record

    means = """SELECT CAST(window_start AS DATE) AS departure_day, origin, AVG(delay) AS mean
    FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, origin EMIT CHANGES;"""
    job, home = run(means, tmp_path)
    edit(
        home, lambda frame: frame.with_columns(pl.when(CHOSEN).then(pl.col("mean") + 1).otherwise("mean").alias("mean"))
    )
    replace(read_record(home), closed_us=0).save(home)
    assert classes(counted(job, home, spark)) == {Class.VALUE_DIFFERS: 1}


def test_the_last_digits_of_a_float_are_float(days: Ran, spark: SparkSession) -> None:
    job, home = days
    edit(home, lambda frame: frame.with_columns(miles=pl.col("miles") * (1 + 1e-12)))
    result = counted(job, home, spark)
    assert result.counts[Class.FLOAT] > 70
    assert result.explained
    assert all(row.differing == ("miles",) for row in result.samples[Class.FLOAT])
    strict = counted(job, home, spark, 1e-13)
    assert strict.counts[Class.VALUE_DIFFERS] > 70


def test_floats_without_keys_are_paired_by_what_is_exact(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run("SELECT origin, miles FROM flights;", tmp_path, flights(300))
    edit(home, lambda frame: frame.with_columns(miles=pl.col("miles") * (1 + 1e-12)))
    result = counted(job, home, spark)
    assert set(classes(result)) == {Class.FLOAT}
    assert result.matched + result.counts[Class.FLOAT] == 300


@pytest.mark.parametrize("keyed", [True, False])
def test_floats_inside_rows_arrays_and_maps_are_floats(keyed: bool, tmp_path: Path, spark: SparkSession) -> None:
    nested = "ROW(SUM(miles), COUNT(*)) AS r, ARRAY[AVG(miles), NULL] AS a, MAP['sum', SUM(miles)] AS m"
    query = f"SELECT origin, {nested} FROM flights GROUP BY origin;"
    query = (
        query if keyed else "SELECT id, ROW(miles, delay) AS r, ARRAY[miles] AS a, MAP[id, miles] AS m FROM flights;"
    )
    job, home = run(query, tmp_path, flights(300))
    answer = pl.read_parquet(home / "results.parquet")

    def times(by: float) -> None:
        def scaled(value: object) -> object:
            match value:
                case float():
                    return value * by
                case list():
                    return [scaled(each) for each in value]
                case dict():
                    return {name: scaled(each) for name, each in value.items()}
            return value

        edit(home, lambda _: pl.DataFrame([scaled(row) for row in answer.to_dicts()], answer.schema))

    times(1 + 1e-12)
    result = counted(job, home, spark)
    assert set(classes(result)) == {Class.FLOAT}
    assert result.counts[Class.FLOAT] == answer.height
    times(1 + 1e-6)
    assert not set(classes(counted(job, home, spark))) & {Class.FLOAT}


def test_columns_under_each_others_names_differ(tmp_path: Path, spark: SparkSession) -> None:
    query = "SELECT origin, COUNT(*) AS flights, COUNT(delay) AS flown FROM flights GROUP BY origin;"
    job, home = run(query, tmp_path)
    edit(home, lambda frame: frame.rename({"flights": "flown", "flown": "flights"}))
    assert classes(counted(job, home, spark)) == {Class.VALUE_DIFFERS: 4}
    edit(home, lambda frame: frame.select("flights", "flown", "origin"))
    assert classes(counted(job, home, spark)) == {Class.VALUE_DIFFERS: 4}
    edit(home, lambda frame: frame.rename({"flights": "flown", "flown": "flights"}))
    assert counted(job, home, spark).differing == 0, "columns go by their names, wherever they stand"
