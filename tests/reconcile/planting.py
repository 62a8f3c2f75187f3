"""A small run with its record, and the faults that tests plant in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl

from ouzel.connectors.file import parts_of
from ouzel.reconcile import Class, Reconciliation, reconcile, record_run
from ouzel.reconcile.marks import mark_of
from ouzel.reconcile.record import LATE, RESULTS, SENT_AGAIN, Loss, read_record
from ouzel.session import Job, load_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """
CREATE TABLE flights (
  id BIGINT, ts TIMESTAMP(3), origin VARCHAR, delay INT, miles DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH ('connector' = 'file', 'path' = 'flights.parquet', 'format' = 'parquet');
"""
DAYS = """
SELECT CAST(window_start AS DATE) AS departure_day, origin, COUNT(*) AS flights, MAX(delay) AS max_delay, ROUND(AVG(delay), 1) AS avg_delay,
  SUM(miles) AS miles
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, origin EMIT AFTER WATERMARK;
"""
ORIGINS = "SELECT origin, COUNT(*) AS flights FROM flights GROUP BY origin EMIT CHANGES;"
ROWS = "SELECT id, origin, delay FROM flights WHERE delay > 0;"

FIRST = datetime(2013, 1, 1)


def flights(rows: int = 4_000, seed: int = 1) -> pl.DataFrame:
    """Twenty days of flights in order of time, some delays NULL."""
    random = Random(seed)
    step = timedelta(days=20) / rows
    return pl.DataFrame(
        {
            "id": pl.Series(range(rows), dtype=pl.Int64),
            "ts": pl.Series([FIRST + step * number for number in range(rows)], dtype=pl.Datetime("us")),
            "origin": [random.choice(["EWR", "JFK", "LGA", None]) for _ in range(rows)],
            "delay": pl.Series(
                [None if random.random() < 0.05 else random.randint(-20, 300) for _ in range(rows)], dtype=pl.Int32
            ),
            "miles": [random.random() * 1_000 for _ in range(rows)],
        }
    )


def job_of(query: str, directory: Path, data: pl.DataFrame | None = None, table: str = TABLE) -> Job:
    """The query over these flights, planned."""
    (flights() if data is None else data).write_parquet(directory / "flights.parquet")
    return load_text(table + query, directory, "flights", ())


def run(query: str, directory: Path, data: pl.DataFrame | None = None, table: str = TABLE) -> tuple[Job, Path]:
    """The job, and the directory with the record of a clean run of it."""
    job = job_of(query, directory, data, table)
    record_run(job, "memory", directory / "record")
    return job, directory / "record"


def edit(home: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Plant something in the stream's answer."""
    change(pl.read_parquet(home / RESULTS)).write_parquet(home / RESULTS)
    seal(home)


def seal(home: Path) -> None:
    """As if the run itself had written what is there now, so that only what it holds can tell."""
    record = read_record(home)
    answer = {name: mark_of(home / name) for name in record.answer if (home / name).exists()}
    folders = {Path(name).parent for name in record.answer if Path(name).is_absolute()}
    parts = {str(part): mark_of(part) for folder in folders for part in folder.glob(f"{parts_of(record.run)}*")}
    replace(record, answer={**answer, **parts}).save(home)


def parts_in(home: Path) -> list[Path]:
    """The files of the stream's answer."""
    return sorted(home / name for name in read_record(home).answer)  # an absolute name stays what it is


@contextmanager
def kept(home: Path) -> Iterator[None]:
    """What is done inside to a run's record, to its answer and to its input is undone."""
    record, parts = read_record(home), parts_in(home)
    copies = {path: path.read_bytes() for path in [*parts, *map(Path, record.sources)]}
    folders = {path.parent for path in parts}
    there = {path for folder in folders for path in folder.iterdir()}
    try:
        yield
    finally:
        for path, content in copies.items():
            path.write_bytes(content)
        for path in {path for folder in folders for path in folder.iterdir()} - there:
            path.unlink()
        record.save(home)


def say(home: Path, kind: str, delivery: str = "at-least-once", count: int = 1) -> None:
    """Put an event into the record, as if the run had told of it; `rows-lost` is a loss at a time that is not known."""
    record = read_record(home)
    losses = (*record.losses, *([Loss()] if kind == "rows-lost" else []))
    replace(record, delivery=delivery, events=(*record.events, (kind, SENT_AGAIN, count)), losses=losses).save(home)


def drop_late(home: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Keep rows as dropped."""
    (home / LATE).write_text("".join(json.dumps(row) + "\n" for row in rows))


def found(job: Job, home: Path, spark: SparkSession, tolerance: float = 1e-9) -> Reconciliation:
    """The reconciliation, checked against itself."""
    result = reconcile(job, home, spark, tolerance=tolerance)
    assert sum(result.counts.values()) == result.differing == result.differences.count()
    assert all(len(result.samples[kind]) == min(100, count) for kind, count in result.counts.items())
    return result


def classes(result: Reconciliation) -> dict[Class, int]:
    """Counts by class."""
    return dict(result.counts)
