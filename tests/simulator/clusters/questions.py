"""What simulated clusters are asked, and what the answers must be: those of a run in which nothing goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.errors import OuzelError, SubmissionError
from ouzel.planner.build import plan_topology
from ouzel.planner.evolution import StateFate, compare_topologies
from ouzel.planner.packing import pack
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.rescaling import with_parallelism
from ouzel.planner.topology import Topology
from ouzel.runtime.simulator.cluster.faults import ClusterFault
from ouzel.runtime.simulator.cluster.simulation import ClusterRun, drop_needless, faults_from, simulate_cluster
from ouzel.runtime.simulator.cluster.updating import ClusterUpdate
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job, load_text
from tests.law.shelf import shelved, written

ROWS = 600
TICKS = f"""
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'partitions' = '2', 'fields.n.kind' = 'sequence', 'fields.ts.kind' = 'sequence',
  'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '10');
"""
QUESTIONS = {
    "changes": "SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM ticks GROUP BY n % 7 EMIT CHANGES;",
    "windows": """
SELECT window_end, n % 3 AS k, COUNT(*) AS many, SUM(n) AS total FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '2' SECOND))
GROUP BY window_start, window_end, n % 3;""",
    "rows": "SELECT n, n * n AS square FROM ticks WHERE n % 2 = 0;",
    "global": "SELECT COUNT(*) AS many, MAX(n) AS newest FROM ticks EMIT CHANGES;",
}


RENAMED = {
    "changes": ("many", "how_often"),
    "windows": ("total", "sum_of_n"),
    "rows": ("square", "squared"),
    "global": ("newest", "last_n"),
}
"""A column of each question, and what an update calls it: all state is kept."""


class Shape(NamedTuple):
    """What a cluster is asked, and how it is built.

    Attributes:
        question: its name.
        parallelism: tasks of each kind.
        containers: how many at most.
        is_published: whether rows are published with epochs.
        is_updated: whether it becomes another one while it runs.
    """

    question: str
    parallelism: int
    containers: int
    is_published: bool = False
    is_updated: bool = False


@cache
def plan_of(shape: Shape) -> tuple[Topology, PackingPlan]:
    """The question, planned for that cluster."""
    job = _ask(QUESTIONS[shape.question], shape)
    topology = job.topology
    if shape.is_published:
        program = replace(job.program, sinks=(*job.program.sinks[:-1], written(job.program.sinks[-1])))
        settings = job.settings.with_values([("delivery", "effectively-once")])
        topology = plan_topology(program, settings, shape.question, frozenset())
    containers = min(shape.containers, len(topology.tasks()))
    topology = replace(topology, settings=replace(topology.settings, containers=containers))
    return topology, pack(topology)


def _ask(query: str, shape: Shape) -> Job:
    return load_text(TICKS + query, Path(), shape.question, [("parallelism", str(shape.parallelism))])


@cache
def updates_of(shape: Shape) -> tuple[ClusterUpdate, ...]:
    """What the topology may become: with other numbers of tasks, and, if it gives its rows to a client, with other names."""
    if not shape.is_updated:
        return ()
    topology, _ = plan_of(shape)
    rescaled = (_rescaled(topology, tasks) for tasks in (1, 2, 3))
    updates = [ClusterUpdate(one) for one in rescaled if one is not topology]
    if not shape.is_published:
        for tasks in (shape.parallelism, 3):
            renamed = _ask(
                QUESTIONS[shape.question].replace(*RENAMED[shape.question]), shape._replace(parallelism=tasks)
            ).topology
            evolution = compare_topologies(topology, renamed)
            assert {one.fate for one in evolution.operators} <= {StateFate.KEPT}, evolution
            updates.append(ClusterUpdate(renamed, evolution.formers))
    return tuple(updates)


def _rescaled(topology: Topology, tasks: int) -> Topology:
    """The topology with so many tasks of each component that may have them."""
    for component in topology.components:
        with suppress(SubmissionError):
            topology = with_parallelism(topology, {component.name: tasks})
    return topology


@cache
def answer_of(name: str) -> list[tuple[object, ...]]:
    """The rows of the answer, sorted."""
    topology, packing = plan_of(Shape(name, 1, 1))
    settings = replace(topology.settings, checkpoint_interval_ms=0)
    run = simulate(replace(topology, settings=settings), packing, Path())
    return table_of(run.frames.values())


def table_of(frames: Iterable[pl.DataFrame]) -> list[tuple[object, ...]]:
    """What these changes add up to: each row as often as it is there, sorted. An update may have renamed columns."""
    first, *others = frames
    rows = pl.concat([first, *(one.rename(dict(zip(one.columns, first.columns, strict=True))) for one in others)])
    if WEIGHT not in rows.columns:
        return sorted(rows.rows())
    names = [name for name in rows.columns if name != WEIGHT]
    net = rows.group_by(names).agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0)
    counted = net.select([*names, WEIGHT]).rows()
    assert all(row[-1] > 0 for row in counted), f"rows are taken back that never were there: {counted}"
    return sorted(row[:-1] for row in counted for _ in range(row[-1]))


def shape_of(seed: int) -> Shape:
    """What is drawn from the seed."""
    random = Random(seed)
    question, parallelism = random.choice(sorted(QUESTIONS)), random.choice([1, 2])
    containers = random.choice([1, 2, 3])
    return Shape(question, parallelism, containers, random.random() < 0.3, random.random() < 0.4)


def run_seed(seed: int, faults: Sequence[ClusterFault] | None = None) -> ClusterRun:
    """The run of a seed, held to its answer.

    Raises:
        OuzelError: it did not come to its end.
        AssertionError: what came out is wrong.
    """
    shape = shape_of(seed)
    with shelved() as shelf:
        run = simulate_cluster(*plan_of(shape), seed, faults, updates=updates_of(shape))
    found, expected = table_of(shelf.frames if shape.is_published else run.frames), answer_of(shape.question)
    assert found == expected, _difference(found, expected)
    assert run.status.rows_late == 0, f"{run.status.rows_late} rows came late: a watermark was wrong"
    return run


def why_it_fails(seed: int, faults: Sequence[ClusterFault] | None = None) -> str:
    """Why the run of a seed is wrong; empty if it is not."""
    try:
        run_seed(seed, faults)
    except (OuzelError, AssertionError) as error:
        return str(error)
    return ""


def tell_failure(seed: int) -> str:
    """Why a seed fails, and the fewest of its faults with which it still does; empty if it does not fail."""
    if not (why := why_it_fails(seed)):
        return ""
    with shelved():
        drawn = faults_from(*plan_of(shape_of(seed)), seed, updates=updates_of(shape_of(seed)))
    faults = drop_needless(drawn, lambda fewer: bool(why_it_fails(seed, fewer)))
    return "\n".join([f"seed {seed}, {shape_of(seed)}: {why}", *(f"  {fault}" for fault in faults)])


def _difference(found: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> str:
    missing = [row for row in expected if row not in found]
    more = [row for row in found if row not in expected]
    return f"{len(found)} rows for {len(expected)}; missing {missing[:5]}, too many {more[:5]}"
