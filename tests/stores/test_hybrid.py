"""A store rolled forward, a wrong batch repaired, and both answers as a table of SQL; a topology in memory stands in for Spark."""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl
import pytest

import ouzel
from ouzel import Sink, Source, monoid
from ouzel.compiler.plan import walk
from ouzel.errors import QueryError
from ouzel.job import Job
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.spark.batch.period import Period, program_within
from ouzel.stores import BatchRange, ClientStore, FolderStore, advance, parse_batcher, rolling, stored_stream
from ouzel.stores.rolling import Advance, plan_advance
from tests.house.source import ROOT

FLIGHTS = """
CREATE TABLE flights (ts TIMESTAMP(3), origin VARCHAR, delay BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'flights.parquet', 'format' = 'parquet');
"""
SUMS = """
CREATE TABLE sums (began TIMESTAMP(3), "from" VARCHAR, n BIGINT, delay BIGINT, worst BIGINT)
WITH ('connector' = 'file', 'path' = 'sums', 'format' = 'parquet');
"""
QUERY = f"""{FLIGHTS}{SUMS}
INSERT INTO sums SELECT window_start, origin, COUNT(*), SUM(delay), MAX(delay)
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '6' HOUR)) GROUP BY window_start, window_end, origin
"""
TOTALS = """CREATE TABLE totals WITH ('connector' = 'hybrid', 'batch' = 'store', 'stream' = 'sums'{});
SELECT * FROM totals ORDER BY "from"
"""
WANTED = FLIGHTS + (
    'SELECT origin AS "from", COUNT(*) AS n, SUM(delay) AS delay, MAX(delay) AS worst FROM flights GROUP BY origin ORDER BY "from"'
)
PAGE = (ROOT / "docs/stores.md").read_text()
DAY = parse_batcher("1 day")
DAYS = [datetime(2013, 1, day) for day in (1, 2, 3, 4)]


def in_memory(job: Job, period: Period | None) -> pl.DataFrame:
    """As a batch job in Spark."""
    program = program_within(job.program, period or Period())
    topology = plan_topology(program, job.settings, "sums")
    return ouzel.table(replace(job, program=program, topology=topology, packing=pack(topology)), "memory")


def write_flights(directory: Path, step: int = 1, days: int = 3) -> None:
    """Flights of some days, or every so manieth of the second day."""
    dice = Random(1)
    times = sorted(DAYS[0] + timedelta(seconds=dice.randrange(86_400 * 3)) for _ in range(600))
    rows = [(time, dice.choice(["EWR", "JFK", "LGA"]), dice.randint(-5, 60)) for time in times]
    second = [row for row in rows if DAYS[1] <= row[0] < DAYS[2]]
    missing = set(second) - set(second[::step])
    schema = {"ts": pl.Datetime("us"), "origin": pl.String(), "delay": pl.Int64()}
    kept = [row for row in rows if row not in missing and row[0] < DAYS[days]]
    pl.DataFrame(kept, schema=schema, orient="row").write_parquet(directory / "flights.parquet")


def advanced(directory: Path, end: datetime, start: datetime | None = None) -> Advance:
    planned = plan_advance(ouzel.query(QUERY, directory), FolderStore(directory / "store"), DAY, start, end)
    planned.run(in_memory)
    return planned


def answer(text: str, directory: Path) -> list[Any]:
    return ouzel.table(ouzel.query(text, directory), "memory").rows()


def test_three_days_and_a_wrong_batch(tmp_path: Path) -> None:
    write_flights(tmp_path)
    ouzel.run(ouzel.query(QUERY, tmp_path), "memory")
    wanted = answer(WANTED, tmp_path)
    write_flights(tmp_path, step=2)
    first = advanced(tmp_path, DAYS[1], start=DAYS[0])
    assert first.disagreements() == []
    assert answer(TOTALS.format(""), tmp_path) == wanted, "the stream has the two other days"
    second = advanced(tmp_path, DAYS[2] + timedelta(hours=5))
    assert (second.begin, second.end) == (DAYS[1], DAYS[2])
    wrong = second.disagreements()
    assert wrong is not None
    assert {one.batch for one in wrong} == {DAY.batch_of(DAYS[1])}
    assert answer(TOTALS.format(""), tmp_path) != wanted
    write_flights(tmp_path)
    again = advanced(tmp_path, DAYS[2], start=DAYS[1])
    assert again.disagreements() == []
    assert answer(TOTALS.format(", 'batcher' = '1 day'"), tmp_path) == wanted
    page = again.store.page
    assert not advanced(tmp_path, DAYS[2]).batches, "twice is as good as once"
    assert again.store.page == page
    advanced(tmp_path, DAYS[3])
    assert answer(TOTALS.format(""), tmp_path) == wanted
    assert answer(SUMS + TOTALS.format(""), tmp_path) == wanted, "the stream may be a table of the query"


class Totals(NamedTuple):
    """As the store has them."""

    origin: str
    n: int
    delay: int
    worst: int


def test_both_answers_are_a_source_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_flights(tmp_path)
    ouzel.run(ouzel.query(QUERY, tmp_path), "memory")
    advanced(tmp_path, DAYS[2], start=DAYS[0])
    wanted = answer(WANTED, tmp_path)
    totals = Source.hybrid("totals", batch="store", stream="sums")
    assert sorted(totals.table("memory").rows()) == wanted
    in_sql = ouzel.query(TOTALS.format("").split("ORDER")[0], tmp_path)
    plans = [[type(node).__name__ for node in walk(job.program.sinks[0])] for job in (totals.job(), in_sql)]
    assert plans[0] == plans[1]
    named = Source.hybrid("totals", Totals, columns=["from", "n", "delay", "worst"], batch="store", stream="sums")
    late = named.map(lambda one: (one.origin, one.worst)).filter_values(lambda worst: worst >= 0)
    assert sorted(late.table("memory").rows()) == [(origin, worst) for origin, *_, worst in wanted]
    with pytest.raises(
        QueryError,
        match=r"the records of 'totals' are Totals, and its columns are from VARCHAR, n BIGINT, .*; leave out",
    ):
        Source.hybrid("totals", Totals, batch="store", stream="sums")
    with pytest.raises(QueryError, match="the connector 'hybrid' needs 'stream'"):
        Source.hybrid("totals", batch="store")
    with pytest.raises(QueryError, match="there is no store of totals in nowhere; compute its first batch"):
        Source.hybrid("totals", batch="nowhere", stream="sums")


def test_only_what_is_new_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_flights(tmp_path)
    asked = []

    def noting(job: Job, period: Period | None) -> pl.DataFrame:
        asked.append(str(period or ""))
        return in_memory(job, period)

    for end in DAYS[1:]:
        store = FolderStore(tmp_path / "store")
        plan_advance(ouzel.query(QUERY, tmp_path), store, DAY, None if store.exists else DAYS[0], end).run(noting)
    assert asked[::2] == [f"from {a} to just before {b}" for a, b in pairwise(DAYS)]
    assert asked[1::2] == [""] * 3, "then the totals before and what is new are added up"
    monkeypatch.setattr(rolling, "MAX_BATCHES", 100)
    with pytest.raises(
        QueryError, match=r"there are 4,380 batches of '1 day', and at most 100 are computed at once; give an"
    ):
        plan_advance(ouzel.query(QUERY, tmp_path), store, None, None, DAYS[3] + timedelta(days=4380))


def test_a_batch_that_neither_side_has_is_refused_or_told(tmp_path: Path) -> None:
    write_flights(tmp_path)
    ouzel.run(ouzel.query(QUERY, tmp_path), "memory")
    advanced(tmp_path, DAYS[1], start=DAYS[0])
    sums = pl.concat([pl.read_parquet(path) for path in sorted((tmp_path / "sums").glob("*.parquet"))])
    for path in (tmp_path / "sums").glob("*.parquet"):
        path.unlink()
    sums.filter(~pl.col("began").is_between(DAYS[1], DAYS[2], closed="left")).write_parquet(tmp_path / "sums/x.parquet")
    problem = "neither the batch job nor the stream has anything of batch 15707 (from 2013-01-02 00:00:00)"
    with pytest.raises(QueryError) as error:
        ouzel.query(TOTALS.format(""), tmp_path)
    assert f"line 1, column 14: {problem}; advance the batch job over it, or write 'holes' = 'tell'" in str(error.value)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        job = ouzel.query(TOTALS.format(", 'holes' = 'tell'"), tmp_path)
    assert [str(one.message) for one in told] == [f"totals: {problem}"]
    assert "totals_batch" in job.text
    assert "'connector' = 'hybrid'" not in job.text, "who runs the text later reads the same version"
    assert job.text.endswith(TOTALS.format("").partition(";")[2])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("WITH ('connector' = 'hybrid', 'batch' = 'store', 'stream' = 'sums', 'batcher' = 'hour')",
         "line 1, column 14: the store cuts time by '1 day', not by 'hour'; leave 'batcher' out"),
        ("WITH ('connector' = 'hybrid', 'batch' = 'none', 'stream' = 'sums')", "there is no store of totals in"),
        ("WITH ('connector' = 'hybrid', 'batch' = 'store')", "line 1, column 14: "),
        ("(n BIGINT) WITH ('connector' = 'hybrid', 'batch' = 'store', 'stream' = 'sums')",
         "the columns of totals are those of what it is made of; write CREATE TABLE totals WITH (...)"),
    ],
)  # fmt: skip
def test_a_hybrid_table_that_is_wrong(table: str, message: str, tmp_path: Path) -> None:
    write_flights(tmp_path)
    advanced(tmp_path, DAYS[1], start=DAYS[0])
    with pytest.raises(QueryError) as error:
        ouzel.query(f"CREATE TABLE totals {table};\nSELECT * FROM totals", tmp_path)
    assert message in str(error.value)


def test_what_cannot_be_advanced_is_refused(tmp_path: Path) -> None:
    job, store = ouzel.query(QUERY, tmp_path), FolderStore(tmp_path / "store")
    with pytest.raises(QueryError, match=r"is new; say how time is cut, as in --batcher '1 day'"):
        plan_advance(job, store)
    with pytest.raises(QueryError, match="is new; say with --from where its first batch begins"):
        plan_advance(job, store, DAY)
    with pytest.raises(QueryError, match="begins at 2013-01-01 06:00:00; begin at 2013-01-01 00:00:00 or 2013-01-02"):
        plan_advance(job, store, DAY, DAYS[0] + timedelta(hours=6))
    with pytest.raises(
        QueryError, match="9000-01-01 00:00:00 is still to come, so no batch is known to be over by then"
    ):
        plan_advance(job, store, DAY, DAYS[0], datetime(9000, 1, 1))
    write_flights(tmp_path)
    advanced(tmp_path, DAYS[1], start=DAYS[0])
    with pytest.raises(QueryError, match="so it cannot go on with that of 2013-01-03 00:00:00"):
        plan_advance(job, store, DAY, DAYS[2], DAYS[3])
    with pytest.raises(QueryError, match="holds what another query computes"):
        plan_advance(ouzel.query(QUERY.replace("SUM(delay)", "MIN(delay)"), tmp_path), store)
    for server in (
        "'postgres', 'url' = 'postgresql://h/d', 'table' = 't'",
        "'redis', 'structure' = 'hash', 'url' = 'redis://h', 'key' = 't'",
    ):
        table = f"CREATE TABLE sums (n BIGINT) WITH ('connector' = {server}, 'format' = 'json');"
        with pytest.raises(
            QueryError, match=r"the sums in 'sums' are rows by key in a server of .*; read both sides in Python with"
        ):
            ouzel.query(table + TOTALS.format(""), tmp_path)
    with pytest.raises(QueryError, match="there is no connector"):
        ouzel.query("CREATE TABLE sums (n BIGINT) WITH ('connector' = 'nn');" + TOTALS.format(""), tmp_path)


def test_a_program_in_python_is_advanced_too(tmp_path: Path) -> None:
    from ouzel import Source, monoid

    write_flights(tmp_path)
    rows = pl.read_parquet(tmp_path / "flights.parquet").rows()
    timed = Source.of(rows, tuple[datetime, str, int], name="flights").event_time("f0")
    sums = timed.map(lambda one: (one[1], 1)).sum_by_window(monoid.Count(), timedelta(hours=6))
    store = FolderStore(tmp_path / "store")
    plan_advance(sums.job(), store, DAY, DAYS[0], DAYS[3]).run(in_memory)
    assert store.version().batches == BatchRange(DAY.batch_of(DAYS[0]), DAY.batch_of(DAYS[3]))
    counted = {
        key: store.monoid.present(total)[0] for key, total in store.version().get_many(["EWR", "JFK", "LGA"]).items()
    }
    assert counted == {origin: sum(row[1] == origin for row in rows) for origin in ("EWR", "JFK", "LGA")}


def test_the_page_says_what_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sums, totals, _ = re.findall(r"^```sql\n(.*?)^```", PAGE, re.M | re.S)
    program, *_ = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    (tmp_path / "sql_examples/data").mkdir(parents=True)
    flights = pl.read_parquet(ROOT / "sql_examples/data/flights.parquet").filter(pl.col("ts") < DAYS[3])
    flights.write_parquet(tmp_path / "sql_examples/data/flights.parquet")
    directory, store = tmp_path / "sql_examples", FolderStore(tmp_path / "sql_examples/totals")
    job = ouzel.query(sums, directory)
    ouzel.run(job, "memory")
    plan_advance(job, store, DAY, DAYS[0], DAYS[2]).run(in_memory)
    left = dict(flights["origin"].value_counts().iter_rows())
    assert {origin: count for origin, count, _ in answer(totals, directory)} == left
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "documented", module := ModuleType("documented"))
    made: dict[str, Any] = vars(module)
    exec(program, made)
    made["kept"].run("memory")
    made["advance"] = lambda job, folder, batcher, start, end: plan_advance(job, folder, batcher, start, end).run(
        in_memory
    )
    made["nightly"](DAYS[2])
    found = made["read"]().get_many(["EWR", "JFK", "LGA"])
    assert {key: count for key, (count,) in found.values.items()} == left


class Departure(NamedTuple):
    """A row of the flights' file."""

    ts: datetime
    origin: str


def test_a_stream_rolls_a_store_forward_by_texts_and_dates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.spark.session.start_spark", lambda name: None)
    monkeypatch.setattr(rolling, "on_spark", lambda spark: in_memory)
    monkeypatch.chdir(tmp_path)
    write_flights(tmp_path)
    flights = Source.file("flights.parquet", Departure, format="parquet").event_time("ts")
    sums = flights.map(lambda flight: (flight.origin, 1)).sum_by_window(monoid.Sum(), timedelta(hours=6))
    kept = sums.write(Sink.file("sums", format="parquet"))
    kept.run("memory")
    by_dates = advance(kept, "by_dates", batcher="1 day", start=date(2013, 1, 1), end=date(2013, 1, 3))
    by_times = advance(kept.job(answers=False), FolderStore("by_times"), batcher=DAY, start=DAYS[0], end=DAYS[2])
    assert by_dates.batches == by_times.batches
    assert len(by_dates.batches) == 2
    keys = ["EWR", "JFK", "LGA"]
    store, other = FolderStore("by_dates"), FolderStore("by_times")
    found = ClientStore(store, stored_stream(store, "sums"), store.monoid).get_many(keys).values
    assert found == ClientStore(other, stored_stream(other, "sums"), other.monoid).get_many(keys).values
    assert sum(total for (total,) in found.values()) == pl.read_parquet("flights.parquet").height
