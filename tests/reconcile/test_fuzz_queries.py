"""Random faulty rows in runs of queries that no example asks: every one is told of, whatever else happened, and no other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.reconcile import Class
from ouzel.reconcile.comparing.answers import choose_sink
from ouzel.reconcile.explaining.late import find_maker
from ouzel.reconcile.recording.record import RESULTS, Loss, RunRecord, read_record
from ouzel.session import Job
from tests.reconcile.planting import AskedOnce, edit, flights, found, kept, run
from tests.reconcile.test_fuzz import EVENTS, FAULTY_ROWS, SEED, told, with_faults

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition"), pytest.mark.slow]

DAY = "TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '1' DAY))"
QUERIES = {
    "as of": "CREATE VIEW seventh AS SELECT * FROM flights WHERE id % 7 = 0; SELECT a.id, a.ts, a.origin, b.id AS other, b.delay"
    " FROM flights AS a ASOF LEFT JOIN seventh AS b ON a.origin = b.origin AND a.ts >= b.ts;",
    "a join within a span of time": "SELECT a.id, a.origin, a.ts, b.id AS other, b.miles FROM flights AS a LEFT JOIN flights AS b"
    " ON a.origin = b.origin AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '200' MINUTE AND a.id < b.id;",
    "semi": "SELECT id, origin, delay FROM flights WHERE delay IN (SELECT delay FROM flights WHERE miles > 990);",
    "anti": "SELECT id, origin FROM flights AS a WHERE NOT EXISTS (SELECT 1 FROM flights AS b WHERE b.delay = a.delay AND b.miles > 900);",
    "sets": "SELECT origin, delay FROM flights WHERE miles > 500 EXCEPT ALL SELECT origin, delay FROM flights WHERE miles > 800;",
    "a subquery": "SELECT id, delay, miles FROM flights WHERE miles > (SELECT AVG(miles) FROM flights);",
    "sessions": "SELECT origin, window_start, window_end, COUNT(*) AS n, SUM(miles) AS miles"
    " FROM TABLE(SESSION(TABLE flights PARTITION BY origin, DESCRIPTOR(ts), INTERVAL '2' HOUR))"
    " GROUP BY origin, window_start, window_end;",
    "sessions that merge": "SELECT origin, SESSION_START(ts, INTERVAL '2' HOUR) AS since, COUNT(*) AS n, MAX(delay) AS hi FROM flights"
    " GROUP BY origin, SESSION(ts, INTERVAL '2' HOUR) EMIT CHANGES;",
    "grouping sets": f"SELECT window_start, origin, COUNT(*) AS n, MAX(delay) AS worst FROM {DAY}"
    " GROUP BY GROUPING SETS ((window_start, window_end, origin), (window_start, window_end));",
    "first rows": "SELECT * FROM (SELECT id, origin, delay, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY delay DESC, id) AS place"
    " FROM flights) WHERE place <= 20;",
    "ranks of groups": f"""SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS place FROM
      (SELECT window_start, window_end, origin, COUNT(*) AS n FROM {DAY} GROUP BY window_start, window_end, origin)) WHERE place <= 2;""",
    "over time": "SELECT id, origin, ts, SUM(miles) OVER (PARTITION BY origin ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS m"
    " FROM flights;",
}  # fmt: skip


@dataclass(frozen=True)
class Recorded:
    """A run, and what Spark says of it, which is asked once."""

    job: Job
    home: Path
    once: AskedOnce


@pytest.fixture(scope="module", params=QUERIES)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Recorded:
    """Each query, run once."""
    job, home = run(QUERIES[request.param], tmp_path_factory.mktemp("query"), flights(1_200))
    return Recorded(job, home, AskedOnce(job, home, spark))


def elsewhere(job: Job, record: RunRecord) -> RunRecord:
    """All states were lost, at a time that is not known, but the one that the rows of the answer are made in."""
    maker, _ = find_maker(job.program, job.topology, choose_sink(job.program))
    losses = tuple(Loss(part.name) for part in job.topology.components if part.name != maker)
    return replace(told(record, "state-lost", "x", len(losses)), losses=losses)


def test_every_faulty_row_is_told_of_and_no_other(
    recorded: Recorded, request: pytest.FixtureRequest, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded.once.put(monkeypatch)
    random = Random(f"{SEED} {request.node.callspec.id}")
    clean = found(recorded.job, recorded.home, spark)
    assert set(clean.counts) <= {Class.FLOAT}, clean.samples
    with kept(recorded.home):
        event = random.choice([*EVENTS, lambda record: elsewhere(recorded.job, record)])
        event(read_record(recorded.home)).save(recorded.home)
        before = pl.read_parquet(recorded.home / RESULTS)
        edit(recorded.home, lambda rows: with_faults(rows, random))
        after = pl.read_parquet(recorded.home / RESULTS)
        result = found(recorded.job, recorded.home, spark)
    there, were = Counter(map(repr, after.rows())), Counter(map(repr, before.rows()))
    kinds = [kind.value for kind in result.counts if not kind.explained]
    rows = result.differences.where(result.differences["class"].isin(kinds)).selectExpr("count(stream)", "count(batch)")
    assert tuple(rows.collect()[0]) == ((there - were).total(), (were - there).total()), (SEED, result.counts)
    assert before.height >= 2 * FAULTY_ROWS, "the test tests nothing"
