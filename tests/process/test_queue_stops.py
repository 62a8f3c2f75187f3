"""A run over a queue that is stopped: what was handled is gone from the queue, and nothing of it is in anybody's hands."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.session import load_text, start
from tests.fire.places import Kestrel, close
from tests.servers.waiting import wait_until

ITEMS = 3_000


@pytest.mark.server
def test_what_was_handled_is_gone_from_the_queue_when_a_run_is_stopped(tmp_path: Path) -> None:
    queue = Kestrel(tmp_path)
    try:
        queue.fill("numbers", ITEMS)
        where = queue.options("numbers", True).replace("'end' = 'empty', ", "")
        text = f"""CREATE TABLE numbers (n BIGINT) WITH ({where}, 'format' = 'json');
        CREATE TABLE out (n BIGINT) WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet');
        INSERT INTO out SELECT n FROM numbers;"""
        handle = start(load_text(text, tmp_path, "stopped", (("batch.rows", "500"), ("parallelism", "2"))))
        assert isinstance(handle, HeronHandle)
        try:
            wait_until(lambda: handle.status().rows_acked == ITEMS)
            handle.stop()
        finally:
            handle._scheduler.on_kill()
        queue.check("numbers", ITEMS)
    finally:
        close(queue)
    assert sorted(pl.read_parquet(tmp_path / "out" / "*.parquet")["n"]) == [*range(ITEMS)]
