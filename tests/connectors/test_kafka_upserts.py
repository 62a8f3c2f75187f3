"""Kafka's records as rows that replace each other by key: without a broker, and what a topology writes by key read by another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from confluent_kafka import Message

import ouzel
from ouzel import Source, Store, monoid
from ouzel.connectors import CONNECTORS, check_options
from ouzel.connectors.kafka import CONNECTOR
from ouzel.connectors.kafka.reader import RecordDecoder
from ouzel.connectors.kafka.records import KafkaRecords, take_out
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import BadRow, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.stores import keyed_totals

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker


def message(at: int, key: bytes | None, value: bytes | None) -> Message:
    """A record as librdkafka hands it over."""
    return Message(topic="t", partition=0, offset=at, key=key, value=value)


COLUMNS = {"id": pl.Int64(), "word": pl.String(), "$offset": pl.Int64(), "$deleted": pl.Boolean()}
BESIDE = {"$offset": "offset", "$deleted": "deleted"}


def decoder(columns: dict[str, pl.DataType], keys: str, **more: str) -> RecordDecoder:
    options = {"format": "json", "changelog.mode": "upsert", "key.fields": keys, **more}
    required = frozenset(keys.split(","))
    request = SourceRequest("t", options, columns, Path("."), metadata=BESIDE, required=required)
    return RecordDecoder(request, TableOptions(CONNECTOR, options))


def decode(decoder: RecordDecoder, messages: Sequence[Message]) -> tuple[pl.DataFrame, Sequence[BadRow], KafkaRecords]:
    return decoder.decode(take_out(messages, decoder.beside))


def test_a_record_without_a_value_is_a_row_of_its_key_in_its_place() -> None:
    messages = [
        message(3, b"1", b'{"id":1,"word":"a"}'),
        message(4, b"1", None),
        message(7, b"x", None),
        message(8, b"2", b'{"word":5'),
        message(9, None, b'{"word":"c"}'),
        message(10, b"3", b'{"word":"d"}'),
    ]
    frame, bad, good = decode(decoder(COLUMNS, "id"), messages)
    assert frame.rows() == [(1, "a", 3, False), (1, None, 4, True), (3, "d", 10, False)]
    assert good.offsets.tolist() == [3, 4, 10]
    assert [row.where for row in bad] == ["t[0]@8", "t[0]@7", "t[0]@9"]
    keys_alone = {name: kind for name, kind in COLUMNS.items() if name != "word"}
    assert decode(decoder(keys_alone, "id"), messages[:2])[0].rows() == [(1, 3, False), (1, 4, True)]


def test_a_key_of_several_columns_is_json() -> None:
    columns = {"a": pl.Int64(), "b": pl.String(), "n": pl.Int64(), **dict(list(COLUMNS.items())[2:])}
    messages = [message(0, b'{"a":1,"b":"x"}', b'{"a":1,"b":"x","n":5}'), message(1, b'{"a":1,"b":"x"}', None)]
    frame, bad, _ = decode(decoder(columns, "a,b"), [*messages, message(2, b'{"a":1}', None)])
    assert frame.rows() == [(1, "x", 5, 0, False), (1, "x", None, 1, True)]
    assert [(row.where, row.reason) for row in bad] == [("t[0]@2", "its key: column 'b' may not be NULL")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key.fields": "id"}, "'key.fields' has no effect here; leave it out: the PRIMARY KEY"),
        ({"tombstone": "bad"}, "'tombstone' cannot be 'bad' here"),
        ({"start": "committed-or-latest"}, "'start' cannot be 'committed-or-latest' here; write 'earliest'"),
        ({"format": "debezium-json"}, "'changelog.mode' = 'upsert' is for records that are rows"),
        ({"changelog.mode": "append", "changelog.deleted": "gone"}, "'changelog.deleted' has no effect here; add"),
    ],
    ids=["key", "tombstone", "start", "format", "deleted"],
)
def test_options_that_make_no_table_of_keys_are_refused(options: dict[str, str], message: str) -> None:
    given = {"bootstrap.servers": "b:1", "topic": "t", "format": "json", "changelog.mode": "upsert", **options}
    with pytest.raises(QueryError) as refused:
        check_options(CONNECTORS["kafka"], given)
    assert message in str(refused.value)


@pytest.mark.server
def test_what_a_topology_writes_by_key_is_the_same_table_to_another(kafka: KafkaBroker, tmp_path: Path) -> None:
    kafka.create_topic("totals", 3)
    records = [*range(60), *range(20)]  # some are there twice, so that their groups end without them
    (tmp_path / "n.jsonl").write_text("".join(f'{{"id": {number}, "n": {number % 7}}}\n' for number in records))
    table = f"""CREATE TABLE totals (k BIGINT, big BOOLEAN, total BIGINT, PRIMARY KEY (k, big) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '{kafka.address}', 'topic' = 'totals',
          'key.format' = 'json', 'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset');"""
    question = """SELECT id % 9 AS k, id > 30 AS big, SUM(n) AS total
    FROM (SELECT id, n, ROW_NUMBER() OVER (PARTITION BY n ORDER BY id DESC) AS place FROM n) WHERE place <= 3 GROUP BY id % 9, id > 30"""
    source = f"CREATE TABLE n (id BIGINT, n BIGINT) WITH ('connector' = 'file', 'path' = '{tmp_path}/n.jsonl', 'format' = 'json');"
    settings = {"batch_rows": 7}
    ouzel.run(ouzel.query(f"{source}{table} INSERT INTO totals {question};", **settings), "memory")
    read = ouzel.table(ouzel.query(f"{table} SELECT * FROM totals;", **settings), "memory")
    expected = ouzel.table(ouzel.query(f"{source} {question};", **settings), "memory")
    assert sorted(read.rows()) == sorted(expected.rows())
    raw = table.replace("'upsert-kafka'", "'kafka'")
    with pytest.warns(UserWarning, match="each record of totals is a row"):
        assert ouzel.table(ouzel.query(f"{raw} SELECT k FROM totals;", **settings), "memory").height > read.height


def test_a_topic_is_a_store_whose_totals_are_looked_up(kafka: KafkaBroker) -> None:
    kafka.create_topic("kept-counts", 2)
    table = Store.kafka("kept-counts", bootstrap_servers=kafka.address, format="json", key_format="json")
    store = keyed_totals(table, monoid.Sum(), str, int)
    assert store.get_many(["to"]) == {}
    for times, words in enumerate(["to be or not to be", "to be or not to be that is"], 1):
        counts = Source.of([words]).flat_map(str.split).map(lambda word: (word, 1)).sum_by_key(monoid.Sum(), table)
        counts.run("memory")
        found = store.get_many(["to", "that", "nobody"])
        assert {key: store.monoid.present(total) for key, total in found.items()} == {
            "to": (2,),
            **({"that": (1,)} if times == 2 else {}),
        }

    kafka.produce("kept-counts", [None] * 4, key=b'{"key":"that"}')  # in every partition
    assert store.get_many(["that"]) == {}
    with pytest.raises(
        ConnectorError, match="a topic adds nothing up; write totals to it, or take a store of redis or postgres"
    ):
        store.merge_many({"to": store.monoid.prepare((1,))}, "1")
    with pytest.raises(QueryError, match="the connector kafka adds nothing to what it keeps; leave out merge=True"):
        Store.kafka("kept-counts", merge=True, bootstrap_servers=kafka.address, format="json")
