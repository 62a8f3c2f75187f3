"""Whole runs: late rows, lost rows, recorded runs, files that were written, and the command itself."""

from __future__ import annotations

import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.reconcile import Class, Recorder, reconcile, record_run
from ouzel.reconcile.recording.record import LATE, read_record
from ouzel.reconcile.report import write_report
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import RunState, Status
from ouzel.runtime.simulator.faults import lose_link
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job, load, load_text
from tests.cli.fakes import FakeHandle
from tests.connectors.iceberg_tables import ids, written
from tests.reconcile.planting import DAYS, ROWS, TABLE, classes, edit, flights, found, job_of, run, seal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

IN_TIME = "WATERMARK FOR ts AS ts - INTERVAL '1' HOUR"


def shaken(rows: int, seed: int) -> pl.DataFrame:
    """Flights of which some come days after their time."""
    random = Random(seed)
    frame = flights(rows)
    places = [number + (random.randint(400, 900) if random.random() < 0.02 else 0) for number in range(rows)]
    return frame.with_columns(place=pl.Series(places)).sort("place").drop("place")


def test_rows_dropped_as_late_are_found_in_the_record_and_explain_all(tmp_path: Path, spark: SparkSession) -> None:
    text = TABLE.replace(IN_TIME, "WATERMARK FOR ts AS ts") + DAYS
    shaken(4_000, 3).write_parquet(tmp_path / "flights.parquet")
    job = load_text(text, tmp_path, "late", (("batch.rows", "100"), ("max.pending.rows", "100")))
    record_run(job, "memory", tmp_path / "record", (("batch.rows", "100"),))
    dropped = pl.read_ndjson(tmp_path / "record" / LATE)
    result = found(job, tmp_path / "record", spark)
    assert dropped.height > 10
    assert result.counts[Class.LATE] > 5
    assert result.explained, result.counts
    lacking = sum(
        row.batch[2] - (row.stream[2] if row.stream else 0) for row in result.samples[Class.LATE] if row.batch
    )
    assert lacking == sum(count for kind, _, count in result.record.events if kind == "late-rows")
    (tmp_path / "record" / LATE).unlink()
    assert found(job, tmp_path / "record", spark).unexplained == result.counts[Class.LATE]


DAILY = "FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY))"
LATE_QUERIES = {
    "aggregate of an aggregate": f"""
        SELECT day, MAX(n) AS most, AVG(mean) AS mean FROM (
          SELECT CAST(window_start AS DATE) AS day, COUNT(*) AS n, AVG(delay) AS mean {DAILY} GROUP BY window_start, window_end, origin
        ) GROUP BY day EMIT CHANGES;""",
    "hopping": """
        SELECT window_start, COUNT(*) FILTER (WHERE miles > 500) AS far, MIN(delay) AS least
        FROM TABLE(HOP(TABLE flights, DESCRIPTOR(ts), INTERVAL '12' HOUR, INTERVAL '2' DAY)) GROUP BY window_start, window_end;""",
    "joined within a span of time": """
        SELECT a.id, b.id AS following FROM flights AS a
        LEFT JOIN flights AS b ON a.origin = b.origin AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '2' HOUR;""",
    "beside the rows before, in the order of time": """
        SELECT id, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY ts) AS place,
          SUM(delay) OVER (PARTITION BY origin ORDER BY ts ROWS 2 PRECEDING) AS lately FROM flights;""",
    "joined as of a time": """
        SELECT a.id, b.delay AS before FROM flights AS a ASOF LEFT JOIN flights AS b ON a.origin = b.origin AND a.ts > b.ts;""",
    "distinct, and no keys": f"SELECT COUNT(DISTINCT delay) AS n, AVG(miles) AS mean {DAILY} GROUP BY window_start, window_end, origin;",
}


@pytest.mark.parametrize("query", LATE_QUERIES.values(), ids=LATE_QUERIES)
def test_late_is_exact_whatever_is_computed_of_the_rows(query: str, tmp_path: Path, spark: SparkSession) -> None:
    shaken(4_000, 3).write_parquet(tmp_path / "flights.parquet")
    text = TABLE.replace(IN_TIME, "WATERMARK FOR ts AS ts") + query
    job = load_text(text, tmp_path, "late", (("batch.rows", "100"), ("max.pending.rows", "100")))
    record_run(job, "memory", tmp_path / "record")
    result = found(job, tmp_path / "record", spark)
    assert result.explained, result.samples
    assert result.counts[Class.LATE] > 5


def test_a_table_of_late_rows_holds_what_was_dropped_and_no_more(tmp_path: Path, spark: SparkSession) -> None:
    shaken(4_000, 3).write_parquet(tmp_path / "flights.parquet")
    late = """CREATE TABLE late_rows (id BIGINT, ts TIMESTAMP(3), miles DOUBLE)
        WITH ('connector' = 'file', 'path' = 'late', 'format' = 'parquet');"""
    text = (
        TABLE.replace(IN_TIME, "WATERMARK FOR ts AS ts")
        + late
        + DAYS.replace("WATERMARK;", "WATERMARK LATE INTO late_rows;")
    )
    job = load_text(text, tmp_path, "late", (("batch.rows", "100"), ("max.pending.rows", "100")))
    record_run(job, "memory", tmp_path / "record")
    dropped = pl.read_ndjson(tmp_path / "record" / LATE).height
    told = reconcile(job, tmp_path / "record", spark, table="late_rows")
    assert (told.stream_rows, told.batch_rows, told.counts) == (dropped, 0, {Class.LATE: dropped})
    assert dropped > 10
    assert found(job, tmp_path / "record", spark).explained
    lines = (tmp_path / "record" / LATE).read_text().splitlines(keepends=True)
    (tmp_path / "record" / LATE).write_text("".join(lines[1:]))
    assert reconcile(job, tmp_path / "record", spark, table="late_rows").counts == {Class.ONLY_STREAM: dropped}
    seal(tmp_path / "record")
    told = reconcile(job, tmp_path / "record", spark, table="late_rows")
    assert told.counts == {Class.LATE: dropped - 1, Class.ONLY_STREAM: 1}, (
        "a row that no record bears out is not excused"
    )


def lossy(job: Job, directory: Path, whole: int) -> list[pl.DataFrame]:
    """The result's frames of the first run whose broken links lost some rows, but not all."""
    for seed in range(1, 60):
        world = simulate(job.topology, job.packing, directory, seed=seed, faults=[lose_link] * 12)
        frames = list(world.frames.values())
        rows = sum(int(frame["flights"].sum()) if "flights" in frame.columns else frame.height for frame in frames)
        if whole // 2 < rows < whole:
            return frames
    raise AssertionError("no seed lost anything: the test tests nothing")


@pytest.mark.parametrize("query", [ROWS, DAYS], ids=["rows", "windows"])
def test_what_broken_links_lose_at_most_once_is_lost(query: str, tmp_path: Path, spark: SparkSession) -> None:
    flights().write_parquet(tmp_path / "flights.parquet")
    job = load_text(TABLE + query, tmp_path, "lossy", (("delivery", "at-most-once"), ("parallelism", "2")))
    whole = 4_000 if query == DAYS else flights().filter(pl.col("delay") > 0).height
    end = Status(RunState.FINISHED, events=(Event("rows-lost", "a connection broke"),))
    recorder = Recorder(FakeHandle([lossy(job, tmp_path, whole)], end), job, "memory", tmp_path / "record")
    recorder.results()
    recorder.stop()
    result = found(job, tmp_path / "record", spark)
    assert set(result.counts) - {Class.FLOAT} == {Class.LOST}
    assert result.explained
    if query == ROWS:
        assert result.counts[Class.LOST] == whole - result.stream_rows


def test_a_table_of_files_is_read_back(tmp_path: Path, spark: SparkSession) -> None:
    into = (
        "CREATE TABLE late (id BIGINT, delay INT) WITH ('connector' = 'file', 'path' = 'late', 'format' = 'parquet');"
    )
    job, home = run(f"{into} INSERT INTO late SELECT id, delay FROM flights WHERE delay > 0;", tmp_path)
    result = found(job, home, spark)
    assert classes(result) == {}
    part = next((tmp_path / "late").glob("*.parquet"))
    pl.read_parquet(part).with_columns(delay=pl.col("delay") + 1).write_parquet(part)
    assert set(classes(found(job, home, spark))) == {Class.ONLY_STREAM, Class.ONLY_BATCH}


def test_only_the_files_of_the_recorded_run_are_its_answer(tmp_path: Path, spark: SparkSession) -> None:
    into = (
        "CREATE TABLE late (id BIGINT, delay INT) WITH ('connector' = 'file', 'path' = 'late', 'format' = 'parquet');"
    )
    query = f"{into} INSERT INTO late SELECT id, delay FROM flights WHERE delay > "
    former, home = run(query + "0;", tmp_path)
    os.rename(home, tmp_path / "former")
    job, home = run(query + "100;", tmp_path)
    parts = list((tmp_path / "late").glob("*.parquet"))
    assert len({part.name.split("-")[1] for part in parts}) == 2
    assert pl.read_parquet(parts).height > found(job, home, spark).stream_rows > 0
    assert found(job, home, spark).differing == 0
    assert found(former, tmp_path / "former", spark).differing == 0
    job, home = run(query + "1000;", tmp_path)
    assert found(job, home, spark).stream_rows == 0


def test_maps_arrays_instants_and_intervals_are_compared(tmp_path: Path, spark: SparkSession) -> None:
    query = """
    SELECT id, MAP['a', delay, 'b', 1] AS m, ARRAY[delay, 2] AS l, CAST(ts AS TIMESTAMP_LTZ(3)) AS t, INTERVAL '26' HOUR AS i,
      ARRAY[MAP['z', INTERVAL '1' SECOND, 'y', NULL]] AS ms, ROW(delay, MAP['b', CAST(ts AS TIMESTAMP_LTZ(3))]) AS r FROM flights;
    """
    job, home = run(query, tmp_path, flights(200))
    result = found(job, home, spark)
    assert (classes(result), result.matched) == ({}, 200)


def test_columns_that_differ_in_case_alone_are_two(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run('SELECT id AS a, delay AS "A", ts AS "Ts" FROM flights;', tmp_path, flights(200))
    assert (classes(found(job, home, spark)), found(job, home, spark).matched) == ({}, 200)
    edit(home, lambda answer: answer.with_columns(A=pl.col("A").fill_null(0) + 1))
    result = found(job, home, spark)
    assert set(result.counts) == {Class.ONLY_STREAM, Class.ONLY_BATCH}
    assert result.differences.columns[-3:] == ["stream", "batch", "dropped"]


def test_generated_rows_are_read_again_by_their_offsets(tmp_path: Path, spark: SparkSession) -> None:
    made = "CREATE TABLE d (i BIGINT) WITH ('connector' = 'datagen', 'rows' = '500', 'fields.i.kind' = 'sequence');"
    job = load_text(f"{made} SELECT i % 7 AS k, COUNT(*) AS n FROM d GROUP BY i % 7 EMIT CHANGES;", tmp_path, "made")
    record_run(job, "memory", tmp_path / "record")
    result = reconcile(job, tmp_path / "record", spark)
    assert (classes(result), result.matched) == ({}, 7)


class Tags(HTMLParser):
    """Whatever would load something from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [
            f"{tag} {name}"
            for name, value in attrs
            if (name in ("src", "href") and not (value or "").startswith("#")) or "url(" in (value or "")
        ]
        self.outside += [tag] if tag in ("link", "script", "img", "iframe") else []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_report_is_one_page_with_everything(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run(DAYS, tmp_path)
    edit(
        home,
        lambda frame: frame.with_columns(max_delay=pl.col("max_delay") + 1, origin=pl.col("origin").fill_null("<b>&")),
    )
    result = found(job, home, spark)
    page = write_report(result, tmp_path / "report")
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))
    assert tags.outside == []
    assert "@import" not in page.read_text()
    said = " ".join(tags.text)
    for part in (
        "<b>&",
        "only in stream",
        "value differs",
        "GROUP BY window_start",
        "groupBy",
        "aggregate_by_origin",
        "flights.parquet#0-4000",
    ):
        assert part in said, part
    assert "<svg" in page.read_text()
    rows = pl.read_parquet(tmp_path / "report/differences.parquet/*.parquet")
    assert rows["class"].value_counts().sort("class").rows() == sorted(
        (kind.value, n) for kind, n in result.counts.items()
    )
    assert rows.columns == ["class", "differing", "departure_day", "origin", "stream", "batch", "dropped"]


def ouzel(*arguments: str | Path) -> tuple[int, str, str]:
    """The command's exit code, stdout and stderr."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_reconciles_a_recorded_run(tmp_path: Path, spark: SparkSession) -> None:
    job_of(DAYS, tmp_path)
    query, home = tmp_path / "days.sql", tmp_path / "record"
    query.write_text(TABLE + DAYS)
    code, _, said = ouzel(
        "run", query, "--engine", "memory", "--record", home, "--format", "changelog", "--set", "parallelism=2"
    )
    assert code == 0, said
    assert read_record(home).settings == (("parallelism", "2"),)
    code, out, said = ouzel(
        "reconcile", query, "--record", home, "--report", tmp_path / "report", "--tolerance", "1e-6"
    )
    assert (code, "Stream and batch agree" in out) == (0, True), said
    assert (tmp_path / "report/index.html").exists()
    edit(home, lambda frame: frame.with_columns(max_delay=pl.lit(-1, pl.Int32)))
    code, out, _ = ouzel("reconcile", query, "--record", home)
    assert code == 3
    assert "without an explanation" in out
    assert "-1 stream" in out
    query.write_text(TABLE + ROWS)
    code, _, said = ouzel("reconcile", query, "--record", home)
    assert (code, "is of another query" in said) == (2, True), said


def test_a_record_of_a_table_that_was_found_at_another_version_says_which(tmp_path: Path) -> None:
    query, home, rows = tmp_path / "q.sql", tmp_path / "record", pa.table({"n": pa.array([1, 2], pa.int64())})
    query.write_text("CREATE TABLE t (*) WITH ('connector' = 'delta', 'path' = 't'); SELECT n FROM t;")
    write_deltalake(tmp_path / "t", rows)
    code, _, said = ouzel("run", query, "--engine", "memory", "--record", home, "--format", "changelog")
    assert code == 0, said
    write_deltalake(tmp_path / "t", rows, mode="append")
    code, _, said = ouzel("reconcile", query, "--record", home)
    assert code == 2
    assert "that run read table 't' with 'version' = '0': write it into its WITH" in " ".join(said.split())


def test_a_record_of_a_table_of_iceberg_is_reconciled_at_the_snapshot_that_was_read(tmp_path: Path) -> None:
    query, home, rows = tmp_path / "q.sql", tmp_path / "record", pa.table({"n": pa.array([1, 2], pa.int64())})
    at = "'connector' = 'iceberg', 'catalog.uri' = 'sqlite:///c.db', 'table' = 'ns.t'"
    query.write_text(f"CREATE TABLE t (*) WITH ({at}); SELECT n FROM t;")
    table = written(tmp_path, rows)
    code, _, said = ouzel("run", query, "--engine", "memory", "--record", home, "--format", "changelog")
    assert code == 0, said
    table.append(rows)
    code, _, said = ouzel("reconcile", query, "--record", home)
    read = f"'snapshot.id' = '{ids(table)[0]}'"
    assert code == 2
    assert f"that run read table 't' with {read}" in " ".join(said.split())
    query.write_text(f"CREATE TABLE t (*) WITH ({at}, {read}); SELECT n FROM t;")
    code, out, said = ouzel("reconcile", query, "--record", home)
    assert (code, "Stream and batch agree" in out) == (0, True), said


def test_the_command_runs_the_topology_itself(tmp_path: Path, spark: SparkSession) -> None:
    job_of(ROWS, tmp_path)
    (tmp_path / "rows.sql").write_text(TABLE + ROWS)
    code, out, said = ouzel("reconcile", tmp_path / "rows.sql", "--engine", "memory")
    assert (code, "no difference" in out) == (0, True), said


def test_no_record_and_no_result_are_said(tmp_path: Path) -> None:
    (tmp_path / "rows.sql").write_text(TABLE + ROWS)
    (tmp_path / "record").mkdir()
    code, _, said = ouzel("reconcile", tmp_path / "rows.sql", "--record", tmp_path / "record")
    assert code == 2
    assert "there is no record of a run in" in said


@pytest.mark.server
@pytest.mark.slow
def test_words_counted_by_processes_have_no_difference(tmp_path: Path, spark: SparkSession) -> None:
    examples = Path(__file__).parents[2] / "sql_examples"  # the flights' question, over all of the year: test_readme.py
    (tmp_path / "data").mkdir()
    lines = (examples / "data/announcements.txt").read_text().splitlines(keepends=True)
    (tmp_path / "data/announcements.txt").write_text("".join(lines[::4]))
    shutil.copy(examples / "word_count.sql", tmp_path)
    job = load(tmp_path / "word_count.sql", (("parallelism", "2"),))
    record_run(job, "heron", tmp_path / "record", (("parallelism", "2"),))
    result = found(job, tmp_path / "record", spark)
    assert result.explained
    assert result.matched > 100


def test_the_page_of_the_docs_runs(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    (text,) = re.findall(r"^```python\n(.*?)^```", (root / "docs/reconcile.md").read_text(), re.M | re.S)
    exec(compile(text, "reconcile.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out.startswith("True ")
