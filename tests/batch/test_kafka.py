"""Topics as a batch reads them, through a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from ouzel.batch.run import Batch, rows_of
from ouzel.batch.source import Table, TableReader
from ouzel.errors import BadRecord
from ouzel.planner.spark import run_job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.servers.kafka import KafkaBroker

SCHEMA = StructType([StructField("id", LongType()), StructField("p", IntegerType()), StructField("o", LongType())])


@pytest.fixture(scope="module")
def topic(kafka: KafkaBroker) -> str:
    """Even numbers up to 150 in the first partition; odd ones in the second, which ends with a record that is none."""
    kafka.create_topic("clicks")
    kafka.produce("clicks", [*(json.dumps({"id": number}).encode() for number in range(151)), b"oops"])
    return "clicks"


def reader(kafka: KafkaBroker, topic: str, offsets: dict[str, list[int]] | None = None, **more: str) -> TableReader:
    options = {
        "connector": "kafka",
        "bootstrap.servers": kafka.address,
        "topic": topic,
        "format": "json",
        "bad.record": "skip",
    }
    options |= {name.replace("_", "."): value for name, value in more.items()}
    return TableReader(SCHEMA, Table("clicks", options, {"p": "partition", "o": "offset"}, [], ".", offsets, 2))


def rows(made: TableReader) -> list[tuple[Any, ...]]:
    return sorted(
        tuple(row.values()) for span in made.partitions() for batch in made.read(span) for row in batch.to_pylist()
    )


@pytest.mark.server
def test_from_the_earliest_to_the_latest_record(kafka: KafkaBroker, topic: str) -> None:
    made = reader(kafka, topic)
    assert [(span.id, span.start, span.end) for span in made.partitions()] == [
        ("clicks-0", 0, 76),
        ("clicks-1", 0, 76),
    ]
    assert rows(made) == [(number, number % 2, number // 2) for number in range(151)]


@pytest.mark.server
def test_exactly_the_offsets_of_each_partition(kafka: KafkaBroker, topic: str) -> None:
    some = rows(reader(kafka, topic, {"clicks-0": [10, 13], "clicks-1": [0, 2]}))
    assert [row[0] for row in some] == [1, 3, 20, 22, 24]
    others = rows(reader(kafka, topic, {"clicks-1": [73, 76]}))
    assert [row[0] for row in others] == [147, 149], "what is not named is not read"


@pytest.mark.server
def test_from_a_time_on(kafka: KafkaBroker, topic: str) -> None:
    assert len(rows(reader(kafka, topic, start="timestamp", start_timestamp="2020-01-01 00:00:00"))) == 151
    assert rows(reader(kafka, topic, start="timestamp", start_timestamp="2100-01-01 00:00:00")) == []


@pytest.mark.server
def test_a_bad_record_fails_the_job_unless_it_is_to_be_skipped(kafka: KafkaBroker, topic: str) -> None:
    with pytest.raises(BadRecord, match=r"bad record at clicks\[1\]@75"):
        rows(reader(kafka, topic, bad_record="fail"))


@pytest.mark.server
@pytest.mark.spark
@pytest.mark.slow
def test_a_topic_in_spark(kafka: KafkaBroker, topic: str, made: Callable[..., Batch], spark: SparkSession) -> None:
    text = f"""CREATE TABLE clicks (id BIGINT, part INT METADATA FROM 'partition') WITH ('connector' = 'kafka', 'topic' = '{topic}',
      'bootstrap.servers' = '{kafka.address}', 'format' = 'json', 'bad.record' = 'skip');
    SELECT part, COUNT(*) AS n, MAX(id) AS last FROM clicks GROUP BY part EMIT CHANGES;"""
    for offsets, expected in [(None, [(0, 76, 150), (1, 75, 149)]), ({"clicks": {"clicks-0": (3, 5)}}, [(0, 2, 8)])]:
        query = made(text, offsets)
        assert query.result is not None
        assert sorted(rows_of(run_job(query.text(), spark), query.result).rows()) == expected
