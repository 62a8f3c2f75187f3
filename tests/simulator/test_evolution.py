"""The law of updates: what is kept answers as the new query does of the whole input, what began empty as it does of what came since."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.planner.evolution import Evolution, StateFate, compare_topologies
from ouzel.runtime.simulator.faults import kill_stateful_task
from ouzel.runtime.simulator.world import World
from ouzel.session import Job, load_text
from tests.effort import seeds
from tests.simulator.test_epochs import walk, walk_steps
from tests.simulator.test_pauses import SETTINGS

ROWS = 3_000
PAIRS = (*SETTINGS, ("checkpoint.interval.ms", "1000"), ("seed", "1"))


def table(name: str) -> str:
    return f"""
CREATE TABLE {name} (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'partitions' = '2', 'fields.n.kind' = 'sequence', 'fields.ts.kind' = 'sequence',
  'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '10');
"""


TABLES = table("ticks") + table("tocks")
COUNT = "SELECT n % 7 AS k, COUNT(*) AS many FROM ticks GROUP BY n % 7"
FILTERED = "SELECT n % 7 AS k, SUM(n) AS total FROM ticks WHERE n % 3 <> 0 GROUP BY n % 7"
SOME = "CREATE VIEW some AS SELECT n FROM ticks WHERE n % 3 <> 0; "
DISTINCT = "SELECT n % 7 AS k, COUNT(DISTINCT n % 11) AS kinds, MAX(n) AS top FROM ticks GROUP BY n % 7"
EVENTS = "FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end"
WINDOWS = f"SELECT window_end AS e, COUNT(*) AS many {EVENTS}"
HOPS = (
    "SELECT window_end AS e, n % 3 AS k, SUM(n) AS total FROM TABLE(HOP(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND, "
    "INTERVAL '4' SECOND)) GROUP BY window_start, window_end, n % 3"
)
JOIN = "SELECT a.n, b.ts FROM ticks AS a JOIN tocks AS b ON a.n = b.n"
INTERVAL = f"{JOIN} AND b.ts BETWEEN a.ts - INTERVAL '2' SECOND AND a.ts + INTERVAL '2' SECOND"
TOP = "SELECT * FROM (SELECT n, ts, ROW_NUMBER() OVER (PARTITION BY n % 5 ORDER BY n DESC) AS r FROM ticks) AS ranked WHERE r <= 2"
OVER = (
    "SELECT n, SUM(n) OVER (PARTITION BY n % 3 ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS near FROM ticks"
)
SESSIONS = (
    "SELECT window_end AS e, n % 50 AS k, COUNT(*) AS many FROM TABLE(SESSION(TABLE ticks PARTITION BY n % 50, DESCRIPTOR(ts), "
    "INTERVAL '1' SECOND)) GROUP BY window_start, window_end, n % 50"
)
SETS = "SELECT n % 100 AS n FROM ticks EXCEPT SELECT n FROM tocks WHERE n < 50"
NESTED = f"SELECT many, COUNT(*) AS groups FROM ({COUNT}) AS counts GROUP BY many"


class Case(NamedTuple):
    """Two queries, and the setting of parallelism of the second."""

    old: str
    new: str
    parallelism: str = "2"


KEPT = {
    "a renamed result": Case(COUNT, COUNT.replace("many", "how_often").replace("AS k", "AS key")),
    "another parallelism": Case(FILTERED, FILTERED, "3"),
    "fewer tasks": Case(DISTINCT, DISTINCT.replace("kinds", "sorts").replace("top", "largest"), "1"),
    "windows": Case(WINDOWS, WINDOWS.replace("many", "events"), "3"),
    "hopping windows": Case(HOPS, HOPS.replace("total", "sum_of_n")),
    "a view between": Case(FILTERED, SOME + FILTERED.replace("ticks WHERE n % 3 <> 0", "some")),
    "a join": Case(JOIN, JOIN.replace("a.n,", "a.n AS number,"), "3"),
    "an interval join": Case(INTERVAL, INTERVAL.replace("b.ts FROM", "b.ts AS later FROM")),
    "the last of each": Case(TOP, TOP.replace("n, ts,", "n, ts,").replace("SELECT * FROM (", "SELECT n AS m, ts AS t, r AS s FROM (")),
    "rows around": Case(OVER, OVER.replace("near", "close_by"), "1"),
    "sessions": Case(SESSIONS, SESSIONS.replace("many", "events")),
    "sets": Case(SETS, SETS.replace("AS n FROM ticks", "AS m FROM ticks")),
    "an aggregate of an aggregate": Case(NESTED, NESTED.replace("groups", "how_many"), "3"),
}  # fmt: skip
EMPTIED = {
    "a changed filter": Case(FILTERED, FILTERED.replace("<> 0", "<> 1")),
    "an aggregate more": Case(COUNT, COUNT.replace("many", "many, SUM(n) AS total"), "3"),
    "a wider window": Case(WINDOWS, WINDOWS.replace("'5'", "'7'")),
    "another key": Case(COUNT, COUNT.replace("% 7", "% 5")),
    "a column more of a join": Case(JOIN, JOIN.replace("b.ts", "b.ts, a.ts AS earlier")),
    "an aggregate of another": Case(NESTED, NESTED.replace("% 7", "% 5")),
}


def job_of(query: str, parallelism: str = "2") -> Job:
    pairs = (*PAIRS, ("parallelism", parallelism))
    return load_text(f"{TABLES}{query};", Path(), "ticks", pairs)


def ran(world: World) -> World:
    walk(world, lambda world: world.done)
    assert not world.failed
    return world


def rows(job: Job, frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """What frames add up to, with the columns of the query."""
    schema = {**job.program.sinks[-1].schema.polars(), WEIGHT: pl.Int64()}
    weighted = [one if WEIGHT in one.columns else one.with_columns(pl.lit(1, pl.Int64).alias(WEIGHT)) for one in frames]
    renamed = (one.rename(dict(zip(one.columns, schema, strict=True))) for one in weighted)
    total = pl.concat([pl.DataFrame(schema=schema), *renamed])
    *names, weight = schema
    added = total.group_by(names).agg(pl.col(weight).sum()).filter(pl.col(weight) != 0)
    return added.sort(names)


def answer_of(job: Job, seed: int) -> pl.DataFrame:
    """What a query answers of all that its tables hold."""
    return rows(job, ran(World(job.topology, job.packing, Path(), seed)).frames.values())


def evolve(world: World, before: Job, after: Job) -> Evolution:
    """Have the world go on as the new query."""
    evolution = compare_topologies(before.topology, after.topology)
    assert world.update(after.topology, evolution.formers)
    walk(world, lambda world: world.topology is after.topology)
    return evolution


def rest_of(old: World) -> dict[str, str]:
    """A condition that those rows of both tables meet which were not read before the epoch."""
    offsets: dict[str, dict[str, int]] = {}
    for chain in old.epochs.newest.chains.values():
        places = {partition: place.offset for partition, place in chain[-1].places.items()}
        offsets.setdefault(chain[-1].component, {}).update(places)
    return {
        name: " OR ".join(f"n % 2 = {part} AND n >= {2 * known.get(str(part), 0)}" for part in range(2))
        for name, known in offsets.items()
        if name in ("ticks", "tocks")
    }


def over_the_rest(old: World, query: str) -> Job:
    """The new query over what was not read before the epoch."""
    views = "".join(
        f"CREATE VIEW rest_of_{name} AS SELECT * FROM {name} WHERE {met};\n" for name, met in rest_of(old).items()
    )
    for name in ("ticks", "tocks"):
        query = query.replace(f"FROM {name}", f"FROM rest_of_{name}").replace(f"TABLE {name}", f"TABLE rest_of_{name}")
        query = query.replace(f"JOIN {name}", f"JOIN rest_of_{name}")
    return job_of(views + query)


def begin(case: Case, seed: int) -> tuple[Job, Job, World]:
    before, after = job_of(case.old), job_of(case.new, case.parallelism)
    world = World(before.topology, before.packing, Path(), seed)
    world.delay_ms = world.random.choice([5.0, 100.0])
    walk_steps(world, world.random.randint(50, 600))
    return before, after, world


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_answers_as_the_new_query_does_of_all(name: str, seed: int) -> None:
    before, after, world = begin(KEPT[name], seed)
    evolution = evolve(world, before, after)
    assert {one.fate for one in evolution.operators} == {StateFate.KEPT}, evolution.operators
    if (
        world.random.random() < 0.7
    ):  # a task dies before there is an epoch of the new query: all go back to the old one's
        walk_steps(world, world.random.randint(5, 100))
        kill_stateful_task(world)
    assert rows(after, ran(world).frames.values()).equals(answer_of(after, seed)), f"seed={seed}: {world.happened}"


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.parametrize("name", EMPTIED)
def test_what_began_empty_answers_as_the_new_query_does_of_the_rest(name: str, seed: int) -> None:
    before, after, world = begin(EMPTIED[name], seed)
    evolution = evolve(world, before, after)
    assert {one.fate for one in evolution.operators} == {StateFate.EMPTIED}, evolution.operators
    answered, expected = set(world.frames), answer_of(over_the_rest(world, EMPTIED[name].new), seed)
    found = [frame for number, frame in ran(world).frames.items() if number not in answered]
    assert rows(after, found).equals(expected), f"seed={seed}: {world.happened}"
