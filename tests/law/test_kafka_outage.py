"""A broker dies and is away for longer than IDLE AFTER: the rows made meanwhile arrive afterwards, and none of them is late."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ouzel.runtime.simulator import engine
from ouzel.session import load, start
from tests.servers.kafka import KafkaBroker
from tests.servers.waiting import wait_until, wait_while_it_runs

IDLE_S, OUTAGE_S, LIMIT_S = 60, 180, 120
"""The first two by the clock of the test: however busy the machine is, no row is on its way to the broker for so long."""

QUERY = """
CREATE TABLE bids (ts TIMESTAMP(3), WATERMARK FOR ts AS ts IDLE AFTER INTERVAL '{idle}' SECOND) WITH (
  'connector' = 'kafka', 'bootstrap.servers' = '{address}', 'topic' = 'bids', 'format' = 'json', 'start' = 'earliest');
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
"""


class Clock:
    """The engine's clock: it goes on as time does, and besides as far as the test puts it forward."""

    def __init__(self) -> None:
        self.ahead_s, self.rests = 0.0, 0

    def sleep(self, seconds: float) -> None:
        """See time.sleep: the engine has looked at all its inputs, and has nothing to do."""
        self.rests += 1
        time.sleep(seconds)

    def wait_for_a_look(self) -> None:
        """Until the engine has looked at all its inputs by the time that it is now: a look that goes on has begun before."""
        due = self.rests + 2
        wait_until(lambda: self.rests >= due, look_s=0.001)

    def monotonic(self) -> float:
        """See time.monotonic."""
        return time.monotonic() + self.ahead_s

    def time(self) -> float:
        """See time.time."""
        return time.time() + self.ahead_s

    def make_rows(self, count: int) -> list[bytes | None]:
        """A row a second, with the time when it was made; the engine looks at its inputs in between."""
        rows: list[bytes | None] = []
        for _ in range(count):
            made = datetime.fromtimestamp(self.time(), UTC).replace(tzinfo=None)
            rows.append(f'{{"ts": "{made.isoformat(" ", "milliseconds")}"}}'.encode())
            self.ahead_s += 1
            self.wait_for_a_look()
        return rows


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(engine, "time", made)
    return made


@pytest.mark.server
def test_rows_made_while_the_broker_is_away_are_not_late(tmp_path: Path, clock: Clock) -> None:
    broker = KafkaBroker(tmp_path / "kafka")
    away = [("bids-0", f"broker {broker.address} away")]
    try:
        broker.create_topic("bids", 1)
        path = tmp_path / "bids.sql"
        path.write_text(QUERY.format(idle=IDLE_S, address=broker.address), encoding="utf-8")
        handle = start(load(path, []), "memory")
        try:
            for written in range(2, 11, 2):
                broker.produce("bids", clock.make_rows(2))
                wait_while_it_runs(handle, lambda status, written=written: status.rows_acked >= written)  # type: ignore[misc]
            broker.kill()
            wait_while_it_runs(handle, lambda status: [(one.partition, one.reason) for one in status.waiting] == away)
            rows = clock.make_rows(OUTAGE_S)
            broker.start()
            broker.produce("bids", rows)
            wait_while_it_runs(handle, lambda status: status.rows_acked >= written + len(rows))
        finally:
            status = handle.stop()
    finally:
        broker.kill()
    assert (status.rows_acked, status.rows_late) == (written + len(rows), 0), status
