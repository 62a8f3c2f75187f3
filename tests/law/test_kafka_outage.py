"""A broker dies and is away for longer than IDLE AFTER: the rows made meanwhile arrive afterwards, and none of them is late."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ouzel.runtime.run import Handle
from ouzel.session import load, start
from tests.servers.kafka import KafkaBroker

IDLE_S, OUTAGE_S, LIMIT_S = 2, 6, 120

QUERY = """
CREATE TABLE bids (ts TIMESTAMP(3), WATERMARK FOR ts AS ts IDLE AFTER INTERVAL '{idle}' SECOND) WITH (
  'connector' = 'kafka', 'bootstrap.servers' = '{address}', 'topic' = 'bids', 'format' = 'json', 'start' = 'earliest');
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
"""


def made_for(seconds: float) -> list[bytes | None]:
    """What is made in that time: a row every 100 ms, with the time when it was made."""
    rows: list[bytes | None] = []
    end = time.time() + seconds
    while time.time() < end:
        rows.append(f'{{"ts": "{datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")}"}}'.encode())
        time.sleep(0.1)
    return rows


def until_read(handle: Handle, rows: int) -> None:
    """Return when all these rows are acked."""
    deadline = time.monotonic() + LIMIT_S
    while (status := handle.status()).rows_acked < rows:
        assert time.monotonic() < deadline, status
        time.sleep(0.05)


@pytest.mark.server
def test_rows_made_while_the_broker_is_away_are_not_late(tmp_path: Path) -> None:
    broker = KafkaBroker(tmp_path / "kafka")
    try:
        broker.create_topic("bids", 1)
        path = tmp_path / "bids.sql"
        path.write_text(QUERY.format(idle=IDLE_S, address=broker.address), encoding="utf-8")
        handle = start(load(path, []), "memory")
        try:
            written = 0
            for _ in range(5):
                rows = made_for(0.2)
                broker.produce("bids", rows)
                written += len(rows)
            until_read(handle, written)
            broker.kill()
            rows = made_for(OUTAGE_S)
            told = [(one.partition, one.reason) for one in handle.status().waiting]
            broker.start()
            broker.produce("bids", rows)
            until_read(handle, written + len(rows))
        finally:
            status = handle.stop()
    finally:
        broker.kill()
    assert (status.rows_acked, status.rows_late) == (written + len(rows), 0), status
    assert told == [("bids-0", f"broker {broker.address} away")]
