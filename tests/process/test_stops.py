"""SQL in real processes is stopped under load: every window that was written is whole, however slow its sink flushes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel import session
from ouzel.runtime.run import RunState
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

KEYS, ROWS_EACH = 50, 4
WINDOW_US = KEYS * ROWS_EACH * 1_000
START_US = 1_577_836_800_000_000
KEYED = f"""
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'partitions' = '2', 'fields.n.kind' = 'sequence', 'fields.ts.kind' = 'sequence',
  'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '1');
CREATE TABLE out (window_end TIMESTAMP(3), k BIGINT, many BIGINT)
WITH ('connector' = 'file', 'path' = 'out', 'format' = 'parquet', 'flush.interval.ms' = '{{flush_ms}}');
INSERT INTO out SELECT window_end, n % {KEYS} AS k, COUNT(*) AS many
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '{WINDOW_US / 1e6}' SECOND))
GROUP BY window_start, window_end, n % {KEYS};"""
SETTINGS = (("parallelism", "2"), ("containers", "2"), ("batch.rows", "1000"), ("max.pending.rows", "20000"))


@pytest.mark.parametrize("flush_ms", [0, 1_500])
def test_a_stop_under_load_leaves_whole_windows(tmp_path: Path, flush_ms: int) -> None:
    handle = session.start(session.load_text(KEYED.format(flush_ms=flush_ms), tmp_path, "ticks", SETTINGS))
    try:
        wait_until(lambda: handle.status().rows_acked > 20_000)
        wait_until(lambda: (handle.status().watermark_us or 0) > START_US + 51 * WINDOW_US)  # both sources have begun
    finally:
        status = handle.stop()
    assert status.state is RunState.STOPPED, status
    assert status.rows_in == status.rows_acked
    windows = pl.read_parquet(tmp_path / "out" / "*.parquet").group_by("window_end").agg(pl.len(), pl.col("many").sum())
    assert windows.filter((pl.col("len") != KEYS) | (pl.col("many") != KEYS * ROWS_EACH)).rows() == []
    assert status.watermark_us is not None
    closed = (status.watermark_us - START_US) // WINDOW_US
    assert windows.height == closed > 50, "the last windows that time has closed are there too"
