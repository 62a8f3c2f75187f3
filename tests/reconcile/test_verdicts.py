"""Every fault crossed with every event of a run: what nothing in the record bears out is explained by nothing that happened besides."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.errors import QueryError
from ouzel.reconcile import Class, reconcile
from ouzel.reconcile.recording.record import RESULTS, SENT_AGAIN, Loss, RunRecord, read_record
from ouzel.runtime.protocol.groupings import key_tasks
from ouzel.session import Job
from tests.reconcile.planting import (
    DAYS,
    AskedOnce,
    classes,
    drop_late,
    edit,
    flights,
    found,
    kept,
    parts_in,
    run,
    seal,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark]

TWO_TASKS = "SET 'parallelism' = '2'; SET 'batch.rows' = '30000';"
SEED, TASKS = 7, 2
LOST_TASK = 1
"""The task whose state died."""

CARRIERS = [f"C{number:02}" for number in range(48)]
DIED, BEFORE, AFTER, DROPPED = (date(2013, 1, day) for day in (10, 3, 15, 5))
"""It died on a day whose window was open; windows of the days before had closed, those of the days after had not begun."""


def by_task(task: int) -> list[str]:
    """The carriers whose groups a task has."""
    numbers = key_tasks(pl.DataFrame({"origin": CARRIERS}), ["origin"], TASKS, SEED)
    return [carrier for carrier, number in zip(CARRIERS, numbers, strict=True) if number == task]


LOSERS, OTHERS = by_task(LOST_TASK), by_task(1 - LOST_TASK)


def at_us(day: date, hours: int) -> int:
    """Microseconds since the epoch."""
    at = datetime.combine(day, datetime.min.time()) + timedelta(hours=hours)
    return (at - datetime(1970, 1, 1)) // timedelta(microseconds=1)


Row = pl.DataFrame
Change = Callable[[Row], Row]


def moved(**by: float | None) -> Change:
    """The row with something added to some columns, or NULL in them."""
    return lambda row: row.with_columns(
        pl.lit(None, row.schema[name]).alias(name) if change is None else (pl.col(name) + change).cast(row.schema[name])
        for name, change in by.items()
    )


@dataclass(frozen=True)
class Fault:
    """What is done to a row, what is found then, and what if just its group may have lost something, or if its window is still open."""

    change: Change
    found: frozenset[Class]
    lost: frozenset[Class] | None = None
    still_open: frozenset[Class] | None = None


def fault(change: Change, *kinds: Class) -> Fault:
    """One that nothing explains."""
    return Fault(change, frozenset(kinds))


def lossy(change: Change, kind: Class) -> Fault:
    """One that a loss explains."""
    return Fault(change, frozenset({kind}), frozenset({Class.LOST}))


def renamed(row: Row) -> Row:
    """The row under another key."""
    return row.with_columns(origin=pl.col("origin") + "?")


def twice(row: Row) -> Row:
    """The row, and again."""
    return pl.concat([row, row])


def two_of(row: Row) -> Row:
    """What two rows of the group can give."""
    return row.with_columns(flights=pl.lit(2, pl.Int64), miles=pl.col("miles") * 2 / pl.col("flights"))


WINDOWS = {
    "a greatest value": fault(moved(max_delay=1), Class.VALUE_DIFFERS),
    "a value that is NULL": fault(moved(max_delay=None), Class.VALUE_DIFFERS),
    "a mean": fault(moved(avg_delay=0.1), Class.VALUE_DIFFERS),
    "a sum": fault(moved(miles=1_000), Class.VALUE_DIFFERS),
    "a count, up": fault(moved(flights=1), Class.VALUE_DIFFERS),
    "counted twice": fault(moved(flights=7, miles=7_000), Class.VALUE_DIFFERS),
    "a count and a greatest value": fault(moved(flights=-1, max_delay=1), Class.VALUE_DIFFERS),
    "a count, down": lossy(moved(flights=-1, miles=-500, avg_delay=1), Class.VALUE_DIFFERS),
    "a row deleted": Fault(lambda row: row.clear(), frozenset({Class.ONLY_BATCH}), frozenset({Class.LOST}), frozenset({Class.IN_FLIGHT})),
    "a row added": fault(lambda row: pl.concat([row, renamed(row)]), Class.ONLY_STREAM),
    "a row delivered twice": fault(twice, Class.ONLY_STREAM),
    "told in two parts": Fault(
        lambda row: pl.concat([moved(flights=-2)(row), two_of(row)]),
        frozenset({Class.VALUE_DIFFERS, Class.ONLY_STREAM}),
        frozenset({Class.LOST, Class.ONLY_STREAM}),
    ),
    "the last digits": fault(lambda row: row.with_columns(miles=pl.col("miles") * (1 + 1e-12)), Class.FLOAT),
}  # fmt: skip


def places() -> Iterator[tuple[str, str, date, str]]:
    """(fault, origin, day, where that is): each fault in a group of its own, wherever it matters."""
    for number, name in enumerate(WINDOWS):
        for day, where in ((DIED, "lost"), (BEFORE, "closed"), (AFTER, "not begun"), (DROPPED, "dropped")):
            yield name, LOSERS[number], day, where
        yield name, OTHERS[number], DIED, "of another task"


def happened(kind: str, text: str, count: int = 1) -> Callable[[RunRecord], RunRecord]:
    """The record with one event more."""
    return lambda record: replace(record, events=(*record.events, (kind, text, count)))


def lost(component: str) -> Callable[[RunRecord], RunRecord]:
    """The record of a run that may have lost something on the day DIED. (The watermark lags an hour behind.)"""
    loss = Loss(component, LOST_TASK, TASKS, at_us(DIED, 1), at_us(DIED, 11))
    loss = loss if component else replace(loss, task=0, tasks=1)
    kind = "state-lost" if component else "rows-lost"
    return lambda record: replace(happened(kind, "x")(record), losses=(loss,), seed=SEED)


EVENTS: Mapping[str, Callable[[RunRecord], RunRecord]] = {
    "nothing": lambda record: record,
    "late": lambda record: record,
    "replayed": happened("replayed", SENT_AGAIN, 250),
    "restarted": lambda record: lost("elsewhere")(happened("restarted", "x")(happened("replayed", "'flights' was started again")(record))),
    "state-lost": lambda record: happened("replayed", SENT_AGAIN, 250)(lost("aggregate_by_origin")(record)),
    "at most once": lambda record: replace(happened("state-lost", "of whom is not known")(record), delivery="at-most-once"),
    "rows-lost": lambda record: replace(lost("")(record), delivery="at-most-once"),
    "stopped": lambda record: replace(record, closed_us=at_us(DIED, 1)),
}  # fmt: skip


def traffic() -> pl.DataFrame:
    """Flights of these carriers, no two of them alike, the last first, so that any can have been late; in one batch none is."""
    random = Random(5)
    data = flights(20_000).reverse()
    return data.with_columns(origin=pl.Series([random.choice(CARRIERS) for _ in range(data.height)]))


@pytest.fixture(scope="module")
def judged(
    tmp_path_factory: pytest.TempPathFactory, one_partition: SparkSession
) -> Iterator[Callable[[str], Mapping[object, set[Class]]]]:
    """What is found in each group of the run with all faults, after an event."""
    data = traffic()
    gone = data.filter(pl.col("ts").dt.date() == DROPPED, pl.col("delay").is_not_null()).unique("origin", keep="first")
    job, home = run(TWO_TASKS + DAYS, tmp_path_factory.mktemp("whole"), data)
    _, without = run(TWO_TASKS + DAYS, tmp_path_factory.mktemp("without"), data.join(gone, on="id", how="anti"))
    whole, fewer, record = pl.read_parquet(home / RESULTS), pl.read_parquet(without / RESULTS), read_record(home)
    known: dict[str, Mapping[object, set[Class]]] = {}
    once = AskedOnce(job, home, one_partition)

    def judge(event: str) -> Mapping[object, set[Class]]:
        if event not in known:
            EVENTS[event](record).save(home)
            drop_late(home, late_lines(gone) if event == "late" else [])
            faulty((fewer if event == "late" else whole), home)
            known[event] = by_group(found(job, home, one_partition, 1e-9))
        return known[event]

    with pytest.MonkeyPatch.context() as monkeypatch:
        once.put(monkeypatch)
        yield judge


def late_lines(gone: pl.DataFrame) -> list[dict[str, object]]:
    """What a run tells of rows that it dropped."""
    return [
        {
            "$component": "aggregate_by_origin", "window_start": f"{DROPPED}", "window_end": f"{DROPPED + timedelta(days=1)}",
            "origin": row["origin"], "$rows": 1, "flights": 1, "max_delay": row["delay"], "$result2": float(row["delay"]),
            "$result3": row["miles"],
        }
        for row in gone.to_dicts()
    ]  # fmt: skip


def faulty(answer: pl.DataFrame, home: Path) -> None:
    """Plant every fault in its places."""
    chosen = {(origin, day): name for name, origin, day, _ in places()}
    parts = answer.partition_by("origin", "departure_day", maintain_order=True)
    changed = [WINDOWS[name].change(part) if (name := chosen.get(group(part))) else part for part in parts]
    edit(home, lambda _: pl.concat(changed))


def group(part: pl.DataFrame) -> tuple[str, date]:
    """Of which group these rows are."""
    return part["origin"][0], part["departure_day"][0]


def by_group(result: object) -> Mapping[object, set[Class]]:
    """The classes of each group."""
    classes: dict[object, set[Class]] = {}
    rows = result.differences.selectExpr("class", "coalesce(stream, batch) as row").collect()  # type: ignore[attr-defined]
    for kind, row in rows:
        classes.setdefault((row["origin"].rstrip("?"), row["departure_day"]), set()).add(Class(kind))
    return classes


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("event", EVENTS)
def test_a_fault_is_explained_only_where_the_event_can_have_caused_it(
    event: str, name: str, judged: Callable[[str], Mapping[object, set[Class]]]
) -> None:
    result = judged(event)
    planted = WINDOWS[name]
    for fault_name, origin, day, where in places():
        if fault_name == name:
            hit = day == DIED and (event == "rows-lost" or (event == "state-lost" and where == "lost"))
            still_open = event == "stopped" and day in (DIED, AFTER)
            expected = (hit and planted.lost) or (still_open and planted.still_open) or planted.found
            kinds = result[origin, day] | {Class.FLOAT}
            if event == "late" and where == "dropped":  # what is left beside late rows differs, as what it may
                assert any(not kind.explained for kind in kinds) or expected == {Class.FLOAT}, (where, origin, day)
            else:
                assert kinds == expected | {Class.FLOAT}, (where, origin, day)


def test_no_other_group_differs(judged: Callable[[str], Mapping[object, set[Class]]]) -> None:
    chosen = {(origin, day) for _, origin, day, _ in places()}
    assert {group for group, kinds in judged("state-lost").items() if kinds != {Class.FLOAT}} <= chosen
    late = {group: kinds for group, kinds in judged("late").items() if group not in chosen and kinds != {Class.FLOAT}}
    assert set(map(frozenset, late.values())) == {frozenset({Class.LATE})}
    assert {day for _, day in late} == {DROPPED}


KEPT = """
CREATE TABLE long (id BIGINT, delay INT, miles DOUBLE) WITH ('connector' = 'file', 'path' = 'long', 'format' = 'parquet');
INSERT INTO long SELECT id, delay, miles FROM flights WHERE delay > 200;
"""


@dataclass(frozen=True)
class OfFiles:
    """What is done to the parts that a run has written, which have no keys, or to its input; what is said or found then.

    `found` are classes with how many rows each; `lost`, what else if anything may have been lost on its way.
    """

    done: Callable[[Path], object]
    said: str = ""
    found: Mapping[Class, int] = field(default_factory=dict)
    lost: Mapping[Class, int] | None = None


def in_part(change: Change, sealed: bool = True) -> Callable[[Path], None]:
    """Other rows in a part, as if the run itself had written them, or somebody later."""

    def done(home: Path) -> None:
        part = parts_in(home)[0]
        change(pl.read_parquet(part)).write_parquet(part)
        if sealed:
            seal(home)

    return done


def of_part(do: Callable[[Path], object]) -> Callable[[Path], object]:
    """Something done to a part as a file."""
    return lambda home: do(parts_in(home)[0])


def of_source(do: Callable[[Path], object]) -> Callable[[Path], object]:
    """Something done to the input."""
    return lambda home: do(Path(next(iter(read_record(home).sources))))


FIRST_ROW = pl.int_range(pl.len()) == 0
MISSING = {Class.ONLY_BATCH: 1}
ANOTHER = {Class.ONLY_STREAM: 1, Class.ONLY_BATCH: 1}
PART = 100
"""Rows of a part: so many of those read are in one batch."""

FILES = {
    "a value": OfFiles(in_part(lambda rows: rows.with_columns(delay=pl.col("delay") + FIRST_ROW)), "", ANOTHER,
                       {Class.ONLY_STREAM: 1, Class.LOST: 1}),
    "a float": OfFiles(in_part(lambda rows: rows.with_columns(miles=pl.col("miles") + FIRST_ROW)), "", {Class.VALUE_DIFFERS: 1}),
    "the last digit": OfFiles(in_part(lambda rows: rows.with_columns(miles=pl.col("miles") * (1 + 1e-12 * FIRST_ROW.cast(pl.Int8)))), "",
                              {Class.FLOAT: 1}),
    "a row deleted": OfFiles(in_part(lambda rows: rows[1:]), "", MISSING, {Class.LOST: 1}),
    "a row deleted since": OfFiles(in_part(lambda rows: rows[1:], sealed=False), "since the run", MISSING),
    "a row twice": OfFiles(in_part(lambda rows: pl.concat([rows, rows[:1]])), "", {Class.ONLY_STREAM: 1}),
    "a part deleted": OfFiles(of_part(Path.unlink), "is gone", {Class.ONLY_BATCH: -1}),
    "a part delivered twice": OfFiles(of_part(lambda part: shutil.copy(part, part.with_name(f"{part.stem}-again.parquet"))),
                                      "was added since the run", {Class.ONLY_STREAM: -1}),
    "a part cut": OfFiles(of_part(lambda part: os.truncate(part, 100)), "is no Parquet file that can be read"),
    "a part emptied": OfFiles(of_part(lambda part: os.truncate(part, 0)), "has 0 bytes"),
    "a type": OfFiles(in_part(lambda rows: rows.with_columns(id=pl.col("id") + 0.9)), "column 'id' is Float64 and not Int64"),
    "a column renamed": OfFiles(in_part(lambda rows: rows.rename({"delay": "late"})), "no column 'delay'"),
    "the input edited": OfFiles(of_source(lambda path: flights(seed=9).write_parquet(path)), "the input is not what the run has read"),
    "the input deleted": OfFiles(of_source(Path.unlink), "is gone"),
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, one_partition: SparkSession) -> tuple[Job, Path, AskedOnce]:
    """A run that wrote files, and what Spark says of it, which is asked once."""
    folder = tmp_path_factory.mktemp("written")
    job, home = run(f"SET 'batch.rows' = '{PART}';" + KEPT, folder)
    return job, home, AskedOnce(job, home, one_partition)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("event", EVENTS)
def test_what_befell_files_is_explained_by_nothing_that_happened_besides(
    event: str,
    name: str,
    written: tuple[Job, Path, AskedOnce],
    one_partition: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, home, once = written
    once.put(monkeypatch)
    fault = FILES[name]
    rows = pl.read_parquet(parts_in(home)[0]).height
    with kept(home):
        EVENTS[event](read_record(home)).save(home)
        fault.done(home)
        if not fault.found:
            with pytest.raises(QueryError, match=fault.said):
                reconcile(job, home, one_partition)
            return
        result = found(job, home, one_partition)
        assert all(fault.said in told for told in result.tampered)
        assert bool(result.tampered) == bool(fault.said)
        expected = fault.lost if fault.lost and event == "rows-lost" else fault.found
        assert classes(result) == {kind: rows if number < 0 else number for kind, number in expected.items()}
