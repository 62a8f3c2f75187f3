"""A limit of pending rows that changes while a topology runs changes no answer."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.protocol.tuner import PendingLimit
from ouzel.runtime.simulator.faults import kill_stateless_task, lose_link, pause
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import load_text
from tests.effort import seeds

QUERY = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '7000', 'fields.n.kind' = 'sequence');
SELECT n % 7 AS k, COUNT(*) AS many FROM numbers WHERE n >= 0 GROUP BY n % 7 EMIT CHANGES;
"""


@pytest.mark.parametrize("tuning", ["paper", "heron"])
def test_a_tuned_topology_gives_the_same_answer(tuning: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: set[int] = set()
    observe = PendingLimit.observe

    def watch(limit: PendingLimit, rows_acked: int, now_ms: float) -> None:
        observe(limit, rows_acked, now_ms)
        found.add(limit.rows)

    monkeypatch.setattr(PendingLimit, "observe", watch)
    sets = (("max.pending.tuning", tuning), ("max.pending.interval.ms", "5"), ("parallelism", "2"))
    job = load_text(QUERY, Path(), "tuned", sets)
    for seed in seeds():
        done = simulate(job.topology, job.packing, Path(), seed=seed, faults=[lose_link, kill_stateless_task, pause])
        table = (
            pl.concat(done.frames.values()).group_by("k", "many").agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0)
        )
        assert sorted(table["many"]) == [1000] * 7, f"{seed=}"
    assert len(found) > 3, "the limit never changed"
