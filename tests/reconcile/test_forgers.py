"""What a wrong engine would have to write to be excused: it writes that, and is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.compiler.plan.aggregates import ROWS
from ouzel.reconcile import Class, record_run
from ouzel.reconcile.comparing.answers import choose_sink
from ouzel.reconcile.explaining.trust import find_false_evidence
from ouzel.reconcile.explaining.unread import find_unread
from ouzel.reconcile.recording.record import LATE, SENT_AGAIN, SHED, Loss, read_record
from ouzel.session import Job, load_text
from tests.reconcile.planting import FIRST, TABLE, classes, drop_late, edit, flights, found, run, seal
from tests.reconcile.test_runs import DAILY, IN_TIME, shaken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

COUNT = f"SELECT window_start, origin, COUNT(*) AS n {DAILY} GROUP BY window_start, window_end, origin;"
OVER = "SELECT id, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY ts) AS place FROM flights;"
BY_THEIR_TIME = (("batch.rows", "100"), ("max.pending.rows", "100"))

NEVER_US = 4 * 10**15
"""A time after all."""

ON_TIME, PLACE = datetime(2013, 1, 12), "JFK"
IN_GROUP = pl.col("window_start").eq_missing(ON_TIME) & pl.col("origin").eq_missing(PLACE)


def ran_late(query: str, directory: Path, data: pl.DataFrame, table: str = TABLE) -> tuple[Job, Path]:
    """A run that has really dropped rows as late, and its record."""
    data.write_parquet(directory / "flights.parquet")
    job = load_text(table.replace(IN_TIME, "WATERMARK FOR ts AS ts") + query, directory, "late", BY_THEIR_TIME)
    record_run(job, "memory", directory / "record")
    return job, directory / "record"


def false_evidence(job: Job, home: Path) -> Mapping[str, str]:
    """What is wrong with the files that excuse differences."""
    return find_false_evidence(choose_sink(job.program), read_record(home), home, False)


def late_lines(home: Path) -> list[dict[str, Any]]:
    """What the run has kept as dropped."""
    return [json.loads(line) for line in (home / LATE).read_text().splitlines()]


def test_a_row_in_time_is_not_late_whatever_the_file_of_late_rows_says(tmp_path: Path, spark: SparkSession) -> None:
    data = shaken(4_000, 3)
    early = pl.col("ts").dt.date().eq(ON_TIME.date()) & pl.col("origin").eq(PLACE)
    behind = data.with_columns(high=pl.col("ts").cum_max().shift(1)).filter(early, pl.col("high") > pl.col("ts"))
    data = data.join(behind, on="id", how="anti")  # all that are left of this group are in time
    job, home = ran_late(COUNT, tmp_path, data)
    lines, late = late_lines(home), found(job, home, spark)
    assert late.explained
    assert not late.notes, "the input bears out every one"
    assert late.counts[Class.LATE] > 5
    forged = {**lines[0], "window_start": "2013-01-12 00:00:00", "window_end": "2013-01-13 00:00:00", "origin": PLACE}
    edit(home, lambda answer: answer.with_columns(n=pl.col("n") - IN_GROUP.cast(pl.Int64)))
    with (home / LATE).open("a") as file:
        file.write(json.dumps(forged) + "\n")
    assert "has grown" in false_evidence(job, home)[LATE]
    drop_late(home, [*lines, forged])
    counted = read_record(home)
    replace(counted, late=len(lines)).save(home)
    told = f"{LATE} tells of {len(lines) + 1} rows, and the run has dropped {len(lines)} as late"
    assert false_evidence(job, home) == {LATE: told}
    counted.save(home)  # the counters, the file and its mark agree: only the input knows better
    result = found(job, home, spark)
    assert result.tampered == ()
    assert result.counts == {**late.counts, Class.VALUE_DIFFERS: 1}
    several, less = {**forged, ROWS: 2}, {**forged, ROWS: -1, "origin": "XXX"}
    drop_late(home, [*lines, *lines, several])  # beyond the lines that are shown of each component
    added_up = found(job, home, spark)
    assert "Taken on trust: that the rows were late which count_by_origin dropped" in added_up.notes[0]
    drop_late(home, [*lines, several, less])
    assert false_evidence(job, home) == {LATE: f"{LATE} holds a line that is no JSON, or tells of less than one row"}
    drop_late(home, lines[1:])
    replace(read_record(home), late=len(lines)).save(home)
    fewer = found(job, home, spark)
    assert fewer.counts[Class.VALUE_DIFFERS] > 1
    assert f"{LATE} tells of {len(lines) - 1} of the {len(lines)} rows" in " ".join(fewer.notes)


def test_a_column_that_nobody_reads_does_not_turn_late_rows_into_accusations(
    tmp_path: Path, spark: SparkSession
) -> None:
    table = TABLE.replace("miles DOUBLE,", "miles DOUBLE, tags ARRAY<VARCHAR>,")
    data = shaken(4_000, 3).with_columns(tags=pl.concat_list(pl.lit("a"), pl.col("origin")))
    job, home = ran_late(OVER, tmp_path, data, table)
    result = found(job, home, spark)
    assert result.counts[Class.LATE] > 50
    assert result.explained, result.counts
    taken = 2_000
    in_time = data.with_columns(high=pl.col("ts").cum_max().shift(1)).filter(pl.col("high") < pl.col("ts"))[taken]
    lines = late_lines(home)
    told = {**lines[0], "ts": str(in_time["ts"][0]), "id": in_time["id"][0], "origin": in_time["origin"][0]}
    assert not result.notes
    drop_late(home, [*lines, told])
    edit(home, lambda answer: answer.filter(pl.col("id") != in_time["id"][0]))
    assert classes(found(job, home, spark)) == {Class.LATE: result.counts[Class.LATE] - 1, Class.ONLY_BATCH: 1}


def test_what_waits_for_no_watermark_drops_nothing_as_late(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run("SELECT origin, COUNT(*) AS flights FROM flights GROUP BY origin EMIT CHANGES;", tmp_path)
    line = {"$component": "count_by_origin", "origin": PLACE, "$rows": 1, "flights": 1}
    drop_late(home, [line])
    edit(
        home, lambda answer: answer.with_columns(flights=pl.col("flights") - pl.col("origin").eq(PLACE).cast(pl.Int64))
    )
    assert set(classes(found(job, home, spark))) == {Class.VALUE_DIFFERS}


def test_what_no_table_sheds_was_not_shed(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run("SELECT id, delay FROM flights;", tmp_path)
    ((partition, _),) = read_record(home).ranges["flights"].items()
    edit(home, lambda answer: answer.filter(pl.col("id") > 0))
    (home / SHED).write_text(json.dumps(["flights", partition, 0, 1]) + "\n")
    record = read_record(home)
    replace(record, shed=1).save(home)
    assert "was added since the run" in false_evidence(job, home)[SHED]
    seal(home)
    result = found(job, home, spark)
    assert "and that table sheds none" in result.tampered[0]
    assert classes(result) == {Class.ONLY_BATCH: 1}


EVERY = f"""SELECT window_start, origin, COUNT(*) AS n, COUNT(delay) AS known, SUM(delay) AS total, AVG(delay) AS mean, MIN(delay) AS best,
  MAX(delay) AS worst, SUM(miles) AS miles, COUNT(DISTINCT delay) AS kinds, COUNT(*) FILTER (WHERE delay > 0) AS behind, MIN(miles) AS near,
  MAX(miles) AS far, AVG(miles) AS distance, SUM(miles) FILTER (WHERE delay > 0) AS behind_miles, 'x' AS tag,
  ROUND(AVG(miles), 1) AS about {DAILY} GROUP BY window_start, window_end, origin EMIT CHANGES;"""

PARTS = f"""SELECT window_start, origin, COUNT(*) AS n, COUNT(delay) AS known, COUNT(DISTINCT delay) AS kinds, SUM(delay) AS total,
  AVG(delay) AS mean, MIN(delay) AS best, MAX(delay) AS worst, SUM(miles) AS miles, AVG(miles) AS distance, MIN(miles) AS near,
  MAX(miles) AS far, SUM(price) AS paid, AVG(price) AS price, CAST(AVG(price) AS INT) AS about, SUM(price) FILTER (WHERE delay > 0) AS late,
  MIN(price) FILTER (WHERE delay > 0) AS least {DAILY} GROUP BY window_start, window_end, origin EMIT CHANGES;"""

Forgery = Callable[[pl.DataFrame], dict[str, Any]]
"""From the rows of a group to what the stream claims of a part of them, where that is not what its first half gives."""


def least(rows: pl.DataFrame, name: str) -> float:
    """The least value."""
    return float(rows[name].min())  # type: ignore[arg-type]


def greatest(rows: pl.DataFrame, name: str) -> float:
    """The greatest value."""
    return float(rows[name].max())  # type: ignore[arg-type]


FORGERIES: Mapping[str, tuple[Forgery, bool]] = {
    "a part": (lambda rows: {}, True),
    "one row": (lambda rows: of_rows(rows.filter(pl.col("delay").is_not_null()).head(1)), True),
    "rows without a value": (lambda rows: of_rows(rows.filter(pl.col("delay").is_null())), True),
    "a sum below all": (lambda rows: {"total": -999_999}, False),
    "a sum above all": (lambda rows: {"total": 999_999}, False),
    "a sum that leaves the rest too much": (
        lambda rows: {"total": int(rows["delay"].sum()) - 300 * rows.height},
        False,
    ),
    "miles below nothing": (lambda rows: {"miles": -1.0}, False),
    "more miles than there are": (lambda rows: {"miles": float(rows["miles"].sum()) + 1}, False),
    "no sum of values": (lambda rows: {"total": None}, False),
    "a mean below all": (lambda rows: {"mean": least(rows, "delay") - 1}, False),
    "a mean above all": (lambda rows: {"mean": greatest(rows, "delay") + 1}, False),
    "a least above all": (lambda rows: {"best": int(greatest(rows, "delay")) + 1}, False),
    "a greatest below all": (lambda rows: {"worst": int(least(rows, "delay")) - 1}, False),
    "no rows": (lambda rows: {"n": 0}, False),
    "fewer than none": (lambda rows: {"n": -5}, False),
    "values fewer than none": (lambda rows: {"known": -1}, False),
    "nothing missing, and another sum": (lambda rows: {**of_rows(rows), "total": int(rows["delay"].sum()) - 1}, False),
    "nothing missing, and fewer values": (lambda rows: {**of_rows(rows), "known": rows["delay"].count() - 1}, False),
    "a single row with the sum of several": (lambda rows: {"n": 1, "known": 1, "total": 301}, False),
    "all but one row, and no values": (lambda rows: {**of_rows(rows[1:]), **NO_DELAYS}, False),
    "more values than rows": (lambda rows: {**of_rows(rows.head(2)), "known": 5}, False),
    "kinds fewer than none": (lambda rows: {"kinds": -5}, False),
    "no number of kinds": (lambda rows: {"kinds": None}, False),
    "more kinds than rows": (lambda rows: {**of_rows(rows.head(2)), "kinds": 9}, False),
    "more rows that are filtered than rows": (lambda rows: {**of_rows(rows.head(2)), "behind": 5}, False),
    "all but one row, and none that is filtered": (lambda rows: {**of_rows(rows[1:]), "behind": 0}, False),
    "a sum that is less than its values": (
        lambda rows: {"miles": 0.5 * of_rows(rows.head(rows.height // 2))["near"]},
        False,
    ),
    "no sum, where each row has a value": (lambda rows: {"miles": None}, False),
    "no least, where each row has a value": (lambda rows: {"near": None}, False),
    "a least above the greatest": (lambda rows: {"near": greatest(rows, "miles"), "far": least(rows, "miles")}, False),
    "a single row between two": (lambda rows: {**of_rows(rows.head(1)), **near_and_far(rows)}, False),
    "a mean that is not of the sum": (lambda rows: {"distance": greatest(rows, "miles")}, False),
    "another constant": (lambda rows: {"tag": "y"}, False),
}
NO_DELAYS = {"known": 0, "total": None, "mean": None, "best": None, "worst": None, "kinds": 0}


def near_and_far(rows: pl.DataFrame) -> dict[str, Any]:
    """The least and the greatest of all."""
    return {"near": least(rows, "miles"), "far": greatest(rows, "miles")}


def of_rows(rows: pl.DataFrame) -> dict[str, Any]:
    """What the query gives of these rows."""
    late = rows.filter(pl.col("delay") > 0)
    return {
        "n": rows.height,
        "known": rows["delay"].count(),
        "total": rows["delay"].cast(pl.Int64).sum() if rows["delay"].count() else None,
        "mean": rows["delay"].mean(),
        "best": rows["delay"].min(),
        "worst": rows["delay"].max(),
        "miles": rows["miles"].sum(),
        "kinds": rows["delay"].drop_nulls().n_unique(),
        "behind": late.height,
        **near_and_far(rows),
        "distance": rows["miles"].mean(),
        "behind_miles": late["miles"].sum() if late.height else None,
        "tag": "x",
        "about": rows["miles"].mean(),
    }


@pytest.mark.parametrize("excuse", [Class.IN_FLIGHT, pytest.param(Class.LOST, marks=pytest.mark.whole)], ids=str)
def test_a_part_of_a_group_is_excused_only_with_what_some_of_its_rows_can_give(
    excuse: Class, tmp_path: Path, spark: SparkSession
) -> None:
    data = flights()
    job, home = run(EVERY, tmp_path, data)
    places = [(day, origin) for day in range(8, 19) for origin in ("EWR", "JFK", "LGA")]
    chosen = dict(zip(places, FORGERIES, strict=False))
    assert len(chosen) == len(FORGERIES)
    day_of, named = pl.col("ts").dt.day(), {}
    for (day, origin), name in chosen.items():
        rows = data.filter(day_of == day, pl.col("origin") == origin)
        named[day, origin] = {**of_rows(rows.head(rows.height // 2)), **FORGERIES[name][0](rows)}

    def forge(answer: pl.DataFrame) -> pl.DataFrame:
        told = [{**row, **named.get((row["window_start"].day, row["origin"]), {})} for row in answer.to_dicts()]
        return pl.DataFrame(told, answer.schema)

    edit(home, forge)
    record = read_record(home)
    if excuse is Class.IN_FLIGHT:
        closed_us = int(datetime(2013, 1, 7, tzinfo=UTC).timestamp()) * 1_000_000
        replace(record, closed_us=closed_us, times={"flights": {"x": closed_us + 1}}).save(home)
    else:
        told = (("rows-lost", "x", 1),)
        replace(record, delivery="at-most-once", losses=(Loss(),), events=told).save(home)
    result = found(job, home, spark)
    told = {
        chosen[row.row[0].day, row.row[1]]: kind
        for kind, rows in result.samples.items()
        for row in rows
        if kind is not Class.FLOAT
    }
    assert told == {name: excuse if honest else Class.VALUE_DIFFERS for name, (_, honest) in FORGERIES.items()}
    assert "Taken on trust: the values of about in groups that lack rows" in result.notes[-1]
    assert (excuse is Class.IN_FLIGHT) is (
        "Taken on trust: that the watermark had come up to 2013-01-07 00:00:00 only" in result.notes[0]
    )


def test_whatever_part_of_a_group_there_is_it_is_in_flight(tmp_path: Path, spark: SparkSession) -> None:
    data, random = flights(3_000), Random(4)
    money = pl.col("miles").cast(pl.Decimal(12, 2))
    data = data.with_columns(ts=pl.lit(FIRST), origin=pl.col("id").mod(300).cast(pl.String), price=money)
    data = data.with_columns(miles=pl.when(pl.col("id") % 7 > 0).then(pl.col("miles") - 500))
    home = tmp_path / "record"
    table = TABLE.replace("miles DOUBLE,", "miles DOUBLE, price DECIMAL(12, 2),")
    (tmp_path / "part").mkdir()
    part = data.filter(pl.Series([random.random() < random.random() for _ in range(data.height)]))
    _, few = run(PARTS, tmp_path / "part", part, table)
    job, home = run(PARTS, tmp_path, data, table)
    edit(home, lambda answer: pl.read_parquet(few / "results.parquet"))
    replace(read_record(home), closed_us=0).save(home)
    result = found(job, home, spark)
    assert set(classes(result)) == {Class.IN_FLIGHT}, result.samples[Class.VALUE_DIFFERS][0]
    assert result.counts[Class.IN_FLIGHT] > 250


def test_what_was_on_its_way_is_not_lost_at_least_once(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run("SELECT id, delay FROM flights;", tmp_path)
    edit(home, lambda answer: answer.filter(pl.col("id") > 9))
    record = replace(read_record(home), losses=(Loss(),), delivery="at-least-once", events=(("rows-lost", "x", 1),))
    record.save(home)
    assert classes(found(job, home, spark)) == {Class.ONLY_BATCH: 10}
    record = replace(record, delivery="at-most-once")
    record.save(home)
    lost = found(job, home, spark)
    assert classes(lost) == {Class.LOST: 10}
    assert lost.notes == ("Taken on trust: that what was on its way was lost, for only the run itself can tell.",)
    replace(record, events=()).save(home)
    untold = found(job, home, spark)
    assert classes(untold) == {Class.ONLY_BATCH: 10}
    assert untold.tampered == ("record.json names rows that were lost 1 times, and the run has told of it 0 times",)


def test_a_run_that_ended_has_read_its_files_to_their_ends(tmp_path: Path, spark: SparkSession) -> None:
    """Or it would be compared with a batch job that has not read the rest either."""
    job, home = run("SELECT id, delay FROM flights;", tmp_path)
    record = read_record(home)
    ((partition, _),) = record.ranges["flights"].items()
    edit(home, lambda answer: answer.filter(pl.col("id") < 3_000))
    half = replace(read_record(home), ranges={"flights": {partition: (0, 3_000)}})
    half.save(home)
    result = found(job, home, spark)
    assert result.tampered == (f"the run has ended, and has read {tmp_path / 'flights.parquet'} no further than 3,000",)
    assert not result.explained
    replace(half, closed_us=0).save(home)
    assert found(job, home, spark).explained, "one that was stopped may have"


def test_a_partition_is_read_from_its_beginning_and_none_is_left_out(tmp_path: Path, spark: SparkSession) -> None:
    table = TABLE.replace("'format'", "'partitions' = '2', 'format'")
    flights(400).write_parquet(tmp_path / "flights.parquet", row_group_size=200)
    job, home = load_text(table + "SELECT id, delay FROM flights;", tmp_path, "flights"), tmp_path / "record"
    record_run(job, "memory", home)
    edit(home, lambda answer: answer.clear())
    record, path = read_record(home), tmp_path / "flights.parquet"
    first, second = record.ranges["flights"]

    def claim(closed_us: int | None, **ranges: tuple[int, int]) -> tuple[str, ...]:
        names = {"first": first, "second": second}
        claimed = {names[name]: span for name, span in ranges.items()}
        replace(record, ranges={"flights": claimed}, closed_us=closed_us).save(home)
        return find_unread(choose_sink(job.program), job.topology, read_record(home), tmp_path).parts

    assert claim(None, first=(0, 200), second=(200, 400)) == ()
    assert claim(None, first=(0, 200)) == (f"the run has ended, and has read {path} no further than 200",)
    assert claim(None, second=(200, 400)) == (f"the run has ended, and has not read {path} from 0 to 200",)
    begun = f"the run has begun to read {second} at 300, and it begins at 200"
    gap = f"the run has ended, and has not read {path} from 200 to 300"
    assert claim(None, first=(0, 200), second=(300, 400)) == (begun, gap)
    assert claim(0, first=(0, 100), second=(200, 300)) == (), "a run that was stopped may lack ends"
    assert claim(0, second=(300, 300)) == (begun,)
    result = found(job, home, spark)
    assert result.tampered == (begun,)
    assert not result.explained


def test_a_run_that_reads_a_file_went_on_from_no_other(tmp_path: Path, spark: SparkSession) -> None:
    """Or none of the windows that the other is said to have answered would be compared."""
    job, home = run(COUNT, tmp_path)
    edit(home, lambda answer: answer.filter(IN_GROUP.not_()))
    replace(read_record(home), began={"flights": NEVER_US, "nothing": NEVER_US}).save(home)
    result = found(job, home, spark)
    assert classes(result) == {Class.ONLY_BATCH: 1}
    assert result.tampered == (
        "record.json says that the run went on from another with 'flights', which each run reads from its beginning",
    )
    replace(read_record(home), began={"nothing": NEVER_US}).save(home)
    assert classes(found(job, home, spark)) == {Class.ONLY_BATCH: 1}


def test_how_far_event_time_has_come_is_asked_of_the_input(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run(COUNT, tmp_path)
    edit(home, lambda answer: answer.clear())
    record = replace(read_record(home), closed_us=0)
    ((partition, time_us),) = record.times["flights"].items()
    told = (
        "Taken on trust: that the watermark had come up to 1970-01-01 00:00:00 only, "
        "though what was read had come to 2013-01-20 22:52:48."
    )
    for times in ({partition: time_us}, {}, {partition: 0}, {partition: time_us, "another": -1}):
        replace(record, times={"flights": times}).save(home)
        result = found(job, home, spark)
        assert set(classes(result)) == {Class.IN_FLIGHT}
        assert result.notes == (told,), times


def test_only_rows_that_time_has_not_come_to_are_in_flight_behind_an_over(tmp_path: Path, spark: SparkSession) -> None:
    data = flights(400)
    job, home = run(OVER, tmp_path, data)
    at_time = int(data.filter(ts=ON_TIME)["id"].item())
    closed_us = int(ON_TIME.replace(tzinfo=UTC).timestamp()) * 1_000_000
    replace(read_record(home), closed_us=closed_us, times={"flights": {"x": closed_us + 1}}).save(home)
    edit(home, lambda answer: answer.filter(pl.col("id") <= at_time))
    honest = found(job, home, spark)
    assert classes(honest) == {Class.IN_FLIGHT: 400 - at_time - 1}
    assert "Taken on trust: that the watermark had come up to 2013-01-12 00:00:00 only" in honest.notes[0]
    ahead = pl.DataFrame({"id": [at_time + 9], "place": [7_000]})
    edit(
        home,
        lambda answer: pl.concat([answer.filter(~pl.col("id").is_in([5, at_time])), ahead.cast(dict(answer.schema))]),
    )
    forged = classes(found(job, home, spark))
    assert forged == {Class.IN_FLIGHT: 400 - at_time - 1, Class.ONLY_BATCH: 2, Class.ONLY_STREAM: 1}


def test_late_rows_are_taken_on_trust_where_rows_were_sent_again(tmp_path: Path, spark: SparkSession) -> None:
    job, home = ran_late(COUNT, tmp_path, shaken(1_000, 3))
    assert found(job, home, spark).notes == ()
    record = read_record(home)
    replace(record, events=(*record.events, ("replayed", SENT_AGAIN, 1))).save(home)
    told = "Taken on trust: that the rows were late which count_by_origin dropped, for the input does not tell."
    assert found(job, home, spark).notes == (told,)


TARDY = """CREATE TABLE tardy (id BIGINT, ts TIMESTAMP(3), origin VARCHAR, miles DOUBLE)
WITH ('connector' = 'file', 'path' = 'tardy', 'format' = 'parquet');
"""


def test_a_table_of_late_rows_holds_rows_that_were_read_and_late(tmp_path: Path, spark: SparkSession) -> None:
    """Whatever the file of late rows says besides."""
    data = shaken(1_000, 3)
    job, home = ran_late(TARDY + COUNT.replace(";", " EMIT AFTER WATERMARK LATE INTO tardy;"), tmp_path, data)
    lines, parts = late_lines(home), sorted((tmp_path / "tardy").glob("*.parquet"))
    assert classes(found(job, home, spark, table="tardy")) == {Class.LATE: len(lines)}
    (told,) = (line for line in lines if line["id"] == pl.read_parquet(parts[0])["id"][0])
    in_time = {name: value if name != "ts" else str(value) for name, value in data.row(0, named=True).items()}
    midnight = {"window_start": "2013-01-01 00:00:00", "window_end": "2013-01-02 00:00:00"}
    forged = [{**told, "id": -1}, {**told, **in_time, **midnight}]
    rows = pl.DataFrame(forged).with_columns(pl.col("ts").str.to_datetime())
    part = pl.read_parquet(parts[0])
    pl.concat([part, rows.select(part.columns).cast(part.schema)]).write_parquet(parts[0])  # type: ignore[arg-type]
    drop_late(home, [*lines, *forged])
    result = found(job, home, spark, table="tardy")
    assert classes(result) == {Class.LATE: len(lines), Class.ONLY_STREAM: 2}
    assert {row.row[0] for row in result.samples[Class.ONLY_STREAM]} == {-1, in_time["id"]}
