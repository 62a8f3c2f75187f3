"""Topics as a batch reads them, through a real broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from ouzel.errors import BadRecord, NotSupported
from ouzel.reconcile import Recorder, reconcile, record_run, recordable
from ouzel.reconcile.explaining.shed import read_shed
from ouzel.reconcile.recording.record import SHED
from ouzel.session import Job, start
from ouzel.spark.batch.run import BatchRun, batch_run, collect_rows
from ouzel.spark.io.source import TableReader, TableRequest
from ouzel.spark.lowering import run_job
from tests.servers.kafka import spark_jars
from tests.servers.waiting import wait_while_it_runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.servers.kafka import KafkaBroker

SCHEMA = StructType([StructField("id", LongType()), StructField("p", IntegerType()), StructField("o", LongType())])


@pytest.fixture(scope="module")
def topic(kafka: KafkaBroker) -> str:
    """Even numbers up to 150 in the first partition; odd ones in the second, which ends with a record that is none."""
    kafka.create_topic("batches")
    kafka.produce("batches", [*(json.dumps({"id": number}).encode() for number in range(151)), b"oops"])
    return "batches"


def reader(kafka: KafkaBroker, topic: str, offsets: dict[str, list[int]] | None = None, **more: str) -> TableReader:
    options = {
        "connector": "kafka",
        "bootstrap.servers": kafka.address,
        "topic": topic,
        "format": "json",
        "bad.record": "skip",
    }
    options |= {name.replace("_", "."): value for name, value in more.items()}
    return TableReader(SCHEMA, TableRequest("clicks", options, {"p": "partition", "o": "offset"}, [], ".", offsets, 2))


def rows(made: TableReader) -> list[tuple[Any, ...]]:
    return sorted(
        tuple(row.values()) for span in made.partitions() for batch in made.read(span) for row in batch.to_pylist()
    )


@pytest.mark.server
def test_from_the_earliest_to_the_latest_record(kafka: KafkaBroker, topic: str) -> None:
    made = reader(kafka, topic)
    assert [(span.id, span.start, span.end) for span in made.partitions()] == [
        ("batches-0", 0, 76),
        ("batches-1", 0, 76),
    ]
    assert rows(made) == [(number, number % 2, number // 2) for number in range(151)]


@pytest.mark.server
def test_exactly_the_offsets_of_each_partition(kafka: KafkaBroker, topic: str) -> None:
    some = rows(reader(kafka, topic, {"batches-0": [10, 13], "batches-1": [0, 2]}))
    assert [row[0] for row in some] == [1, 3, 20, 22, 24]
    others = rows(reader(kafka, topic, {"batches-1": [73, 76]}))
    assert [row[0] for row in others] == [147, 149], "what is not named is not read"


@pytest.mark.server
def test_from_a_time_on(kafka: KafkaBroker, topic: str) -> None:
    assert len(rows(reader(kafka, topic, start="timestamp", start_timestamp="2020-01-01 00:00:00"))) == 151
    assert rows(reader(kafka, topic, start="timestamp", start_timestamp="2100-01-01 00:00:00")) == []


@pytest.mark.server
def test_a_bad_record_fails_the_job_unless_it_is_to_be_skipped(kafka: KafkaBroker, topic: str) -> None:
    with pytest.raises(BadRecord, match=r"bad record at batches\[1\]@75"):
        rows(reader(kafka, topic, bad_record="fail"))


@pytest.mark.server
@pytest.mark.spark
@pytest.mark.slow
def test_a_topic_in_spark(kafka: KafkaBroker, topic: str, made: Callable[..., BatchRun], spark: SparkSession) -> None:
    text = f"""CREATE TABLE clicks (id BIGINT, part INT METADATA FROM 'partition') WITH ('connector' = 'kafka', 'topic' = '{topic}',
      'bootstrap.servers' = '{kafka.address}', 'format' = 'json', 'bad.record' = 'skip');
    SELECT part, COUNT(*) AS n, MAX(id) AS last FROM clicks GROUP BY part EMIT CHANGES;"""
    for offsets, expected in [(None, [(0, 76, 150), (1, 75, 149)]), ({"clicks": {"batches-0": (3, 5)}}, [(0, 2, 8)])]:
        query = made(text, offsets)
        assert query.result is not None
        assert sorted(collect_rows(run_job(query.text(), spark), query.result).rows()) == expected


@pytest.mark.server
def test_the_times_of_records_are_offsets(kafka: KafkaBroker) -> None:
    kafka.create_topic("timed", 1)
    produce_at(kafka, "timed", {0: 1_000, 1: 2_000, 2: 3_000, 3: 2_500, 4: 4_000})
    ends = {"start": "timestamp", "start_timestamp": "1970-01-01 00:00:01.5", "end": "timestamp"}
    some = reader(kafka, "timed", **ends, end_timestamp="1970-01-01 00:00:02.5")
    assert [(span.start, span.end) for span in some.partitions()] == [(1, 2)], "up to the first that is not older"
    assert [row[0] for row in rows(some)] == [1]
    late = reader(kafka, "timed", **ends, end_timestamp="2100-01-01")
    assert [(span.start, span.end) for span in late.partitions()] == [(1, 5)]


def produce_at(kafka: KafkaBroker, topic: str, times_ms: dict[int, int]) -> None:
    """A record with each id, of that time."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.address})
    for number, at in times_ms.items():
        producer.produce(topic, json.dumps({"id": number}), timestamp=at, partition=0)
    assert producer.flush(30) == 0


def values(kafka: KafkaBroker, topic: str) -> dict[str, list[dict[str, Any]]]:
    """What a topic holds: by key, its values in order."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "check", "auto.offset.reset": "earliest"})
    numbers = consumer.list_topics(topic, 10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, 0) for number in numbers])
    ends = sum(consumer.get_watermark_offsets(TopicPartition(topic, number))[1] for number in numbers)
    found: dict[str, list[dict[str, Any]]] = {}
    for message in consumer.consume(ends, 30):
        found.setdefault((message.key() or b"").decode(), []).append(json.loads(message.value()))
    consumer.close()
    return found


@pytest.mark.server
@pytest.mark.spark
@pytest.mark.slow
def test_a_topic_is_written(kafka: KafkaBroker, topic: str, made: Callable[..., BatchRun], spark: SparkSession) -> None:
    kafka.create_topic("batch-written")
    kafka.create_topic("batch-keyed")
    where = f"'connector' = 'kafka', 'bootstrap.servers' = '{kafka.address}', 'format' = 'json'"
    text = f"""CREATE TABLE clicks (id BIGINT, part INT METADATA FROM 'partition')
      WITH ({where}, 'topic' = '{topic}', 'bad.record' = 'skip');
    CREATE TABLE written (id BIGINT) WITH ({where}, 'topic' = 'batch-written');
    CREATE TABLE keyed (part INT, n BIGINT, PRIMARY KEY (part) NOT ENFORCED) WITH ({where}, 'topic' = 'batch-keyed');
    INSERT INTO written SELECT id FROM clicks WHERE id < 100;
    INSERT INTO keyed SELECT part, COUNT(*) AS n FROM clicks GROUP BY part EMIT CHANGES;"""
    said: list[str] = []
    assert made(text).run(spark, said.append) is None
    assert sorted(row["id"] for row in values(kafka, "batch-written")[""]) == list(range(100)), "each row once"
    assert values(kafka, "batch-keyed") == {"0": [{"part": 0, "n": 76}], "1": [{"part": 1, "n": 75}]}, (
        "the last state of each"
    )
    assert said == ["clicks: 1 bad record left out"]


@pytest.mark.server
@pytest.mark.spark
@pytest.mark.slow
def test_a_run_that_read_a_topic_is_reconciled(
    kafka: KafkaBroker, job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    kafka.create_topic("orders")
    kafka.produce("orders", [json.dumps({"id": number, "who": number % 7}).encode() for number in range(1000)])
    query = job(
        f"""CREATE TABLE orders (id BIGINT, who INT) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
        'bootstrap.servers' = '{kafka.address}', 'start' = 'earliest', 'end' = 'latest');
        SELECT who, COUNT(*) AS n, SUM(id) AS total FROM orders GROUP BY who EMIT CHANGES;"""
    )
    record_run(query, "memory", tmp_path / "run")
    kafka.restart()
    kafka.produce("orders", [json.dumps({"id": 5, "who": 5}).encode()] * 10)  # comes too late for the run
    found = reconcile(query, tmp_path / "run", spark)
    assert (found.matched, found.differing) == (7, 0)
    assert found.record.ranges["orders"] == {"orders-0": (0, 500), "orders-1": (0, 500)}


@pytest.mark.server
@pytest.mark.spark
@pytest.mark.slow
def test_what_a_run_has_shed_is_left_out_of_the_batch_and_nothing_else_is(
    kafka: KafkaBroker, job: Callable[[str], Job], spark: SparkSession, tmp_path: Path
) -> None:
    kafka.create_topic("flood")
    kafka.produce("flood", [json.dumps({"id": number, "who": number % 7}).encode() for number in range(6_000)])
    query = job(
        f"""SET 'batch.rows' = '100';
        CREATE TABLE flood (id BIGINT, who INT) WITH ('connector' = 'kafka', 'topic' = 'flood', 'format' = 'json',
        'bootstrap.servers' = '{kafka.address}', 'start' = 'earliest', 'shed.lag' = '1000', 'shed.rows' = '300');
        SELECT who, COUNT(*) AS n, SUM(id) AS total FROM flood GROUP BY who EMIT CHANGES;"""
    )
    recorded = recordable(query, tmp_path / "run", "memory")
    handle = Recorder(start(recorded, "memory"), recorded, "memory", tmp_path / "run")
    wait_while_it_runs(handle, lambda status: status.rows_acked + status.rows_shed >= 6_000, take=True)
    status = handle.stop()
    found = reconcile(query, tmp_path / "run", spark)
    shed = sum(end - start for spans in read_shed(tmp_path / "run")["flood"].values() for start, end in spans)
    assert (2_000 <= shed < 6_000, shed) == (True, status.rows_shed), "more waited in each partition"
    assert (found.matched, found.differing) == (7, 0)
    (tmp_path / "run" / SHED).unlink()
    assert reconcile(query, tmp_path / "run", spark).differing > 0, "that is what made them alike"


@pytest.mark.server
@pytest.mark.spark
@pytest.mark.slow
def test_sparks_own_source_reads_the_same(
    kafka: KafkaBroker, topic: str, job: Callable[[str], Job], tmp_path: Path
) -> None:
    kafka.create_topic("lines", 1)
    kafka.produce("lines", [b'1;"a;b"', None, b"2;"], b"7")
    where = f"'connector' = 'kafka', 'bootstrap.servers' = '{kafka.address}', 'spark.source' = 'jvm'"
    queries = {
        "csv": f"""CREATE TABLE lines (k INT, n BIGINT, s VARCHAR, o BIGINT METADATA FROM 'offset') WITH ({where}, 'topic' = 'lines',
            'format' = 'csv', 'csv.delimiter' = ';', 'csv.columns' = 'n,s', 'key.field' = 'k'); SELECT k, n, s, o FROM lines;""",
        "json": f"""CREATE TABLE clicks (p INT METADATA FROM 'partition', id BIGINT) WITH ({where}, 'topic' = '{topic}', 'format' = 'json');
            SELECT p, COUNT(*) AS n, MAX(id) AS last FROM clicks GROUP BY p EMIT CHANGES;""",
    }
    ranges = {"csv": {"lines": {"lines-0": (0, 3)}}, "json": {"clicks": {"batches-0": (3, 5), "batches-1": (0, 70)}}}
    outputs = {name: batch_run(job(text), ranges[name]).into(tmp_path / name) for name, text in queries.items()}
    jobs = [made.text() for made in outputs.values()]
    assert not any("ouzel.spark" in text for text in jobs), "nothing but PySpark and the jars is needed"
    submit_with_jars(tmp_path / "job.py", jobs)
    assert sorted(pl.read_parquet(tmp_path / "csv/*.parquet").rows()) == [(7, 1, "a;b", 0), (7, 2, None, 2)]
    assert sorted(pl.read_parquet(tmp_path / "json/*.parquet").rows()) == [(0, 2, 8), (1, 70, 139)]


def submit_with_jars(path: Path, jobs: list[str]) -> None:
    """Run jobs one after the other in one session: its own, since jars are given before a JVM starts."""
    path.write_text("\n".join(jobs))
    given = (
        "spark.jars=" + ",".join(map(str, spark_jars())),
        "spark.ui.enabled=false",
        "spark.sql.shuffle.partitions=2",
        "spark.log.level=ERROR",  # the source is of an older Spark, and what it would log by INFO has no key here
    )
    command = [str(Path(sys.executable).with_name("spark-submit")), "--master", "local[2]"]
    command += [part for each in given for part in ("--conf", each)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, env=environment, check=False)
    told = [
        line for line in (done.stderr + done.stdout).splitlines() if " INFO " not in line and not line.startswith("\t")
    ]
    assert done.returncode == 0, "\n".join(told[-40:])


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("'bad.record' = 'skip'", "table 't': Spark's own Kafka source cannot do 'bad.record' = 'skip'; leave out 'spark.source'"),
        ("'start' = 'offsets', 'start.offsets' = 't-0:1'", "cannot do 'start' = 'offsets'; leave out 'spark.source', so that"),
        ("'properties.security.protocol' = 'ssl'", "cannot do 'properties.security.protocol' = 'ssl'"),
        ("'tombstone' = 'bad'", "cannot do 'tombstone' = 'bad'"),
    ],
)  # fmt: skip
def test_what_sparks_own_source_cannot_do_is_refused(made: Callable[..., BatchRun], more: str, sentence: str) -> None:
    where = (
        "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = 'json', 'spark.source' = 'jvm'"
    )
    with pytest.raises(NotSupported) as refused:
        made(f"CREATE TABLE t (a BIGINT) WITH ({where}, {more}); SELECT a FROM t;").text()
    assert sentence in str(refused.value)


def test_sparks_own_source_by_time(made: Callable[..., BatchRun]) -> None:
    where = (
        "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = 'raw', 'spark.source' = 'jvm'"
    )
    ends = "'start' = 'timestamp', 'start.timestamp' = '1970-01-01 00:00:01.0005', 'end' = 'timestamp', 'end.timestamp' = '2000'"
    text = made(f"CREATE TABLE t (a VARCHAR) WITH ({where}, {ends}); SELECT a FROM t;").text()
    assert '.option("startingTimestamp", "1001")' in text
    assert '.option("startingOffsetsByTimestampStrategy", "latest")' in text
    assert '.option("endingTimestamp", "2000")' in text
