"""A micro-batch that comes again: its offsets were written and its commit was not, as a death behind the sink leaves it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.runtime.run import RunState
from ouzel.session import Job
from ouzel.spark.streaming.run import start_structured
from tests.spark.batch.conftest import kafka
from tests.spark.streaming.conftest import ended

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.servers.kafka import KafkaBroker

__all__ = ["kafka"]

pytestmark = [pytest.mark.spark, pytest.mark.server]

ROWS, OF_LAST = 50, 10


def numbers(folder: Path, broker: KafkaBroker, topic: str) -> str:
    """The query; its input has so many rows that the last micro-batch has fewer."""
    (folder / "numbers.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(ROWS)))
    return f"""
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'file', 'path' = 'numbers.jsonl', 'format' = 'json');
CREATE TABLE out (n BIGINT) WITH ({options(broker, topic)});
INSERT INTO out SELECT n FROM numbers
"""


def options(broker: KafkaBroker, topic: str) -> str:
    return f"'connector' = 'kafka', 'bootstrap.servers' = '{broker.address}', 'format' = 'json', 'topic' = '{topic}'"


def run_to_end(made: Job, spark: SparkSession) -> None:
    status = ended(start_structured(made, spark=spark))
    assert status.state is RunState.FINISHED, status.reason


def forget_last_commit(checkpoint: Path) -> None:
    """What a death between the sink and the commit leaves."""
    last = max((checkpoint / "out/commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize(("delivery", "often"), [("at-least-once", 2), ("effectively-once", 1)])
def test_a_topic_has_its_rows_as_often_as_the_delivery_says(
    spark: SparkSession, job: Callable[..., Job], kafka: KafkaBroker, tmp_path: Path, delivery: str, often: int
) -> None:
    topic = f"out-{delivery}"
    kafka.create_topic(topic)
    settings = (("checkpoint.path", "state"), ("trigger.rows", "20"), ("delivery", delivery))
    made = job(numbers(tmp_path, kafka, topic), *settings)
    run_to_end(made, spark)
    forget_last_commit(tmp_path / "state")
    run_to_end(made, spark)
    back = f"CREATE TABLE written (n BIGINT) WITH ({options(kafka, topic)}, 'end' = 'latest'); SELECT n FROM written"
    handle = start_structured(job(back), spark=spark)
    assert ended(handle).state is RunState.FINISHED
    found = Counter(n for frame in handle.results() for (n,) in frame.rows())
    assert found == Counter({n: often if n >= ROWS - OF_LAST else 1 for n in range(ROWS)})


def test_a_file_has_each_row_once(spark: SparkSession, job: Callable[..., Job], tmp_path: Path) -> None:
    (tmp_path / "numbers.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(ROWS)))
    text = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'file', 'path' = 'numbers.jsonl', 'format' = 'json');
CREATE TABLE out (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'json');
INSERT INTO out SELECT n FROM numbers
"""
    made = job(text, ("checkpoint.path", "state"), ("trigger.rows", "20"), ("delivery", "effectively-once"))
    run_to_end(made, spark)
    forget_last_commit(tmp_path / "state")
    run_to_end(made, spark)
    rows = [
        json.loads(line)["n"] for part in (tmp_path / "out").glob("part-*") for line in part.read_text().splitlines()
    ]
    assert Counter(rows) == Counter(range(ROWS))
