"""Parquet tables that Spark's own file source reads: when it does, and that the run is as with our own source."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from ouzel.errors import ConnectorError
from ouzel.runtime.run import RunState, Status
from ouzel.session import Job
from ouzel.spark.io.source import TableRequest
from ouzel.spark.streaming import spark_files
from ouzel.spark.streaming.run import start_structured
from ouzel.spark.streaming.spark_files import SparkFiles
from tests.spark.streaming.conftest import answer, ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = StructType([StructField("n", LongType())])
ROWS = 4
START_S = 1_700_000_000
SCHEMA = {"n": pl.Int64(), "ts": pl.Datetime("us")}
OPTIONS = {"connector": "file", "path": "t/*.parquet", "format": "parquet"}


def put(folder: Path, number: int, rows: pl.DataFrame | None = None, time: int | None = None) -> Path:
    """File `number` of the table, of rows numbered on from those before, written after it."""
    path = folder / "t" / f"{number}.parquet"
    path.parent.mkdir(exist_ok=True)
    first = number * ROWS
    ts = [datetime(2026, 1, 1) + timedelta(seconds=10 * n) for n in range(first, first + ROWS)]
    frame = pl.DataFrame({"n": range(first, first + ROWS), "ts": ts}, schema=SCHEMA) if rows is None else rows
    frame.write_parquet(path)
    seconds = START_S + (number if time is None else time)
    os.utime(path, (seconds, seconds))
    return path


@pytest.fixture
def three(tmp_path: Path) -> Path:
    for number in range(3):
        put(tmp_path, number)
    return tmp_path


def settled(
    folder: Path,
    schema: StructType = NUMBERS,
    end_mark: str = "",
    rows: int = 100,
    required: tuple[str, ...] = (),
    **more: str,
) -> int:
    """Of how many files Spark's source reads the table."""
    table = TableRequest("t", {**OPTIONS, **more}, {}, list(required), str(folder), None, 1)
    return len(SparkFiles((folder / "state").as_uri()).settle(table, schema, end_mark, rows).files)


def test_spark_reads_plain_rows(three: Path) -> None:
    assert settled(three, required=("n",)) == 3


@pytest.mark.parametrize(
    "more",
    [{"bad.record": "skip"}, {"partitions": "2"}, {"changelog.mode": "upsert"}],
    ids=lambda more: next(iter(more)),
)
def test_ours_reads_what_sparks_has_no_option_for(three: Path, more: dict[str, str]) -> None:
    assert settled(three, **more) == 0


def test_ours_reads_other_types_and_records_that_may_be_bad(three: Path) -> None:
    put(three, 3, pl.DataFrame({"n": [None, 1]}, schema={"n": pl.Int64()}))
    assert settled(three, required=("n",)) == 0, "a NULL must not be there, and ours says where it is"
    put(three, 3, pl.DataFrame({"n": [1]}, schema={"n": pl.Int32()}))
    (three / "state").rename(three / "before")
    assert settled(three) == 0


def test_ours_reads_files_that_are_longer_than_a_micro_batch_may_be(three: Path) -> None:
    assert settled(three, rows=ROWS - 1) == 0


def test_ours_reads_files_whose_order_sparks_would_change(three: Path) -> None:
    marked = StructType([*NUMBERS, StructField("$end", StringType())])
    put(three, 1, time=9)
    assert settled(three, marked, "$end", rows=ROWS) == 0
    (three / "state").rename(three / "before")
    assert settled(three, marked, "$end", rows=3 * ROWS) == 3, "in one micro-batch there is no order"


def test_why_ours_reads_a_table_is_said(three: Path) -> None:
    marked = StructType([*NUMBERS, StructField("$end", StringType())])
    table = TableRequest("t", OPTIONS, {}, [], str(three), None, 1)
    put(three, 1, time=9)
    files = SparkFiles((three / "state").as_uri())
    files.settle(table, marked, "$end", ROWS)
    assert files.remarks == [
        "table 't' is read by Python workers, which takes longer: Spark reads files in the order of their times, and these were not "
        "written in the order of their names"
    ]


@pytest.mark.spark
def test_what_a_run_sets_for_its_files_comes_back(spark: SparkSession, job: Callable[..., Job], three: Path) -> None:
    spark.conf.set(spark_files.LISTING, "7")
    try:
        answer(job(WINDOWS), spark)
        assert spark.conf.get(spark_files.LISTING) == "7"
    finally:
        spark.conf.unset(spark_files.LISTING)


def test_ours_reads_on_what_it_has_begun(three: Path) -> None:
    (three / "state" / "offsets").mkdir(parents=True)
    assert settled(three) == 0


def test_a_name_that_spark_would_take_for_a_choice(three: Path) -> None:
    (three / "t" / "0.parquet").rename(three / "t" / "{a,b}.parquet")
    assert settled(three) == 0


def test_what_was_settled_holds_for_the_next_run(three: Path) -> None:
    assert settled(three) == 3
    put(three, 3)
    assert settled(three) == 3
    put(three, 1, pl.DataFrame({"n": [1]}, schema={"n": pl.Int64()}))
    with pytest.raises(ConnectorError, match=r"1\.parquet was replaced or changed since the query first began"):
        settled(three)


def test_a_checkpoint_elsewhere_leaves_it_to_ours(three: Path) -> None:
    table = TableRequest("t", OPTIONS, {}, [], str(three), None, 1)
    assert SparkFiles("s3a://bucket/state").settle(table, NUMBERS, "", 100).files == ()


def test_sparks_log_says_what_was_read(tmp_path: Path) -> None:
    log = tmp_path / "sources" / "0"
    log.mkdir(parents=True)

    def entries(*numbers: int) -> str:
        return "\n".join(["v1", *(json.dumps({"path": f"file:///a%20b/{n}", "batchId": n}) for n in numbers)])

    (log / "9.compact").write_text(entries(*range(10)))
    (log / "8").write_text(entries(8))
    (log / "10").write_text(entries(10))
    assert spark_files._read_until(log, 10) == {f"/a b/{n}" for n in range(11)}
    assert spark_files._read_last(log) == {"/a b/10"}
    (log / "10").unlink()
    assert spark_files._read_last(log) == {"/a b/9"}


TABLE = """CREATE TABLE t (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 't/*.parquet', 'format' = 'parquet');
"""
WINDOWS = TABLE + (
    "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND)) "
    "GROUP BY window_start, window_end"
)


def ranges_of(folder: Path, files: int) -> dict[str, tuple[int, int]]:
    return {f"{folder / 't' / f'{number}.parquet'}#0-{ROWS}": (0, ROWS) for number in range(files)}


@pytest.mark.spark
def test_windows_close_file_by_file_as_with_our_own_source(
    spark: SparkSession, job: Callable[..., Job], three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = job(WINDOWS, ("trigger.rows", str(ROWS)))
    rows, status = answer(made, spark)
    assert (status.rows_in, status.rows_late, status.ranges) == (3 * ROWS, 0, {"t": ranges_of(three, 3)})
    assert rows["n"].to_list() == [3, 3, 3, 3]
    assert "FileStreamSource" in spark_plan(monkeypatch, made, spark)
    monkeypatch.setattr(spark_files, "_may_be_plain", lambda table: False)
    theirs, ours = answer(made, spark)
    assert (theirs.sort("window_start").rows(), ours.ranges) == (rows.sort("window_start").rows(), status.ranges)


def spark_plan(monkeypatch: pytest.MonkeyPatch, made: Job, spark: SparkSession) -> str:
    """What Spark calls the sources of a run."""
    told: list[str] = []
    restate = SparkFiles.restate
    with monkeypatch.context() as patched:
        patched.setattr(
            SparkFiles, "restate", lambda self, report: told.append(str(report["sources"])) or restate(self, report)
        )
        answer(made, spark)
    return "".join(told)


KEPT = (
    "CREATE TABLE t (n BIGINT) WITH ('connector' = 'file', 'path' = 't/*.parquet', 'format' = 'parquet');\n"
    "CREATE TABLE kept (n BIGINT) WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'json');\n"
    "INSERT INTO kept SELECT n FROM t WHERE n <> 5"
)


def run(job: Callable[..., Job], spark: SparkSession, text: str = KEPT) -> Status:
    return ended(start_structured(job(text, ("checkpoint.path", "state"), ("trigger.rows", str(ROWS))), spark=spark))


def kept(folder: Path) -> list[int]:
    parts = (folder / "kept").glob("part-*")
    return sorted(json.loads(line)["n"] for part in parts for line in part.read_text().splitlines())


@pytest.mark.spark
def test_a_run_goes_on_from_its_checkpoint(
    spark: SparkSession, job: Callable[..., Job], three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped by a sink that breaks at the second micro-batch, begun again, and begun once more after its end."""
    from ouzel.spark.streaming.sinks import ByTasks

    take = ByTasks.take

    def break_at_second(self: ByTasks, frame: object, number: int, batch_id: int) -> int:
        if number == 1:
            raise ConnectorError("the disk is full")
        return take(self, frame, number, batch_id)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(ByTasks, "take", break_at_second)
        first = run(job, spark)
    assert (first.state, first.reason, first.ranges) == (
        RunState.FAILED,
        "the disk is full",
        {"t": ranges_of(three, 1)},
    )
    put(three, 3)
    again = run(job, spark)
    assert (again.state, again.rows_in, again.ranges) == (RunState.FINISHED, 2 * ROWS, {"t": ranges_of(three, 3)})
    assert kept(three) == [n for n in range(3 * ROWS) if n != 5]
    once_more = run(job, spark)
    assert (once_more.state, once_more.rows_in, once_more.rows_out) == (RunState.FINISHED, 0, 0), once_more.reason


@pytest.mark.spark
def test_a_file_that_changes_while_it_is_read_ends_the_run(
    spark: SparkSession, job: Callable[..., Job], three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ouzel.spark.streaming.sinks import ByTasks

    take = ByTasks.take

    def replace_then_take(self: ByTasks, frame: object, number: int, batch_id: int) -> int:
        put(three, number, pl.DataFrame({"n": [7]}, schema={"n": pl.Int64()}))
        return take(self, frame, number, batch_id)  # type: ignore[arg-type]

    monkeypatch.setattr(ByTasks, "take", replace_then_take)
    status = run(job, spark)
    assert status.state is RunState.FAILED
    assert "0.parquet was replaced or changed" in status.reason
    assert not status.ranges


@pytest.mark.spark
def test_one_file_is_read_alone(spark: SparkSession, job: Callable[..., Job], three: Path) -> None:
    status = run(job, spark, KEPT.replace("*", "1"))
    assert (status.state, status.rows_in) == (RunState.FINISHED, ROWS), status.reason
    assert kept(three) == [4, 6, 7]


@pytest.mark.spark
def test_a_sink_that_forgets_all_rows_counts_them(spark: SparkSession, job: Callable[..., Job], three: Path) -> None:
    text = KEPT.replace("'file', 'path' = 'kept', 'format' = 'json'", "'blackhole'").replace("n <> 5", "n > 5")
    status = run(job, spark, text)
    assert (status.state, status.rows_in, status.rows_out) == (RunState.FINISHED, 3 * ROWS, 2 * ROWS - 2), status.reason
