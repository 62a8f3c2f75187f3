"""A table that is asked answers otherwise later: a row that comes again after a crash then goes to another task, and is not lost there."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import polars as pl
import pytest

from ouzel.runtime.simulator.faults import kill_in_flight, kill_stateless_task, kill_stream_manager
from ouzel.runtime.tasks import sides
from tests.effort import seeds
from tests.simulator.test_pauses import ROWS, TICKS, counted, resume, walk, world_of

TEXT = f"""{TICKS}
CREATE TABLE sorts (n BIGINT, k BIGINT, PRIMARY KEY (n) NOT ENFORCED) WITH (
  'connector' = 'redis-table', 'url' = 'redis://127.0.0.1:1/0', 'key' = 'sorts', 'format' = 'json');
SELECT s.k, COUNT(*) AS many FROM ticks AS t JOIN sorts FOR SYSTEM_TIME AS OF PROCTIME() AS s ON t.n = s.n GROUP BY s.k EMIT CHANGES;
"""


class Moody:
    """Answers for each key, each time with another `k`, and remembers nothing."""

    rows, expires_ms = 0, 0.0

    def __init__(self, random: Random) -> None:
        self.random = random

    def now_ms(self) -> float:
        return 0.0

    def ask(self, keys: pl.Series) -> Iterator[pl.DataFrame]:
        yield pl.DataFrame({"n0": keys, "k": [self.random.randrange(5) for _ in keys]})


@pytest.mark.parametrize("seed", sorted({4, 18, 22, *seeds()[:3]}))
def test_no_row_is_lost_that_is_answered_otherwise(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Moody(Random(seed))
    monkeypatch.setattr(sides, "Asking", lambda *_: answers)
    _, world = world_of(TEXT, seed)
    for fault in (kill_stateless_task, kill_stream_manager, kill_in_flight) * 3:
        walk(world, world.random.randint(1, 40))
        fault(world)
    resume(world)
    assert counted(world) >= ROWS, f"seed={seed}: {world.happened}"
