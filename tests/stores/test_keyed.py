"""Stores in servers: totals that are added to, each batch once whatever breaks, and read with a batch store as one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from threading import Thread
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import ouzel
from ouzel import Source, Store, monoid
from ouzel.connectors.postgres import client as postgres_client
from ouzel.connectors.redis import client as redis_client
from ouzel.dsl.producers import ConnectorTable
from ouzel.errors import ConnectorError, QueryError
from ouzel.stores import BatchRange, ClientStore, FolderStore, KeyedTotals, keyed_stream, keyed_totals, stored_stream
from ouzel.stores.rolling import plan_advance
from tests.effort import seeds
from tests.servers.postgres import PostgresServer
from tests.servers.redis import RedisServer
from tests.stores.test_client import History
from tests.stores.test_hybrid import DAY, DAYS, PAGE, in_memory, write_flights


class Flight(NamedTuple):
    """A flight that leaves."""

    ts: datetime
    origin: str


pytestmark = pytest.mark.server

Tables = Callable[..., ConnectorTable]
"""Makes a table of a name with options."""

SERVERS = ("redis", "postgres")
NUMBERS = count()
"""Of tables: each test has its own."""


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    yield server
    server.remove()


@pytest.fixture(params=SERVERS)
def tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Tables:
    server = request.getfixturevalue(request.param)
    monkeypatch.setenv("STORE_PASSWORD", server.password)
    if request.param == "redis":
        return lambda **more: Store.redis(f"t{next(NUMBERS)}", url=server.url, structure="hash", format="json", **more)
    options = {"url": server.url, "password": "${env:STORE_PASSWORD}", "create": True}
    return lambda **more: Store.postgres(f"t{next(NUMBERS)}", **options, **more)


def test_totals_are_added_up_once(tables: Tables) -> None:
    store = keyed_totals(tables(), monoid.Sum(), str, int)
    total = lambda **counts: {key: store.monoid.prepare((count,)) for key, count in counts.items()}  # noqa: E731
    store.merge_many(total(a=2, b=1), "first")
    store.merge_many(total(a=3, c=4), "second")
    store.merge_many(total(a=2, b=1), "first")
    found = store.get_many(["a", "b", "c", "nobody", 'odd "key", \\ \n', ""])
    assert {key: store.monoid.present(one) for key, one in found.items()} == {"a": (5,), "b": (1,), "c": (4,)}
    store.merge_many(total(**{'odd "key", \\ \n': 7, "": 1}), "third")
    assert dict(store.frame().rows()) == {"a": 5, "b": 1, "c": 4, 'odd "key", \\ \n': 7, "": 1}
    with pytest.raises(ConnectorError, match=r"a sum does not fit its column|bigint out of range"):
        store.merge_many(total(a=2**63 - 3), "too much")
    with pytest.raises(ConnectorError, match="a row has NULL for its key 'key'; leave such rows out"):
        store.merge_many({None: store.monoid.prepare((1,))}, "nobody's")
    assert store.get_many(["a"]) == total(a=5)


@pytest.mark.parametrize("kind", ["sum", "min", "max", "and", "or"])
def test_each_monoid_adds_up_as_it_does_in_python(tables: Tables, kind: str) -> None:
    made: dict[str, tuple[Any, Any, list[Any]]] = {
        "sum": (monoid.Sum(), float, [0.5, -3.25, 1e300]),
        "min": (monoid.Min(), str, ["b", "B", "é", "a"]),
        "max": (monoid.Max(), str, ["b", "B", "é", "a"]),
        "and": (monoid.And(), bool, [True, True, False]),
        "or": (monoid.Or(), bool, [False, False, True]),
    }
    one, value, values = made[kind]
    store, dice, history = keyed_totals(tables(), one, str, value), Random(kind), list[tuple[str, Any]]()
    for number in range(6):
        drawn = {dice.choice("abc"): dice.choice([None, *values]) for _ in range(3)}
        history += drawn.items()
        store.merge_many({key: store.monoid.prepare((found,)) for key, found in drawn.items()}, str(number))
    wanted = {key: (one.sum([found for name, found in history if name == key]),) for key, _ in history}
    assert {key: store.monoid.present(total) for key, total in store.get_many("abc").items()} == wanted


class Crash(Exception):
    """The process dies here."""


def crashing(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Die at the given call to a server, once it was made or just before: whatever the server did, nobody hears."""
    calls = iter(range(1_000))

    def around(call: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            number = next(calls)
            if number == at // 2 and at % 2 == 0:
                raise Crash
            found = call(*arguments, **named)
            if number == at // 2:
                raise Crash
            return found

        return made

    monkeypatch.setattr(redis_client.Endpoint, "ask", around(redis_client.Endpoint.ask))
    monkeypatch.setattr(postgres_client.PostgresServer, "run", around(postgres_client.PostgresServer.run))
    monkeypatch.setattr(
        postgres_client.psycopg.Connection, "execute", around(postgres_client.psycopg.Connection.execute)
    )


def test_a_crash_at_any_step_adds_a_batch_once(tables: Tables) -> None:
    store = keyed_totals(tables(), monoid.Sum(), str, int)
    total = {key: store.monoid.prepare((1,)) for key in "ab"}
    store.merge_many(total, "before")
    survived, crashes = False, 0
    while not survived:
        with pytest.MonkeyPatch.context() as patched:
            crashing(patched, crashes)
            try:
                store.merge_many(total, f"batch {crashes}")
                survived = True
            except Crash:
                crashes += 1
        if not survived:
            store.merge_many(total, f"batch {crashes - 1}")
    assert crashes >= 6
    wanted = store.monoid.prepare((crashes + 2,))
    assert store.get_many("ab") == {"a": wanted, "b": wanted}


def test_writers_at_once_lose_nothing(tables: Tables) -> None:
    table = tables()
    stores = [keyed_totals(table, monoid.Sum(), str, int, writer=f"task {task}") for task in range(3)]
    stores[0].merge_many({}, "makes the table")

    def add(store: KeyedTotals, step: int) -> None:
        for number in range(20):
            some = {key: store.monoid.prepare((1,)) for key in "abcdef"[::step]}
            store.merge_many(some, str(number))

    threads = [Thread(target=add, args=(store, step)) for store, step in zip(stores, (1, -1, 1), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(stores[0].frame().rows()) == dict.fromkeys("abcdef", 60)


@pytest.mark.parametrize("seed", seeds()[:3])
def test_a_client_store_adds_both_sides(seed: int, tables: Tables) -> None:
    """Summingbird's law: what is read is what everything adds up to, in whichever batches and pieces it came."""
    history = History(seed, "sum")
    lacks = {batch for batch in BatchRange(history.boundary, history.end) if history.dice.random() < 0.3}
    stream = keyed_stream(keyed_totals(tables(), monoid.Sum(), str, int), history.batcher)
    batches = history.batches()
    pieces = [(key, value) for key, values in history.events.items() if key[1] not in lacks for value in values]
    history.dice.shuffle(pieces)
    cuts = sorted(history.dice.choices(range(len(pieces) + 1), k=4))
    for start, end in zip([0, *cuts], [*cuts, len(pieces)], strict=True):
        for _ in range(history.dice.randint(1, 2)):  # some come again
            deltas: dict[Any, Any] = {}
            for key, value in pieces[start:end]:
                one = stream.monoid.prepare((value,))
                deltas[key] = stream.monoid.plus(deltas[key], one) if key in deltas else one
            stream.merge_many(deltas, f"{start}-{end}")
    client = ClientStore(_OfTuples(batches, stream.monoid), stream, stream.monoid)
    found = client.get_many("abcd", history.end)
    assert set(found.holes) == lacks
    wanted = {key: history.total(key, history.end, lacks) for key in "abcd"}
    assert dict(found.values) == {key: (value,) for key, value in wanted.items() if value is not None}
    assert not client.disagreements()


class _OfTuples:
    """A batch store whose totals are of one column."""

    def __init__(self, store: Any, monoid: Any) -> None:
        self._store, self._monoid, self.batcher = store, monoid, store.batcher

    def version(self, until: Any = None) -> Any:
        return _Version(self._store.version(until))

    def sums(self, batch: Any) -> Any:
        found = self._store.sums(batch)
        return None if found is None else {key: (total,) for key, total in found.items()}


class _Version:
    def __init__(self, version: Any) -> None:
        self._version, self.batches = version, version.batches

    def get_many(self, keys: Any) -> Any:
        return {key: (total,) for key, total in self._version.get_many(keys).items()}


def test_a_program_adds_to_its_store_which_is_read_back(tables: Tables) -> None:
    table = tables(merge=True)
    counts = (
        Source.of(["to be or", "not to be"])
        .flat_map(str.split)
        .map(lambda word: (word, 1))
        .sum_by_key(monoid.Sum(), table)
    )
    counts.run("memory")
    counts.run("memory")
    store = keyed_totals(table, monoid.Sum(), str, int)
    found = store.get_many(["to", "or", "be", "that"])
    assert {key: store.monoid.present(total) for key, total in found.items()} == {"to": (4,), "be": (4,), "or": (2,)}


def test_sums_of_windows_in_a_server_beside_a_batch_store(tables: Tables, tmp_path: Path) -> None:
    write_flights(tmp_path)
    flights = Source.file(str(tmp_path / "flights.parquet"), Flight, format="parquet").event_time("ts", timedelta(0))
    sums = flights.map(lambda flight: (flight.origin, 1)).sum_by_window(monoid.Sum(), timedelta(hours=6))
    table = tables(key_fields="window_start,key")
    kept, folder = sums.write(table), FolderStore(tmp_path / "totals")
    kept.run("memory")
    kept.run("memory")  # what is there is replaced
    plan_advance(kept.job(answers=False), folder, DAY, DAYS[0], DAYS[2]).run(in_memory)
    stream = stored_stream(folder, table)
    client = ClientStore(folder, stream, folder.monoid)
    found = client.get_many(["EWR", "JFK", "LGA"])
    assert sum(count for (count,) in found.values.values()) == 600
    assert (found.boundary, found.holes, client.disagreements()) == (DAYS[2], (), [])
    assert stream.batches() == {DAY.batch_of(day) for day in DAYS[:3]}


def test_a_store_of_something_else_is_noticed(tables: Tables) -> None:
    table = tables()
    keyed_totals(table, monoid.Sum(), str, int).merge_many({"a": monoid.TupleOf((monoid.Sum(),)).prepare((1,))}, "1")
    for other, value in ((monoid.Max(), int), (monoid.Sum(), float)):
        store = keyed_totals(table, other, str, value)
        keeps = r"keeps key: String, value: Int64 by sum, and is asked for .*; take another"
        with pytest.raises(ConnectorError, match=keeps):
            store.get_many(["a"])
        with pytest.raises(ConnectorError, match=keeps):
            store.merge_many({"a": store.monoid.prepare((1,))}, "2")


def test_what_cannot_be_a_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        QueryError, match=r"the connector file keeps no rows that are found by key; take one of .*redis, postgres"
    ):
        keyed_totals(Store.file(str(tmp_path), format="json"), monoid.Sum(), str, int)
    table = Store.redis("x", url="redis://127.0.0.1:1", structure="hash", format="json")
    with pytest.raises(QueryError, match="two results of Mean do not say that of both; keep those of Sum"):
        keyed_totals(table, monoid.Mean(), str, float)
    store = keyed_totals(table, monoid.Sum(), str, int)
    with pytest.raises(ConnectorError, match=r"no Redis server answers at 127\.0\.0\.1:1"):
        store.get_many(["a"])


def test_the_page_says_what_works(
    redis: RedisServer, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sql_examples/data").mkdir(parents=True)
    (tmp_path / "sql_examples/data/announcements.txt").write_text("flight to be\nflight\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "documented", module := ModuleType("documented"))
    made: dict[str, Any] = vars(module)
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[1:]:
        exec(block.replace("redis://localhost:6379", redis.url), made)
    for times in (1, 2):
        made["counted"].run("memory")
        found = made["totals"].get_many(["flight", "to"])
        assert {word: made["totals"].monoid.present(total) for word, total in found.items()} == {
            "flight": (2 * times,),
            "to": (times,),
        }
    days, batch = made["days"], made["days"].batcher.batch_of(datetime(2024, 1, 1))
    total = days.monoid.prepare((1,))
    for _ in range(2):
        days.merge_many({("flight", batch): total}, "part 7")
    assert days.get_many([("flight", batch), ("to", batch), ("flight", batch.next)]) == {("flight", batch): total}
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    lines = "CREATE TABLE announcements (line VARCHAR) WITH ('connector' = 'file', 'path' = 'data/announcements.txt', 'format' = 'raw');"
    block = re.findall(r"^```sql\n(.*?)^```", PAGE, re.M | re.S)[2].replace("postgresql://localhost/shop", postgres.url)
    for times in (1, 2):
        ouzel.run(ouzel.query(lines + block, tmp_path / "sql_examples"), "memory")
        with postgres.connect() as connection:
            assert dict(connection.execute("SELECT word, n FROM counts").fetchall())["flight"] == 2 * times  # type: ignore[arg-type]
