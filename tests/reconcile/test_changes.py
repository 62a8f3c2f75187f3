"""Faults in a table that changes, crossed with every event of a run: what a task has told of is not lost with it, and not twice there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.errors import OuzelError
from ouzel.reconcile import Class
from ouzel.reconcile.recording.record import SENT_AGAIN, read_record
from ouzel.session import Job
from tests.reconcile.planting import ORIGINS, AskedOnce, classes, drop_late, edit, found, kept, parts_in, run, seal
from tests.reconcile.test_verdicts import EVENTS, LOSERS, OTHERS, TWO_TASKS, Row, happened, lost, traffic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

COMPONENT = "count_by_origin"
FILE = """CREATE TABLE totals (origin VARCHAR, flights BIGINT)
WITH ('connector' = 'file', 'path' = 'totals', 'format' = 'parquet', 'changelog' = 'true');
"""
FORMS = {"the table that is shown": ORIGINS, "a file of changes": FILE + f"INSERT INTO totals {ORIGINS}"}


@dataclass(frozen=True)
class Fault:
    """Counts that a group has instead of its one; what is found, and what if its task's state, or anything on its way, was lost."""

    change: Callable[[int], list[int]]
    found: set[Class]
    state: set[Class] | None = None
    on_way: set[Class] | None = None


APART, ONE_LOST = {Class.VALUE_DIFFERS, Class.ONLY_STREAM}, {Class.LOST, Class.ONLY_STREAM}
FAULTS = {
    "told by two tasks": Fault(lambda n: [3, n - 3], APART, {Class.LOST}, ONE_LOST),
    "told by two tasks, and what was sent again by both": Fault(lambda n: [n - 3, 200], APART, {Class.LOST}, ONE_LOST),
    "told by two tasks, and all of it by the second": Fault(lambda n: [3, n], {Class.ONLY_STREAM}, {Class.LOST}),
    "told by two tasks, each of all of it": Fault(lambda n: [n, n], {Class.ONLY_STREAM}),
    "more than was sent again": Fault(lambda n: [n - 3, n - 4], APART, None, ONE_LOST),
    "told by three tasks": Fault(lambda n: [3, n - 3, n - 3], APART, None, ONE_LOST),
    "told by two tasks, and not all": Fault(lambda n: [3, n - 9], APART, None, ONE_LOST),
    "one row counted twice": Fault(lambda n: [n + 1], {Class.VALUE_DIFFERS}),
    "one row missing": Fault(lambda n: [n - 1], {Class.VALUE_DIFFERS}, None, {Class.LOST}),
    "never told of": Fault(lambda n: [], {Class.ONLY_BATCH}, None, {Class.LOST}),
}
"""Whoever tells of changes at once had told of all that it lost."""

PLACES = {origins[number]: name for number, name in enumerate(FAULTS) for origins in (LOSERS, OTHERS)}


def counts(change: Callable[[int], list[int]]) -> Callable[[Row], list[dict[str, object]]]:
    """The group's rows with these counts."""
    return lambda row: [{**row.to_dicts()[0], "flights": count} for count in change(row["flights"][0])]


def with_rows(answer: Row, told: Mapping[str, Callable[[Row], list[dict[str, object]]]]) -> Row:
    """The answer where these groups have other rows."""
    parts = [pl.DataFrame(told[key](part), answer.schema) if key in told else part
             for (key,), part in answer.partition_by("origin", as_dict=True).items()]  # fmt: skip
    return pl.concat(parts)


@pytest.fixture(scope="module", params=FORMS)
def ran(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, one_partition: SparkSession
) -> tuple[Job, Path, AskedOnce]:
    """A run of each form, and what Spark says of it, which is asked once."""
    job, home = run(TWO_TASKS + FORMS[request.param], tmp_path_factory.mktemp("ran"), traffic())
    return job, home, AskedOnce(job, home, one_partition)


def plant(home: Path) -> None:
    """Every fault in its places; in files every row was another before, which is taken back, and of the first part they are."""
    told = {origin: counts(FAULTS[name].change) for origin, name in PLACES.items()}
    part, *others = parts_in(home)
    if part.parent == home:
        edit(home, lambda answer: with_rows(answer, told))
        return
    changes = pl.concat(map(pl.read_parquet, (part, *others)))
    told_of = changes.group_by("origin", "flights", maintain_order=True)  # the same bytes each time
    table = told_of.agg(pl.col("op").sum()).filter(pl.col("op") != 0).drop("op")
    rows = with_rows(table, told).with_columns(op=pl.lit(1, pl.Int64))
    before = rows.with_columns(flights=pl.lit(1, pl.Int64))
    pl.concat([before, before.with_columns(op=-pl.col("op")), rows]).write_parquet(part)
    for other in others:
        pl.read_parquet(other).clear().write_parquet(other)
    seal(home)


@pytest.mark.parametrize("event", EVENTS)
def test_a_fault_in_changes_is_explained_only_where_the_event_can_have_caused_it(
    event: str, ran: tuple[Job, Path, AskedOnce], one_partition: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, home, once = ran
    once.put(monkeypatch)
    with kept(home):
        record = EVENTS[event](read_record(home))
        if event == "state-lost":
            record = happened("replayed", SENT_AGAIN, 250)(lost(COMPONENT)(read_record(home)))
        record.save(home)
        plant(home)
        drop_late(home, [late_row(LOSERS[7])] if event == "late" else [])
        result = found(job, home, one_partition)
    assert result.facts.columns.names[0] == "origin"
    told: dict[str, set[Class]] = {}
    for kind, rows in result.samples.items():
        for row in rows:
            told.setdefault(row.row[0], set()).add(kind)
    assert told == {origin: expected(FAULTS[name], event, origin in LOSERS) for origin, name in PLACES.items()}


def late_row(origin: str, **window: str) -> dict[str, object]:
    """What a run tells of a row that it dropped."""
    return {"$component": COMPONENT, **window, "origin": origin, "$rows": 1, "flights": 1}


LONG = """SET 'batch.rows' = '30000'; SELECT window_start, origin, COUNT(*) AS flights
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1000' DAY)) GROUP BY window_start, window_end, origin EMIT CHANGES;"""


def test_what_late_rows_should_have_changed_is_not_there_besides(tmp_path: Path, spark: SparkSession) -> None:
    ahead = traffic().head(1).with_columns(ts=pl.lit(datetime(2020, 1, 1)), origin=pl.lit("ahead"))
    job, home = run(LONG, tmp_path, pl.concat([ahead, traffic()]))
    late, besides, twice = LOSERS[:3]
    window = {"window_start": "2011-01-26", "window_end": "2013-10-22"}
    drop_late(home, [late_row(origin, **window) for origin in (late, besides, twice)])
    told = {late: lambda n: [n - 1], besides: lambda n: [n - 1, n], twice: lambda n: [n - 1, n - 1]}
    edit(home, lambda answer: with_rows(answer, {origin: counts(change) for origin, change in told.items()}))
    rows = found(job, home, spark).differences.selectExpr("coalesce(stream, batch).origin", "class").collect()
    assert sorted(map(tuple, rows)) == [
        (late, "late"), (besides, "only in stream"), (twice, "late"), (twice, "only in stream")
    ]  # fmt: skip


def expected(fault: Fault, event: str, died: bool) -> set[Class]:
    """What a careful person says."""
    if event == "rows-lost":
        return fault.on_way or fault.found
    return (event == "state-lost" and died and fault.state) or fault.found


def test_changes_in_files_add_up(ran: tuple[Job, Path, AskedOnce], spark: SparkSession) -> None:
    job, home, _ = ran
    result = found(job, home, spark)
    assert classes(result) == {}
    assert result.matched == result.stream_rows == result.batch_rows > 40


def planted_in(
    query: str,
    told: Mapping[str, Callable[[Row], list[dict[str, object]]]],
    directory: Path,
    spark: SparkSession,
    component: str = "count_by_origin",
    sent_again: int = 250,
) -> Mapping[str, set[Class]]:
    """The classes of these groups where they have other rows than the run gave them, and the state of LOST_TASK died."""
    job, home = run(TWO_TASKS + query, directory, traffic())
    happened("replayed", SENT_AGAIN, sent_again)(lost(component)(read_record(home))).save(home)

    edit(home, lambda answer: with_rows(answer, told))
    rows = found(job, home, spark).differences.selectExpr("class", "coalesce(stream, batch).origin").collect()
    return {name: {Class(kind) for kind, origin in rows if origin == name} for name in told}


def test_groups_count_no_more_twice_than_was_sent_again_to_all_of_them(tmp_path: Path, spark: SparkSession) -> None:
    again = counts(lambda n: [n - 3, 200])  # 197 too many, in each of two
    told = {LOSERS[0]: again, LOSERS[1]: again, LOSERS[2]: counts(lambda n: [3, n - 3])}
    classes = planted_in(ORIGINS, told, tmp_path, spark)
    assert classes == {
        LOSERS[0]: {Class.VALUE_DIFFERS, Class.ONLY_STREAM},
        LOSERS[1]: {Class.VALUE_DIFFERS, Class.ONLY_STREAM},
        LOSERS[2]: {Class.LOST},
    }


TWICE = ORIGINS.replace("FROM flights", "FROM (SELECT origin FROM flights UNION ALL SELECT origin FROM flights)")


@pytest.mark.parametrize(("sent_again", "found"), [(0, {Class.VALUE_DIFFERS, Class.ONLY_STREAM}), (1, {Class.LOST})])
def test_where_nothing_was_sent_again_nothing_counts_twice_however_many_rows_come_of_one(
    sent_again: int, found: set[Class], tmp_path: Path, spark: SparkSession
) -> None:
    told = {LOSERS[0]: counts(lambda n: [3, n - 3]), LOSERS[1]: counts(lambda n: [4, n - 3])}
    classes = planted_in(TWICE, told, tmp_path, spark, sent_again=sent_again)
    assert classes == {LOSERS[0]: {Class.LOST}, LOSERS[1]: found}


VALUES = "SELECT origin, COUNT(*) AS flights, MAX(delay) AS worst, MIN(delay) AS best, SUM(id) AS ids, SUM(miles) AS miles FROM flights GROUP BY origin EMIT CHANGES;"  # noqa: E501


def apart(again: int = 0, **by: float) -> Callable[[Row], list[dict[str, object]]]:
    """The group told by two tasks, the first of three rows; so many of these come again, and something is added to what the second says."""

    def told(row: Row) -> list[dict[str, object]]:
        (whole,) = row.to_dicts()
        rows = traffic().filter(pl.col("origin") == whole["origin"]).head(3)
        once, twice = (
            {"flights": few.height, "ids": few["id"].sum(), "miles": few["miles"].sum()}
            for few in (rows, rows.head(again))
        )
        second = {name: whole[name] - once[name] + twice[name] for name in once}
        return [
            {**whole, **once},
            {**whole, **second, **{name: {**whole, **second}[name] + more for name, more in by.items()}},
        ]

    return told


def test_what_two_tasks_told_of_is_together_what_there_is(tmp_path: Path, spark: SparkSession) -> None:
    def all_less(row: Row) -> list[dict[str, object]]:
        return [{**part, "worst": part["worst"] - 1} for part in apart()(row)]  # type: ignore[operator]

    told = [apart(), apart(worst=-1), apart(best=1), apart(ids=1), apart(miles=0.01), apart(again=2), all_less]
    classes = planted_in(VALUES, dict(zip(LOSERS, told, strict=False)), tmp_path, spark, "aggregate_by_origin")
    no = {Class.VALUE_DIFFERS, Class.ONLY_STREAM}
    assert list(classes.values()) == [{Class.LOST}] * 3 + [no, no, {Class.LOST}, no]


def test_a_row_that_is_taken_back_too_often_is_an_error(tmp_path: Path, spark: SparkSession) -> None:
    job, home = run(FORMS["a file of changes"], tmp_path)
    part = parts_in(home)[0]
    pl.read_parquet(part).with_columns(op=-pl.col("op")).write_parquet(part)
    seal(home)
    with pytest.raises(OuzelError, match=r"'totals' takes a row back more often than it was put in, .*origin"):
        found(job, home, spark)
