"""Event time in a program: windows close as in SQL, and plain Python says what is in them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from ouzel import OuzelError, QueryError, Source, Stream, monoid
from ouzel.runtime.simulator.simulation import simulate
from ouzel.spark.lowering import run_job
from tests.effort import seeds
from tests.law.compare import plain_fold

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = timedelta(hours=1)


class Reading(NamedTuple):
    at: datetime
    river: str
    level: int


def readings(folder: Path, seed: int) -> Stream[Reading]:
    """Levels of rivers, up to 20 minutes out of order."""
    random = Random(seed)
    minutes = [number * 7 + random.randint(-20, 0) for number in range(80)]
    rows = [Reading(datetime(2026, 1, 1, 5) + timedelta(minutes=n), random.choice("abc"), n % 9) for n in minutes]
    pl.DataFrame(rows, schema=["at", "river", "level"], orient="row").write_parquet(folder / f"readings{seed}.parquet")
    source = Source.file(str(folder / f"readings{seed}.parquet"), Reading, format="parquet")
    return source.event_time("at", delay=timedelta(minutes=30))


def levels(source: Stream[Reading]) -> Stream[Any]:
    pairs = source.filter(lambda one: one.level != 4).map(lambda one: (one.river, one.level))
    highest = pairs.flat_map_values(lambda level: (level, level + 1)).sum_by_window(monoid.Sum(), 2 * HOUR, HOUR)
    return highest.map(lambda one: (one.key, one.value)).sum_by_window(monoid.Max(), 4 * HOUR)


def test_the_simulator_closes_the_windows_that_plain_python_has(tmp_path: Path) -> None:
    for seed in seeds():
        stream = levels(readings(tmp_path, seed))
        job = stream.job(parallelism=1 + seed % 3)
        run = simulate(job.topology, job.packing, job.directory, seed=seed)
        found = Counter(plain_fold(run.frames.values(), list(stream.record.schema.names)).rows())
        assert run.rows_late == 0
        assert found == Counter(map(tuple, stream.memory())), f"seed {seed}\n{stream.explain()}"
        assert found


@pytest.mark.slow
@pytest.mark.spark
def test_spark_has_the_same_windows(tmp_path: Path, spark: SparkSession) -> None:
    stream = levels(readings(tmp_path, 1))
    rows = run_job(stream.spark_job(), spark).collect()
    assert Counter(map(tuple, rows)) == Counter(map(tuple, stream.memory()))


def test_sql_in_a_program_sees_the_time_of_records_that_python_has_made(tmp_path: Path) -> None:
    source = readings(tmp_path, 3)
    windows = source.map(lambda one: (one.river, one.level)).sql(
        """SELECT key, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE this, DESCRIPTOR(event_time), INTERVAL '1' HOUR))
        GROUP BY key, window_start, window_end"""
    )
    plain = source.map(lambda one: (one.river, one.level)).sum_by_window(monoid.Count(), HOUR)
    assert Counter(windows.table("memory").rows()) == Counter(
        (one.key, one.window_end, one.value) for one in plain.memory()
    )


def test_windows_without_a_time_or_a_fit_are_refused(tmp_path: Path) -> None:
    pairs = Source.of([("a", 1)])
    timed = readings(tmp_path, 0).map(lambda one: (one.river, one.level))
    joined = timed.join(timed).keys().map(lambda key: (key, 1))
    behind = r"call event_time\(column, delay\) behind it"
    lost = {
        pairs: behind,
        timed + pairs: behind,
        joined: behind,
        timed.sum_by_key(monoid.Sum()): r"call sum_by_window\(…\) in its place",
    }
    for without, advice in lost.items():
        with pytest.raises(QueryError, match=rf"what comes of .*:\d+ has none; .*{advice}"):
            without.sum_by_window(monoid.Sum(), HOUR)
    with pytest.raises(QueryError, match="key is no datetime of"):
        pairs.event_time("key")
    with pytest.raises(QueryError, match="take a slide that divides the size"):
        timed.sum_by_window(monoid.Sum(), HOUR, timedelta(minutes=50))


ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata")


def around_a_change(folder: Path, seed: int) -> Stream[Any]:
    """Records of the weeks around a change of clocks in March."""
    random = Random(seed)
    start = datetime(2026, 3, 1)
    rows = [
        Reading(start + timedelta(hours=n * 3, minutes=random.randint(-60, 0)), random.choice("ab"), n)
        for n in range(280)
    ]
    pl.DataFrame(rows, schema=["at", "river", "level"], orient="row").write_parquet(folder / f"march{seed}.parquet")
    source = Source.file(str(folder / f"march{seed}.parquet"), Reading, format="parquet")
    return source.event_time("at", delay=timedelta(hours=2)).map(lambda one: (one.river, one.at))


def local_days(pairs: Stream[Any], zone: str, days: int, every: int) -> Counter[Any]:
    """How many records of each key fall on which days of a zone's clocks, as Python's own time zones tell it."""

    def begin(day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None)

    found: Counter[Any] = Counter()
    for key, at in pairs.memory():
        day = at.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).date()
        latest = day - timedelta(days=(day - date(1970, 1, 1)).days % every)
        for back in range(days // every):
            first = latest - timedelta(days=back * every)
            found[key, begin(first), begin(first + timedelta(days=days))] += 1
    return found


@pytest.mark.parametrize("zone", ZONES)
def test_days_by_the_clock_of_a_zone_are_those_of_python(zone: str, tmp_path: Path) -> None:
    pairs = around_a_change(tmp_path, 1)
    for seed, (days, every) in enumerate([(1, 1), (6, 2)]):
        stream = pairs.sum_by_window(monoid.Count(), timedelta(days=days), timedelta(days=every), zone=zone)
        expected = Counter({(*key, n): 1 for key, n in local_days(pairs, zone, days, every).items()})
        assert Counter(map(tuple, stream.memory())) == expected
        job = stream.job(parallelism=2)
        run = simulate(job.topology, job.packing, job.directory, seed=seed)
        assert Counter(plain_fold(run.frames.values(), list(stream.record.schema.names)).rows()) == expected


@pytest.mark.slow
@pytest.mark.spark
def test_spark_has_the_same_days_of_a_zone(tmp_path: Path, spark: SparkSession) -> None:
    counts = around_a_change(tmp_path, 2).sum_by_window(monoid.Count(), timedelta(days=1), zone=ZONES[0])
    rows = run_job(counts.spark_job(), spark).collect()
    assert Counter(map(tuple, rows)) == Counter(map(tuple, counts.memory()))


def test_a_zone_that_there_is_not_and_hours_by_its_clock_are_refused(tmp_path: Path) -> None:
    pairs = around_a_change(tmp_path, 3)
    with pytest.raises(QueryError, match="there is no time zone 'Mars/X'; write a name such as 'UTC'"):
        pairs.sum_by_window(monoid.Count(), timedelta(days=1), zone="Mars/X")
    with pytest.raises(
        QueryError, match=r"windows by the clock of 'Asia/Kolkata' are of whole days, and 1:00:00 is none"
    ):
        pairs.sum_by_window(monoid.Count(), HOUR, zone="Asia/Kolkata")
    assert pairs.sum_by_window(monoid.Count(), HOUR, zone="UTC").memory()


def test_a_record_without_a_time_fails_in_plain_python_as_on_an_engine() -> None:
    class Maybe(NamedTuple):
        at: datetime | None
        river: str

    timed = Source.of([Maybe(None, "a")], Maybe).event_time("at").map(lambda one: (one.river, 1))
    for platform in (Stream.memory, lambda stream: stream.table("memory")):
        for stream in (timed.sum_by_window(monoid.Sum(), HOUR), timed.running_sum(monoid.Sum())):
            with pytest.raises(OuzelError, match=r"is None|is NULL"):
                platform(stream)
