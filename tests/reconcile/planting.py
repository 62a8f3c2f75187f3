"""A small run with its record, and the faults that tests plant in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import polars as pl

from ouzel.compiler.plan import Sink
from ouzel.connectors.file import parts_of
from ouzel.reconcile import Class, Reconciliation, reconcile, reconciliation, record_run
from ouzel.reconcile.comparing.answers import batch_answer, choose_sink
from ouzel.reconcile.comparing.comparison import Comparison, compare
from ouzel.reconcile.comparing.lineage import Lineage, lineage
from ouzel.reconcile.comparing.pairs import keep_on_disk
from ouzel.reconcile.recording.marks import mark_of
from ouzel.reconcile.recording.record import LATE, RESULTS, SENT_AGAIN, SHED, Loss, read_record
from ouzel.session import Job, load_text

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import DataFrame, SparkSession

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
    evidence = {name: mark_of(home / name) for name in (LATE, SHED) if (home / name).exists()}
    replace(record, answer={**answer, **parts}, evidence=evidence).save(home)


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


def drop_late(home: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keep rows as dropped, and count them, as an engine would that has dropped them."""
    (home / LATE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    late = sum(row.get("$rows", 1) for row in rows)
    replace(read_record(home), late=late).save(home)
    seal(home)


def found(job: Job, home: Path, spark: SparkSession, tolerance: float = 1e-9, table: str = "") -> Reconciliation:
    """The reconciliation, whose samples are as many as it counts."""
    result = reconcile(job, home, spark, tolerance=tolerance, table=table)
    assert all(len(result.samples[kind]) == min(100, count) for kind, count in result.counts.items())
    return result


def counted(job: Job, home: Path, spark: SparkSession, tolerance: float = 1e-9) -> Reconciliation:
    """The same, and the differences that are in Spark are as many."""
    result = found(job, home, spark, tolerance)
    assert sum(result.counts.values()) == result.differing == result.differences.count()
    return result


class AskedOnce:
    """The batch job's answer to a recorded run, and its comparison with each stream's answer, both computed once.

    An event of a run is in its record alone: where only events change, neither answer does. What the files of the stream's answer hold
    tells one comparison from another, and a batch job over other rows is another.
    """

    def __init__(self, job: Job, home: Path, spark: SparkSession) -> None:
        self._sink = choose_sink(job.program)
        self._batch = keep_on_disk(
            batch_answer(job, self._sink, read_record(home).ranges, spark, {}, lineage(self._sink).bounds)
        )
        self._known: dict[tuple[object, ...], Comparison] = {}

    def put(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let reconciliations ask it."""
        monkeypatch.setattr(reconciliation, "batch_answer", self._answer)
        monkeypatch.setattr(reconciliation, "compare", self._compare)

    def _answer(self, job: Job, asked: Sink, *rest: Any) -> DataFrame:
        return self._batch if asked is self._sink else batch_answer(job, asked, *rest)

    def _compare(self, stream: DataFrame, batch: DataFrame, facts: Lineage, tolerance: float) -> Comparison:
        if batch is not self._batch:
            return compare(stream, batch, facts, tolerance)
        facts = lineage(self._sink)  # with all that any event takes
        files = {name: sha256(Path(urlparse(name).path).read_bytes()).digest() for name in stream.inputFiles()}
        key = (tuple(sorted(files.items())), tolerance)
        if key not in self._known:
            found = compare(stream, batch, facts, tolerance)
            self._known[key] = replace(found, differences=keep_on_disk(found.differences))
        return self._known[key]


def classes(result: Reconciliation) -> dict[Class, int]:
    """Counts by class."""
    return dict(result.counts)
