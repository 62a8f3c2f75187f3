"""Tables in a Redis server that are asked by key while a stream goes by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ouzel.connectors.reading import ReadBatch, SourceRequest, Unreachable
from ouzel.connectors.redis.table import RedisTable
from ouzel.errors import ConnectorError, NotSupported, QueryError
from ouzel.reconcile.comparing.holding import check_sources
from ouzel.reconcile.recording.record import read_record
from ouzel.reconcile.recording.recorder import record_run
from ouzel.runtime.run import RunState
from ouzel.runtime.tasks import sides
from ouzel.runtime.tasks.call_waits import CallWaits
from ouzel.session import load_text, with_settings
from ouzel.spark.streaming.run import start_structured
from tests.servers.redis import RedisServer
from tests.spark.streaming.conftest import ended

pytestmark = pytest.mark.server

QUERY = """
CREATE TABLE flights (id BIGINT, origin VARCHAR, now AS PROCTIME())
WITH ('connector' = 'file', 'path' = 'flights.csv', 'format' = 'csv', 'csv.header' = 'true');
CREATE TABLE airports (code VARCHAR, city VARCHAR, size BIGINT, big AS size > 3, PRIMARY KEY (code) NOT ENFORCED) WITH (
  'connector' = 'redis-table', 'url' = '{url}', 'key' = 'airports', 'structure' = '{structure}', 'format' = 'json',
  'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '2'
);
SELECT f.id, a.city, a.big FROM flights AS f LEFT JOIN airports FOR SYSTEM_TIME AS OF f.now AS a
ON f.origin = a.code AND a.size > f.id;
"""

AIRPORTS = {"JFK": ("New York", 4), "LGA": ("New York", 2), "SFO": ("San Francisco", 9)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    started = RedisServer(tmp_path_factory.mktemp("redis"))
    for code, (city, size) in AIRPORTS.items():
        value = json.dumps({"city": city, "size": size})
        started.client.hset("airports", code, value)
        started.client.set(f"airports:{code}", value)
    yield started
    started.kill()


def job(server: RedisServer, directory: Path, structure: str) -> Any:
    (directory / "flights.csv").write_text("id,origin\n1,JFK\n2,LGA\n3,XXX\n4,SFO\n5,\n6,JFK\n")
    return load_text(QUERY.format(url=server.url, structure=structure), directory, "asked")


def table(server: RedisServer, structure: str = "hash", **options: str) -> RedisTable:
    given = {"url": server.url, "key": "airports", "structure": structure, "format": "json", "key.fields": "code"}
    columns = {"code": pl.String(), "city": pl.String(), "size": pl.Int64()}
    return RedisTable(SourceRequest("airports", {**given, **options}, columns, Path()))


@pytest.mark.parametrize("structure", ["hash", "string"])
def test_each_row_meets_what_the_server_has_of_its_key_and_a_comparison_says_why_it_cannot_be_made(
    server: RedisServer, tmp_path: Path, structure: str
) -> None:
    asked = job(server, tmp_path, structure)
    record_run(asked, "memory", tmp_path / "record")
    rows = pl.read_parquet(tmp_path / "record" / "results.parquet").rows()
    assert Counter(rows) == Counter(
        {
            (1, "New York", True): 1,
            (4, "San Francisco", True): 1,
            **dict.fromkeys([(n, None, None) for n in (2, 3, 5, 6)], 1),
        }
    )
    with pytest.raises(QueryError, match="the rows of 'airports' were asked for one by one while the run went on"):
        check_sources(asked.program.sinks[0], read_record(tmp_path / "record"))


def test_streams_of_spark_ask_it_too(server: RedisServer, tmp_path: Path, spark: Any) -> None:
    asked = job(server, tmp_path, "hash")
    asked = with_settings(asked, asked.settings.with_values((("trigger.rows", "2"),)))
    handle = start_structured(asked, spark=spark)
    status, frames = ended(handle), handle.results()
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert len(frames) > 1
    assert sorted(pl.concat(frames).rows()) == [
        (1, "New York", True), (2, None, None), (3, None, None), (4, "San Francisco", True), (5, None, None), (6, None, None)
    ]  # fmt: skip


@pytest.mark.parametrize("structure", ["hash", "string"])
def test_a_batch_reads_the_table_whole(server: RedisServer, structure: str) -> None:
    whole = table(server, structure)
    (partition,) = whole.partitions()
    batch = whole.reader(partition, None).read(10)
    assert isinstance(batch, ReadBatch)
    assert batch.frame.rows() == [(code, *rest) for code, rest in sorted(AIRPORTS.items())]
    assert whole.reach(partition, 1, 10).end == 3
    asked = whole.ask(pl.Series("k", ["SFO", "XXX", "JFK"]))
    assert isinstance(asked, pl.DataFrame)
    assert asked["code"].to_list() == ["SFO", "JFK"]
    none = whole.ask(pl.Series("k", ["XXX"]))
    assert isinstance(none, pl.DataFrame)
    assert none.is_empty()
    assert none.columns == ["code", "city", "size"]


def test_while_the_server_is_away_the_batch_waits_and_no_row_is_lost(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that waits is no task that hangs: killed for that again and again, its rows would be held for what kills it."""
    pauses: list[tuple[float, str]] = []
    waits, outside = list[str](), ["inside"]
    asked, away = RedisTable.ask, [Unreachable("gone")] * 7

    @contextmanager
    def leave() -> Iterator[None]:
        outside.append("outside")
        yield
        outside.pop()

    monkeypatch.setattr(RedisTable, "ask", lambda self, keys: away.pop() if away else asked(self, keys))
    monkeypatch.setattr(sides.time, "sleep", lambda pause_s: pauses.append((pause_s, outside[-1])))
    monkeypatch.setattr(CallWaits, "outside", lambda _: leave())
    monkeypatch.setattr(
        CallWaits, "tell", lambda _, *all_: waits.append(*[f"{one.partition}: {one.reason}" for one in all_] or [""])
    )
    record_run(job(server, tmp_path, "hash"), "memory", tmp_path / "record")
    assert pl.read_parquet(tmp_path / "record" / "results.parquet").height == 6
    waited = [(0.05, "outside"), (0.1, "outside"), *[(0.2, "outside")] * round((0.2 + 0.4 + 0.8 + 1.6 + 2.0) / 0.2)]
    assert [(round(pause_s, 3), where) for pause_s, where in pauses[: len(waited)]] == waited
    assert waits == ["airports: no answer: gone"] * len(waited) + [""]


def test_a_server_that_goes_away_is_unreachable_and_a_value_that_is_no_row_is_an_error(tmp_path: Path) -> None:
    short = RedisServer(tmp_path)
    opened = table(short, **{"connect.timeout.ms": "500"})
    short.client.hset("airports", "JFK", "no row")
    with pytest.raises(ConnectorError, match="table 'airports': the row of key JFK"):
        opened.ask(pl.Series("k", ["JFK"]))
    short.kill()
    assert isinstance(opened.ask(pl.Series("k", ["JFK"])), Unreachable)


def test_it_is_no_stream(server: RedisServer, tmp_path: Path) -> None:
    text = QUERY.format(url=server.url, structure="hash").partition("SELECT")[0] + "SELECT code FROM airports;"
    with pytest.raises(NotSupported, match="table 'airports' can be asked by key, and not be read as a stream"):
        load_text(text, tmp_path, "streamed")
