"""From a stream of Redis to another and to files, under fire: nothing is lost, and only what was in hands comes twice."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.runtime.run import RunState
from ouzel.session import load_text
from tests.effort import seeds
from tests.process.fire import run_under_fire
from tests.servers.redis import RedisServer

pytestmark = [pytest.mark.server, pytest.mark.slow]

ITEMS = int(os.environ.get("OUZEL_FIRE_ITEMS", "12000"))
KILLS = 4
QUERY = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'redis', 'url' = '{url}', 'key' = 'numbers', 'format' = 'json', 'end' = 'empty',
  'pending.items' = '1000');
CREATE TABLE stream (n BIGINT) WITH ('connector' = 'redis', 'url' = '{url}', 'key' = 'out', 'format' = 'json');
CREATE TABLE files (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
INSERT INTO stream SELECT n FROM numbers;
INSERT INTO files SELECT n FROM numbers;
"""
SETTINGS = (("parallelism", "2"), ("containers", "2"), ("batch.rows", "200"), ("max.pending.rows", "1000"),
            ("ack.timeout.ms", "5000"))  # fmt: skip


@pytest.mark.parametrize("seed", seeds()[:1])
def test_nothing_is_lost_under_fire(seed: int, tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "redis")
    pipeline = server.client.pipeline(transaction=False)
    for number in range(ITEMS):
        pipeline.xadd("numbers", {"value": f'{{"n": {number}}}'})
    pipeline.execute()
    job = load_text(QUERY.format(url=server.url), tmp_path, "fire", SETTINGS)
    status, story = run_under_fire(job, [server], Random(seed), ITEMS, KILLS)
    try:
        assert (status.state, status.reason) == (RunState.FINISHED, ""), story
        written = Counter(int(fields[b"value"][5:-1]) for _, fields in server.client.xrange("out"))
        filed = Counter(pl.read_parquet(tmp_path / "out" / "*.parquet")["n"].to_list())
        assert server.client.xpending("numbers", "ouzel-fire")["pending"] == 0
    finally:
        server.kill()
    for name, found in (("stream", written), ("files", filed)):
        lost, twice = ITEMS - len(found), found.total() - len(found)
        print(f"seed {seed}, {name}: killed {story}; {ITEMS:,} items, {lost} lost, {twice:,} twice")
        assert lost == 0, story
        assert twice <= KILLS * 2_500, "only what was in hands comes twice"
    assert len(story) == KILLS
