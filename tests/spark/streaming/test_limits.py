"""What cannot run on Structured Streaming is refused in one sentence, before Spark starts: none of these tests starts it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.errors import NotSupported, QueryError, TopologyError
from ouzel.reconcile.recording.recorder import recordable
from ouzel.session import Job
from ouzel.spark.lowering.streaming import streaming_queries
from ouzel.spark.streaming.checkpoint import PARTITIONS, LocalHome, checkpoint_of, describe_pinned
from ouzel.spark.streaming.limits import check_streaming
from ouzel.spark.streaming.run import start_structured

ROWS = "CREATE TABLE t (ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'file', 'path' = 't', 'format' = 'json');\n"
SELECT = "SELECT n FROM t"
COUNT = "SELECT n, COUNT(*) AS many FROM t GROUP BY n EMIT CHANGES"


@pytest.mark.parametrize(
    ("text", "setting", "sentence"),
    [
        (SELECT, ("late.path", "late.jsonl"), "counts the rows that it drops as late and does not give them away; leave out 'late.path'"),
        (SELECT, ("error.policy", "skip"), "Spark ends a query when an expression fails, and 'error.policy' is skip"),
        (COUNT, ("checkpoint.path", "state"), "'result' is told which rows change, and what it held is not in a checkpoint"),
    ],
)  # fmt: skip
def test_settings(job: Callable[..., Job], text: str, setting: tuple[str, str], sentence: str) -> None:
    with pytest.raises(NotSupported, match=sentence):
        start_structured(job(ROWS + text, setting))


def test_what_cannot_be_written_once_is_refused(job: Callable[..., Job]) -> None:
    once = ("delivery", "effectively-once")
    with pytest.raises(
        NotSupported, match=r"knows what is written by its checkpoint; SET 'checkpoint\.path' to a folder"
    ):
        check_streaming(job(ROWS + SELECT, once))
    made = job(ROWS + "CREATE TABLE kept (n INT) WITH ('connector' = 'file', 'path' = 'k', 'format' = 'json'); INSERT INTO kept " + SELECT,
               once, ("checkpoint.path", "state"))  # fmt: skip
    check_streaming(made)
    for connector in ("'print'", "'kestrel', 'servers' = 'a:1', 'queue' = 'q', 'format' = 'json'"):
        text = f"{ROWS}CREATE TABLE kept (n INT) WITH ('connector' = {connector}); INSERT INTO kept {SELECT}"
        with pytest.raises(NotSupported, match=r"'kept' .* cannot show the rows of an epoch all at once"):
            job(text, once, ("checkpoint.path", "state"))


def test_a_recorded_run_asks_spark_for_no_late_rows(job: Callable[..., Job], tmp_path: Path) -> None:
    for engine, late in (("spark", ""), ("heron", str(tmp_path / "late.jsonl"))):
        made = recordable(job(ROWS + SELECT), tmp_path, engine)
        assert made.settings is made.topology.settings
        assert made.settings.late_path == late
        assert made.settings.seed != 0
    check_streaming(recordable(job(ROWS + SELECT), tmp_path, "spark"))


def test_a_cluster_needs_a_checkpoint_that_is_shared(job: Callable[..., Job]) -> None:
    with pytest.raises(NotSupported, match=r"where every executor can write; SET 'checkpoint\.path' to a folder"):
        start_structured(job(ROWS + SELECT), master="spark://somewhere:7077")


def test_a_table_in_memory(job: Callable[..., Job]) -> None:
    text = "CREATE TABLE t (n INT) WITH ('connector' = 'memory'); SELECT n FROM t"
    with pytest.raises(
        NotSupported, match="table 't': Spark cannot read connector 'memory', which lives in one process"
    ):
        start_structured(job(text))


def test_a_checkpoint_is_of_one_query(job: Callable[..., Job], tmp_path: Path) -> None:
    one, other = (job(ROWS + text, ("checkpoint.path", "state")) for text in (SELECT, SELECT + " WHERE n > 1"))
    for made in (one, one):
        with checkpoint_of(made, queries(made)) as place:
            assert place.home.uri == (tmp_path / "state").as_uri()
    with pytest.raises(QueryError, match="is the checkpoint of another query"), checkpoint_of(other, queries(other)):
        pass


def test_a_checkpoint_is_of_the_run_that_began_last(job: Callable[..., Job]) -> None:
    made = job(ROWS + SELECT, ("checkpoint.path", "state"))
    with checkpoint_of(made, queries(made)) as first:
        first.check_owner()
        with checkpoint_of(made, queries(made)) as second:
            second.check_owner()
            with pytest.raises(
                TopologyError, match=r"^process \d+ on .*/state now: another run began there, so this one ends;"
            ):
                first.check_owner()


def test_without_the_setting_a_checkpoint_is_gone_in_the_end(job: Callable[..., Job]) -> None:
    made = job(ROWS + SELECT)
    with checkpoint_of(made, queries(made)) as place:
        home = Path(place.home.uri.removeprefix("file://"))
        assert home.is_dir()
        place.check_owner()
    assert not home.exists()


def test_other_shuffle_partitions_than_those_of_the_state_are_told(tmp_path: Path) -> None:
    home = LocalHome(tmp_path)
    assert describe_pinned(home, "kept", "5") == ""
    for number, partitions in ((9, 4), (10, 3)):
        conf = json.dumps({"batchWatermarkMs": 0, "conf": {PARTITIONS: str(partitions)}})
        (tmp_path / "kept/offsets").mkdir(parents=True, exist_ok=True)
        home.write(f"kept/offsets/{number}", f"v1\n{conf}\n{{}}")
    assert describe_pinned(home, "kept", "5") == "", "without state any number will do"
    (tmp_path / "kept/state/0").mkdir(parents=True)
    assert describe_pinned(home, "kept", "3") == ""
    assert "'kept': the state in its checkpoint has 3 shuffle partitions" in describe_pinned(home, "kept", "5")


def queries(job: Job):  # type: ignore[no-untyped-def]
    return streaming_queries(job.program, job.directory, job.topology.name)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "spark", "--set", "late.path=x"], "does not give them away"),
        (["--master", "local[2]"], "it is for Spark; write --engine spark"),
        (["--engine", "memory", "--conf", "a=b"], "it is for Spark; write --engine spark"),
        (["--engine", "spark", "--conf", "a"], "'a' has no '='; write --conf key=value"),
    ],
)
def test_the_command_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "q.sql").write_text(ROWS + SELECT)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "q.sql"), *arguments])
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())
