"""The command `ouzel batch`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyspark
import pytest
from typer.testing import CliRunner, Result

from ouzel.cli.main import app
from ouzel.errors import NotSupported, OuzelError
from ouzel.spark.session import require, start_spark, translate_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = """CREATE TABLE t (a BIGINT, b VARCHAR) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv');
SELECT b, SUM(a) AS total FROM t GROUP BY b EMIT CHANGES;
"""
INSERT = """CREATE TABLE t (a BIGINT, b VARCHAR) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv');
CREATE TABLE out (a BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
INSERT INTO out SELECT a FROM t WHERE a > 1;
"""


@pytest.fixture
def query(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n5,x\n")
    (tmp_path / "q.sql").write_text(QUERY)
    (tmp_path / "insert.sql").write_text(INSERT)
    return tmp_path / "q.sql"


def ouzel(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["batch", *map(str, arguments)])


def test_the_job_is_written_and_the_way_to_run_it_said(query: Path) -> None:
    done = ouzel(query, "--emit", query.with_name("job.py"))
    assert done.exit_code == 0
    assert "run it with: spark-submit" in done.stderr
    compile(query.with_name("job.py").read_text(), "job.py", "exec")
    printed = ouzel(query, "--emit", "-")
    assert printed.stdout == query.with_name("job.py").read_text()


def test_what_has_no_batch_is_refused_before_spark_starts(query: Path) -> None:
    query.write_text("CREATE TABLE t (a BIGINT) WITH ('connector' = 'datagen'); SELECT a FROM t;")
    done = ouzel(query)
    assert done.exit_code == 2
    assert "table 't' has no end" in done.stderr


def test_settings_and_times_are_looked_at_before_anything_runs(query: Path, tmp_path: Path) -> None:
    assert "there is no setting 'batch.row'; did you mean" in ouzel(query, "--set", "batch.row=1").stderr
    assert '"from_cli"' in ouzel(query, "--set", "query.name=from_cli", "--emit", "-").stdout
    assert "table 't' has no event time" in ouzel(query, "--from", "2024-01-01").stderr
    assert "--from cannot be 'noon'" in ouzel(query, "--from", "noon").stderr
    (tmp_path / "o.json").write_text('{"t": {}}')
    both = ouzel(query, "--from", "2024-01-01", "--offsets", tmp_path / "o.json")
    assert both.exit_code == 2
    assert "--offsets says already which rows are read; leave out --from and --to" in both.stderr


def test_an_emitted_job_writes_where_it_was_told(query: Path, tmp_path: Path) -> None:
    text = ouzel(query, "--emit", "-", "--output", tmp_path / "o.csv").stdout
    assert ").csv(args.result)\n" in text
    assert f'"--result", metavar="PATH", default="{tmp_path / "o.csv"}"' in re.sub(r"\s+", " ", text)
    assert ".show(" not in text


@pytest.mark.parametrize(
    ("output", "more", "writer"),
    [
        ("s3a://lake/o.parquet", (), "answer.write.parquet("),
        ("s3a://lake/o", (), "answer.write.parquet("),
        ("hdfs:///lake/2024.01", ("--output-format", "json"), ".json("),
        ("abfss://c@account.dfs.core.windows.net/o.csv", (), ").csv("),
    ],
)
def test_an_output_that_is_a_uri_stays_one(query: Path, output: str, more: tuple[str, ...], writer: str) -> None:
    text = ouzel(query, "--emit", "-", "--output", output, *more).stdout
    assert f'default="{output}"' in text
    assert f"{writer}args.result)\n" in text


def test_a_format_that_is_not_known_is_refused(query: Path, tmp_path: Path) -> None:
    done = ouzel(query, "--emit", "-", "--output", tmp_path / "o.delta")
    assert done.exit_code == 2
    assert (
        ".delta is no format that a batch writes; end it with one of .csv, .json, .jsonl, .parquet, or add --output-format"
        in re.sub(r"\s+", " ", done.stderr)
    )
    done = ouzel(query, "--output", "x", "--output-format", "delta")
    assert done.exit_code == 2
    done = ouzel(query, "--output-format", "csv")
    assert "--output-format says how --output is written; add --output PATH, or leave it out" in done.stderr


def test_output_needs_a_select(query: Path) -> None:
    done = ouzel(query.with_name("insert.sql"), "--output", "x")
    assert done.exit_code == 1
    assert "the query has none" in done.stderr
    assert ouzel(query, "--conf", "spark.x").exit_code == 2


def test_a_missing_pyspark_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(OuzelError, match=r'which is not installed; write: pip install "ouzel\[spark\]"'):
        start_spark("q")


def test_an_old_pyspark_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.0.1")
    with pytest.raises(
        OuzelError, match=r'PySpark here is 4.0.1, and 4.1 is the oldest .* write: pip install "ouzel\[spark\]"'
    ):
        start_spark("q")
    monkeypatch.setattr(pyspark, "__version__", "10.0.0.dev1")
    require()


def test_another_spark_at_spark_home_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(OuzelError, match="where there is no bin/spark-submit; correct it, or unset it"):
        start_spark("q")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    require()  # nothing says of what version it is
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.5.1-amzn-0.jar").touch()
    with pytest.raises(OuzelError, match=r"which is Spark 3\.5\.1-amzn-0, and PySpark here is .*; unset SPARK_HOME"):
        start_spark("q")
    (tmp_path / "jars" / "spark-core_2.12-3.5.1-amzn-0.jar").unlink()
    first, second, *_ = pyspark.__version__.split(".")
    (tmp_path / "jars" / f"spark-core_2.13-{first}.{second}.99-amzn-1.jar").touch()
    require()


def test_a_missing_jdk_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(OuzelError, match="where there is no bin/java; correct it"):
        start_spark("q")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OuzelError, match="Spark needs a JDK, and there is no 'java' here; install JDK 17 or newer"):
        start_spark("q")


def test_a_java_that_ends_is_told_of_in_its_own_words_and_leaves_no_folder(tmp_path: Path) -> None:
    """Each start left a folder with an empty log in the temporary directory."""
    java, temporary = tmp_path / "bin" / "java", tmp_path / "tmp"
    java.parent.mkdir()
    temporary.mkdir()
    java.write_text("#!/bin/sh\necho 'Error: this is no JDK' >&2\nexit 1\n")
    java.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", "from ouzel.spark.session import start_spark\nstart_spark('q')"],
        env={**os.environ, "JAVA_HOME": str(tmp_path), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Spark does not start on local[*]: Error: this is no JDK" in done.stderr
    assert not list(temporary.glob("ouzel-spark-*"))


def test_spark_connect_is_refused_in_one_sentence() -> None:
    with pytest.raises(NotSupported) as refused:
        start_spark("q", "sc://there:15002")
    assert str(refused.value) == (
        "sc://there:15002: Spark Connect has no way to Ouzel's own readers and writers; write the job with `ouzel batch --emit job.py`, "
        "which over files needs none of them, and run it there: SPARK_REMOTE=sc://there:15002 python job.py"
    )


CALLED = "An error occurred while calling o1.collect.\n: org.apache.spark."
NO_JARS = (
    "'spark.source' = 'jvm' asks for Spark's own Kafka source, whose jars are not there; add --conf spark.jars.packages="
    f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}, or leave it out and Ouzel reads the topic"
)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("x\nouzel.errors.BadRecord: bad record at t.csv:3: no number\n\tat JVM", "bad record at t.csv:3: no number"),
        ("[PATH_ALREADY_EXISTS] Path file:/a/b already exists. Set", "/a/b is there already, and a batch overwrites nothing; remove it"),
        ("[PATH_NOT_FOUND] Path does not exist: file:/a/b. SQLSTATE: 42K03", "there is no /a/b"),
        ("Job aborted\norg.apache: [DIVIDE_BY_ZERO] Division by zero.\n\tat", "Spark: [DIVIDE_BY_ZERO] Division by zero."),
        ("[PYTHON_DATA_SOURCE_ERROR] x: Traceback (most recent call last):\n  File\nimport.ImportError: no x\n at", "Spark: no x"),
        ("[X] Failed to find data source: kafka. Please deploy", NO_JARS),
        (f"{CALLED}SparkException: Job aborted: \nError from python worker:\n  /p: no module x\nPYTHONPATH", "Spark: /p: no module x"),
        (f"{CALLED}SparkException: Job aborted: executor lost\n\tat x\nCaused by: a.b.C$D: disk full\n\tat y", "Spark: disk full"),
        (f"{CALLED}SparkException: Job aborted: executor lost\n\tat x", "Spark: Job aborted: executor lost"),
        ("strange", "Spark: strange"),
    ],
)  # fmt: skip
def test_what_spark_raises_is_one_sentence(raised: str, said: str) -> None:
    assert str(translate_error(RuntimeError(raised))) == said


def test_a_process_beside_the_driver_that_does_not_begin_is_told_with_its_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/python")
    said = str(translate_error(RuntimeError(f"{CALLED}SparkException: Python worker failed to connect back.")))
    assert (
        "has not begun within the ten seconds that Spark gives it; the machine is too busy, or /no/python, which"
        in said
    )


def test_a_file_that_may_not_be_opened_is_not_said_to_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark says of either that it does not exist."""
    file = tmp_path / "a b.csv"
    told = f"[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file {file.as_uri()}. File does not exist. It is possible"
    gone = f"the file {file} is not there any more, or may not be opened; it was found when the batch began"
    assert str(translate_error(RuntimeError(told))) == gone
    file.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # who is root may read all
    assert str(translate_error(RuntimeError(told))) == f"the file {file} cannot be read: Permission denied"


@pytest.mark.parametrize("logger", ["SQLQueryContextLogger", "DataFrameQueryContextLogger"])
def test_what_pyspark_logs_as_json_stays_out_of_the_terminal(logger: str) -> None:
    told = (
        f"from pyspark.logger import PySparkLogger\nPySparkLogger.getLogger({logger!r}).exception('x', errorClass='Y')"
    )
    quiet = f"from ouzel.spark.session import quieten\nquieten()\n{told}"
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
        for code in (told, quiet)
    ]
    assert json.loads(said[0].splitlines()[0])["context"] == {"errorClass": "Y"}, "as PySpark is without us"
    assert said[1] == ""


@pytest.fixture
def warm(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command finds a session that runs already, and leaves it running."""
    monkeypatch.setattr("ouzel.spark.session.start_spark", lambda *_: spark)
    monkeypatch.setattr(type(spark), "stop", lambda self: None)


@pytest.mark.spark
@pytest.mark.usefixtures("warm")
def test_the_answer_is_printed_as_run_prints_it(query: Path) -> None:
    assert ouzel(query, "--format", "csv").stdout == "b,total\nx,6\ny,2\n"
    assert [json.loads(line) for line in ouzel(query, "--format", "jsonl").stdout.splitlines()] == [
        {"b": "x", "total": 6},
        {"b": "y", "total": 2},
    ]
    table = ouzel(query)
    assert table.stdout.splitlines()[-1].strip() == "2 rows"
    assert "batch: 2 rows in" in table.stderr


@pytest.mark.spark
@pytest.mark.usefixtures("warm")
def test_output_insert_and_offsets(query: Path, tmp_path: Path) -> None:
    assert ouzel(query, "--output", tmp_path / "o.parquet").stdout == ""
    assert sorted(pl.read_parquet(tmp_path / "o.parquet/*.parquet").rows()) == [("x", 6), ("y", 2)]
    insert = query.with_name("insert.sql")
    assert ouzel(insert).exit_code == 0
    assert sorted(pl.read_parquet(tmp_path / "out/*.parquet").rows()) == [(2,), (5,)]
    again = ouzel(insert)
    assert again.exit_code == 1
    assert "out is there already" in again.stderr
    (tmp_path / "o.json").write_text(json.dumps({"t": {str(tmp_path / "t.csv"): [1, 3]}}))
    exact = ouzel(query, "--offsets", tmp_path / "o.json", "--format", "csv")
    assert exact.stdout == "b,total\nx,1\ny,2\n", exact.stderr


@pytest.mark.spark
@pytest.mark.usefixtures("warm")
def test_a_bad_record_is_one_sentence(query: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\noops,y\n")
    (tmp_path / "o.json").write_text(json.dumps({"t": {str(tmp_path / "t.csv"): [1, 2]}}))
    assert ouzel(query, "--offsets", tmp_path / "o.json", "--format", "csv").stdout == "b,total\nx,1\n"
    (tmp_path / "o.json").write_text(json.dumps({"t": {str(tmp_path / "t.csv"): [2, 3]}}))
    done = ouzel(query, "--offsets", tmp_path / "o.json")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("error: bad record at ")
