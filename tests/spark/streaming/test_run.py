"""Plans written by hand, run as Structured Streaming: what the engine does with each output mode, its sinks, its checkpoint, its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import TopologyError
from ouzel.runtime.run import RunState
from ouzel.session import Job
from ouzel.spark.lowering.streaming import OutputMode, StreamingQuery
from ouzel.spark.streaming import gate, run
from ouzel.spark.streaming.run import StructuredHandle, start_structured
from ouzel.spark.streaming.stream import Stream
from tests.spark.streaming.conftest import ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WORDS = "CREATE TABLE words (word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.txt', 'format' = 'raw');\n"
READ = 'words = read_stream(spark, "words", "word string", {"connector": "file", "path": "words.txt", "format": "raw"}, folder=folder)\n'
COUNTS = READ + 'counts = words.groupBy("word").agg(F.count("*").alias("n"))\n'
COUNT = "SELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES"

Planned = Callable[..., None]


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Puts a plan of our own in the place of the planner's."""

    def put(text: str, mode: OutputMode, frame: str, after: str = "", keys: tuple[str, ...] = ()) -> None:
        def queries(program, directory, name):  # type: ignore[no-untyped-def]
            return tuple(StreamingQuery(sink, mode, text, frame, after, keys) for sink in program.sinks)

        monkeypatch.setattr(run, "streaming_queries", queries)

    return put


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("".join(f"w{number % 3}\n" for number in range(10)))
    return path


def total(frames: list[pl.DataFrame]) -> dict[str, int]:
    """What the changes of (word, n) add up to."""
    table: dict[tuple[str, int], int] = {}
    for frame in frames:
        for word, n, weight in frame.rows():
            table[word, n] = table.get((word, n), 0) + weight
    return {word: n for (word, n), weight in table.items() if weight for _ in range(weight)}


@pytest.mark.parametrize(("mode", "keys"), [(OutputMode.UPDATE, ("word",)), (OutputMode.COMPLETE, ())])
def test_changes_of_several_micro_batches_add_up(
    spark: SparkSession, job: Callable[..., Job], planned: Planned, words: Path, mode: OutputMode, keys: tuple[str, ...]
) -> None:
    planned(COUNTS, mode, "counts", keys=keys)
    handle = start_structured(job(WORDS + COUNT, ("trigger.rows", "4")), spark=spark)
    status, frames = ended(handle), handle.results()
    assert (status.state, status.rows_in, status.reason) == (RunState.FINISHED, 10, "")
    assert status.ranges == {"words": {str(words): (0, 10)}}
    assert len(frames) == 3
    assert all(WEIGHT in frame.columns for frame in frames)
    assert total(frames) == {"w0": 4, "w1": 3, "w2": 3}


def report_nothing(self: StructuredHandle) -> None:
    """In the place of the handle's own: as of one that is behind, which has taken no report when the run ends."""


def test_what_was_not_reported_when_a_run_ends_is_in_the_answer(
    spark: SparkSession, job: Callable[..., Job], words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StructuredHandle, "_take_reports", report_nothing)
    handle = start_structured(job(WORDS + "SELECT word FROM words", ("trigger.rows", "4")), spark=spark)
    status, frames = ended(handle), handle.results()
    assert (status.state, status.rows_in, status.rows_out, status.reason) == (RunState.FINISHED, 10, 10, "")
    assert [frame.height for frame in frames] == [4, 4, 2]


def test_a_run_of_whose_micro_batches_spark_does_not_tell_has_failed(
    spark: SparkSession, job: Callable[..., Job], words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "reports", lambda self: [])
    status = ended(start_structured(job(WORDS + "SELECT word FROM words"), spark=spark))
    assert status.state is RunState.FAILED
    assert "has not told of all micro-batches" in status.reason


def test_a_report_that_cannot_be_taken_ends_the_run(
    spark: SparkSession, job: Callable[..., Job], words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Stream, known: object, say: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Stream, "settle", refuse)
    status = ended(start_structured(job(WORDS + "SELECT word FROM words", ("trigger.rows", "4")), spark=spark))
    assert (status.state, "No space left on device" in status.reason) == (RunState.FAILED, True)


def test_a_checkpoint_in_s3_without_its_jars_says_which_they_are(
    spark: SparkSession, job: Callable[..., Job], words: Path
) -> None:
    made = job(WORDS + "SELECT word FROM words", ("checkpoint.path", "s3://kept/words"))
    status = ended(start_structured(made, spark=spark))
    assert status.state is RunState.FAILED
    assert "add --conf spark.jars.packages=org.apache.hadoop:hadoop-aws:3" in status.reason


LOG = """
CREATE TABLE log (id BIGINT, owner VARCHAR, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'file', 'path' = 'log.jsonl', 'format' = 'debezium-json');
"""


def test_a_log_of_rows_that_are_taken_back_is_read_micro_batch_by_micro_batch(
    spark: SparkSession, job: Callable[..., Job], tmp_path: Path
) -> None:
    changes = [
        (None, {"id": 1, "owner": "ann"}),
        (None, {"id": 2, "owner": "bob"}),
        ({"id": 1, "owner": "ann"}, {"id": 1, "owner": "bob"}),
        ({"id": 2, "owner": "bob"}, None),
    ]
    codes = {(False, True): "c", (True, True): "u", (True, False): "d"}
    lines = [
        {"before": before, "after": after, "op": codes[bool(before), bool(after)], "ts_ms": 1}
        for before, after in changes
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    asked = "SELECT owner, COUNT(*) AS n FROM log GROUP BY owner EMIT CHANGES"
    handle = start_structured(job(LOG + asked, ("trigger.rows", "2")), spark=spark)
    status, frames = ended(handle), handle.results()
    assert (status.state, status.rows_in, status.reason) == (RunState.FINISHED, 4, "")
    assert len(frames) > 1
    assert total(frames) == {"bob": 1}


LATE = """
CREATE TABLE clicks (ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECONDS))
GROUP BY window_start, window_end EMIT AFTER WATERMARK WITH LATENESS INTERVAL '5' SECOND
"""


def test_a_window_takes_late_rows_for_as_long_as_it_says_and_what_comes_after_that_is_counted(
    spark: SparkSession, job: Callable[..., Job], tmp_path: Path
) -> None:
    seconds = [1, 12, 13, 2, 30, 31, 3]
    (tmp_path / "clicks.jsonl").write_text("".join(f'{{"ts": "2026-01-01 00:00:{each:02}"}}\n' for each in seconds))
    handle = start_structured(job(LATE, ("trigger.rows", "1")), spark=spark)
    status, frames = ended(handle), handle.results()
    assert (status.state, status.rows_late, status.reason) == (RunState.FINISHED, 1, "")
    rows = pl.concat([frame.with_columns(pl.col("window_start").dt.second()) for frame in frames])
    left = rows.group_by("window_start", "n").agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0)
    assert sorted(left.select("window_start", "n").rows()) == [(0, 2), (10, 2), (30, 2)]
    assert (0, 1, -1) in rows.rows(), "the first window was answered before the row that was late came"


def test_results_that_nobody_takes_hold_the_next_micro_batch_back(
    spark: SparkSession, job: Callable[..., Job], words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "RESULTS_BYTES_MAX", 0)
    handle = start_structured(job(WORDS + "SELECT word FROM words", ("trigger.rows", "1")), spark=spark)
    came: list[int] = []
    while len(came) < 10:
        handle.wait_for_results(60)
        came += [frame.height for frame in handle.results()]
        assert len(came) >= 10 or handle.status().rows_in <= len(came) + 1
    assert came == [1] * 10
    assert ended(handle).state is RunState.FINISHED


def test_a_gate_lets_through_what_hands_nothing_over_and_what_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "RESULTS_BYTES_MAX", 100)
    door, passed = gate.MicroBatchGate(), Event()

    def pass_through() -> None:
        with door.passing(hands=True):
            passed.set()

    door.add(101)
    with door.passing():
        thread = Thread(target=pass_through)
        thread.start()
    assert door.shut(1), "who waits outside is not waited for"
    door.open()
    assert not passed.is_set()
    door.add(-1)
    thread.join(30)
    assert passed.is_set()
    door.add(1)
    door.stop()
    with pytest.raises(TopologyError, match="the run stops"):
        pass_through()


FILE = WORDS + "CREATE TABLE kept (word VARCHAR) WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'json');\n"


def kept(folder: Path) -> list[str]:
    return sorted(
        json.loads(line)["word"] for part in (folder / "kept").glob("part-*") for line in part.read_text().splitlines()
    )


def test_new_rows_are_written_by_the_tasks_and_a_checkpoint_goes_on(
    spark: SparkSession, job: Callable[..., Job], planned: Planned, words: Path
) -> None:
    planned(READ, OutputMode.APPEND, "words")
    made = job(FILE + "INSERT INTO kept SELECT word FROM words", ("checkpoint.path", "state"), ("trigger.rows", "4"))
    first = ended(start_structured(made, spark=spark))
    assert (first.state, first.rows_out) == (RunState.FINISHED, 10), first.reason
    assert len(list((words.parent / "kept").iterdir())) == 3
    again = ended(start_structured(made, spark=spark))
    assert (again.state, again.rows_in, again.rows_out) == (RunState.FINISHED, 0, 0), again.reason
    assert kept(words.parent) == sorted(words.read_text().split())


def test_a_checkpoint_whose_first_offsets_were_left_half_written_begins_anew(
    spark: SparkSession, job: Callable[..., Job], planned: Planned, words: Path
) -> None:
    """As by a full disk, or a kill. Spark itself says STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY."""
    planned(READ, OutputMode.APPEND, "words")
    made = job(FILE + "INSERT INTO kept SELECT word FROM words", ("checkpoint.path", "state"))
    half = words.parent / "state/kept/offsets/.0.fbb0c778.tmp"
    half.parent.mkdir(parents=True)
    half.touch()
    status = ended(start_structured(made, spark=spark))
    assert (status.state, status.rows_out) == (RunState.FINISHED, 10), status.reason
    assert kept(words.parent) == sorted(words.read_text().split())


def test_what_is_left_to_do_is_done_on_each_micro_batch(
    spark: SparkSession, job: Callable[..., Job], planned: Planned, words: Path
) -> None:
    after = 'def finish(batch):\n    return batch.where(F.col("n") > 3)\n'
    planned(COUNTS, OutputMode.COMPLETE, "counts", after)
    handle = start_structured(job(WORDS + COUNT), spark=spark)
    assert ended(handle).state is RunState.FINISHED
    assert total(handle.results()) == {"w0": 4}


def test_a_failure_is_one_sentence(spark: SparkSession, job: Callable[..., Job], planned: Planned, words: Path) -> None:
    text = READ.replace('"raw"', '"json"').replace("word string", "word int").replace("words.txt", "bad.jsonl")
    (words.parent / "bad.jsonl").write_text('{"word": 1}\n{"word": "x"}\n')
    planned(text, OutputMode.APPEND, "words")
    status = ended(start_structured(job(WORDS + "SELECT word FROM words"), spark=spark))
    assert status.state is RunState.FAILED
    assert "bad.jsonl:2" in status.reason
    assert "\n" not in status.reason


def test_a_run_without_end_is_paused_resumed_and_stopped(
    spark: SparkSession, job: Callable[..., Job], planned: Planned, words: Path
) -> None:
    planned(READ.replace('"raw"}', '"raw", "follow": "true"}'), OutputMode.APPEND, "words")
    handle = start_structured(job(WORDS + "SELECT word FROM words"), spark=spark)
    while handle.status().rows_in < 10:
        assert not handle.wait(1)
    assert handle.pause(20).state is RunState.PAUSED
    with words.open("a") as file:
        file.write("w9\n")
    assert not handle.wait(0.3)
    assert handle.status().rows_in == 10
    handle.resume()
    while handle.status().rows_in < 11:
        assert not handle.wait(1)
    status = handle.stop()
    assert status.state is RunState.STOPPED
    ((partition, read),) = status.ranges["words"].items()
    assert (partition.partition("#")[0], read) == (str(words), (0, 11))
    assert sum(frame.height for frame in handle.results()) == 11
