"""Faults in rows that joins make, crossed with what happened to the run: a lost match is known by its keys, and by what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.reconcile import Class
from ouzel.reconcile.recording.record import SENT_AGAIN, RunRecord, read_record
from ouzel.session import Job
from tests.reconcile.planting import AskedOnce, edit, flights, found, kept, run
from tests.reconcile.test_verdicts import (
    AFTER,
    BEFORE,
    CARRIERS,
    DIED,
    EVENTS,
    LOSERS,
    OTHERS,
    TWO_TASKS,
    happened,
    lost,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

PLACES = """
CREATE TABLE places (code VARCHAR, city VARCHAR, height INT) WITH ('connector' = 'file', 'path' = 'places.parquet', 'format' = 'parquet');
"""
KINDS = {
    "inner": "SELECT id, origin AS k, city, height FROM flights JOIN places ON origin = code;",
    "left": "SELECT id, origin AS k, city, height FROM flights LEFT JOIN places ON origin = code;",
    "right": "SELECT id, code AS k, city, height FROM flights RIGHT JOIN places ON origin = code;",
    "full": "SELECT id, origin, code, city, height FROM flights FULL JOIN places ON origin = code;",
    "semi": "SELECT id, origin AS k FROM flights LEFT SEMI JOIN places ON origin = code;",
    "anti": "SELECT id, origin AS k FROM flights LEFT ANTI JOIN places ON origin = code;",
}
UNMATCHED = {"left": ("city", "height"), "right": ("id",), "full": ("code", "city", "height")}
"""The columns that are NULL in a row without a match."""

EXPLAINING = ("state-lost", "rows-lost")
"""Events that explain rows of joins."""
CROSSED = [
    (event, kind)
    for number, event in enumerate(EVENTS)
    for kind in (KINDS if event in EXPLAINING else list(KINDS)[number % 3 :: 3])
]
"""Each kind with the events that explain its rows; two kinds with each event that explains none, whatever the kind."""

Row = dict[str, object]
Rows = list[Row]
MATCH, ALONE = "a match", "a row without a match"


@dataclass(frozen=True)
class Fault:
    """What stands in the place of a row of a group; what is found, and what if its join's state, or anything on its way, was lost."""

    of: str
    change: Callable[[Row, Row], Rows]
    found: set[Class]
    state: set[Class] | None = None
    on_way: set[Class] | None = None


BOTH, WRONG = {Class.ONLY_STREAM, Class.ONLY_BATCH}, {Class.LOST, Class.ONLY_STREAM}
FAULTS = {
    "a match missing": Fault(MATCH, lambda row, alone: [], {Class.ONLY_BATCH}, {Class.LOST}, {Class.LOST}),
    "a match twice": Fault(MATCH, lambda row, alone: [row, row], {Class.ONLY_STREAM}),
    "another row": Fault(MATCH, lambda row, alone: [{**row, "id": -1}], BOTH, WRONG, WRONG),
    "alone": Fault(MATCH, lambda row, alone: [alone], BOTH, {Class.LOST}, {Class.LOST}),
    "alone twice": Fault(MATCH, lambda row, alone: [alone, alone], BOTH, WRONG, WRONG),
    "alone besides": Fault(MATCH, lambda row, alone: [row, alone], {Class.ONLY_STREAM}),
    "no match for it, missing": Fault(ALONE, lambda row, alone: [], {Class.ONLY_BATCH}, None, {Class.LOST}),
    "no match for it, twice": Fault(ALONE, lambda row, alone: [row, row], {Class.ONLY_STREAM}),
    "a row too many": Fault(ALONE, lambda row, alone: [row, {**row, "id": -1}], {Class.ONLY_STREAM}),
    "a match of nothing": Fault(ALONE, lambda row, alone: [{name: -1 if name == "id" else value for name, value in row.items()}],
                                BOTH, None, WRONG),
}  # fmt: skip
GROUPS = {task: dict(zip(FAULTS, carriers, strict=False)) for task, carriers in (("lost", LOSERS), ("kept", OTHERS))}
"""The carrier in whose rows each fault is planted, of the task whose state died and of the other."""


def after(event: str, component: str) -> Callable[[RunRecord], RunRecord]:
    """The record after an event: of a join no other component's lost state explains anything."""
    if event != "state-lost":
        return EVENTS[event]
    return lambda record: happened("replayed", SENT_AGAIN, 250)(lost(component)(record))


def joined(kind: str, directory: Path) -> tuple[Job, Path]:
    """A run of that join: three flights of each carrier, of which those of MATCH have a place; for a right join it is the places."""
    matched = [carrier for group in GROUPS.values() for fault, carrier in group.items() if FAULTS[fault].of == MATCH]
    origins = (matched if kind == "right" else CARRIERS) * 3
    codes = CARRIERS if kind == "right" else matched
    places = {"code": codes, "city": [f"city of {code}" for code in codes], "height": range(len(codes))}
    pl.DataFrame(places, {"code": pl.String, "city": pl.String, "height": pl.Int32}).write_parquet(
        directory / "places.parquet"
    )
    return run(
        TWO_TASKS + PLACES + KINDS[kind], directory, flights(len(origins)).with_columns(origin=pl.Series(origins))
    )


@pytest.fixture(scope="module")
def ran(
    tmp_path_factory: pytest.TempPathFactory, one_partition: SparkSession
) -> Callable[[str], tuple[Job, Path, AskedOnce]]:
    """A run of each kind of join, and what Spark says of it, which is asked once."""
    known: dict[str, tuple[Job, Path, AskedOnce]] = {}

    def get(kind: str) -> tuple[Job, Path, AskedOnce]:
        if kind not in known:
            job, home = joined(kind, tmp_path_factory.mktemp(kind))
            known[kind] = job, home, AskedOnce(job, home, one_partition)
        return known[kind]

    return get


def plant(answer: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Every fault in the first row of each of its groups."""
    planted = {carrier: FAULTS[fault] for group in GROUPS.values() for fault, carrier in group.items()}
    rows: Rows = []
    for row in answer.sort("id").to_dicts():
        fault = planted.pop(group_of(row), None)
        alone = {**row, **dict.fromkeys(UNMATCHED.get(kind, ()))}
        rows += fault.change(row, alone) if fault and applies(fault, kind) else [row]
    return pl.DataFrame(rows, answer.schema)


def group_of(row: Row) -> str:
    """The key by which the row was joined."""
    return str(row["k"] if "k" in row else row["origin"] or row["code"])


def applies(fault: Fault, kind: str) -> bool:
    """Whether such rows are in what this join makes."""
    shows = kind in UNMATCHED or not any(row.get("alone") for row in fault.change({}, {"alone": True}))
    return shows and (fault.of == (ALONE if kind == "anti" else MATCH) or kind in UNMATCHED)


@pytest.mark.parametrize(("event", "kind"), CROSSED)
def test_what_befell_rows_of_a_join_is_explained_where_its_task_has_lost_a_match(
    event: str,
    kind: str,
    ran: Callable[[str], tuple[Job, Path, AskedOnce]],
    one_partition: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, home, once = ran(kind)
    once.put(monkeypatch)
    (component,) = (part.name for part in job.topology.components if part.name.startswith("join"))
    with kept(home):
        after(event, component)(read_record(home)).save(home)
        edit(home, lambda rows: plant(rows, kind))
        rows = (
            found(job, home, one_partition).differences.selectExpr("class", "coalesce(stream, batch) as row").collect()
        )
    classes: dict[str, set[Class]] = {}
    for name, row in rows:
        classes.setdefault(group_of(row.asDict()), set()).add(Class(name))
    assert classes == {
        carrier: expected(FAULTS[fault], event, task == "lost")
        for task, group in GROUPS.items()
        for fault, carrier in group.items()
        if applies(FAULTS[fault], kind)
    }


def expected(fault: Fault, event: str, died: bool) -> set[Class]:
    """What a careful person says."""
    if event == "rows-lost":
        return fault.on_way or fault.found
    return (event == "state-lost" and died and fault.state) or fault.found


NEAR = """SELECT a.id, a.origin, a.ts, b.id AS other FROM flights AS a JOIN flights AS b
ON a.origin = b.origin AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR AND a.id < b.id;"""


AWAY = """SELECT a.id, a.origin, a.ts, b.id AS other FROM flights AS a JOIN flights AS b
ON a.origin = b.origin AND b.id = a.id + 100;"""


@pytest.mark.parametrize("query", [NEAR, AWAY], ids=["within a span of time", "at any time"])
def test_a_match_is_lost_only_if_its_task_died_between_its_rows(
    query: str, tmp_path: Path, spark: SparkSession
) -> None:
    data = flights(4_000).with_columns(origin=pl.Series([CARRIERS[number % 4] for number in range(4_000)]))
    job, home = run(TWO_TASKS + query, tmp_path, data)
    (component,) = (part.name for part in job.topology.components if part.name.startswith("join"))
    happened("replayed", SENT_AGAIN, 250)(lost(component)(read_record(home))).save(home)
    (loser,), (other,) = ([origin for origin in CARRIERS[:4] if origin in some][:1] for some in (LOSERS, OTHERS))
    at_five = (pl.col("ts").dt.hour() == 5) & pl.col("ts").dt.date().is_in([BEFORE, DIED, AFTER])
    edit(home, lambda rows: rows.filter(~(at_five & pl.col("origin").is_in([loser, other]))))
    differing = found(job, home, spark).differences.selectExpr("class", "batch.origin", "date(batch.ts)").collect()
    assert {(origin, day): Class(kind) for kind, origin, day in differing} == {
        (origin, day): Class.LOST if (origin, day) == (loser, DIED) else Class.ONLY_BATCH
        for origin in (loser, other)
        for day in (BEFORE, DIED, AFTER)
    }


PER_DAY = """SELECT window_start, origin, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, origin"""
DAYS = f"""CREATE VIEW long AS SELECT * FROM flights WHERE miles > 900;
SELECT a.window_start, a.origin, a.n, b.n AS long FROM ({PER_DAY.format("flights")}) AS a
LEFT JOIN ({PER_DAY.format("long")}) AS b ON a.window_start = b.window_start AND a.origin = b.origin;"""


def test_rows_dropped_below_a_join_explain_its_rows_and_no_fault_beside_them(
    tmp_path: Path, spark: SparkSession
) -> None:
    behind = pl.when(pl.col("origin") == "JFK").then(pl.col("ts") - pl.duration(days=3)).otherwise("ts").alias("ts")
    small = "SET 'batch.rows' = '100'; SET 'max.pending.rows' = '100';"
    job, home = run(small + DAYS, tmp_path, flights().with_columns(behind))
    late = found(job, home, spark)
    assert set(late.counts) == {Class.LATE}
    assert {row.row[1] for row in late.samples[Class.LATE]} == {"JFK"}
    edit(
        home, lambda rows: rows.with_columns(n=pl.col("n") + (pl.int_range(pl.len()) == rows["origin"].index_of("EWR")))
    )
    assert {kind: number for kind, number in found(job, home, spark).counts.items() if not kind.explained} == {
        Class.ONLY_STREAM: 1,
        Class.ONLY_BATCH: 1,
    }
