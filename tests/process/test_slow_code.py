"""User code that takes its time: a bolt that is slow and a spout that blocks are not killed, and nothing is replayed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ouzel.planner.api import Context, Nothing, RowBolt, RowSpout, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.run import RunState
from tests.process.topologies import packed
from tests.servers.waiting import wait_for_end

pytestmark = pytest.mark.server

ROWS, HANG_MS = 9_000, 2_000
SETTINGS = Settings(heartbeat_ms=100, hang_timeout_ms=HANG_MS, ack_timeout_ms=4 * HANG_MS)


class Blocks(RowSpout):
    """Reads quickly once its reader is there, whose start is not to be timed, but for one row that it waits for."""

    fields = ("n",)

    def __init__(self, reader: Path) -> None:
        self.reader = reader

    def open(self, context: Context) -> None:
        self.number = 0

    def next_row(self) -> Sequence[int] | Nothing | None:
        if self.number == 0 and not self.reader.exists():
            return self.NOTHING_NOW
        if self.number == ROWS // 2:
            time.sleep(3.5 * HANG_MS / 1e3)
        self.number += 1
        return (self.number,) if self.number <= ROWS else None


class Slow(RowBolt):
    """A millisecond a row, in which the process uses no CPU."""

    fields = ("n",)

    def __init__(self, reader: Path) -> None:
        self.reader = reader

    def open(self, context: Context) -> None:
        self.reader.touch()

    def handle(self, n: int) -> list[tuple[int]]:
        time.sleep(0.001)
        return [(n,)]


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[HeronHandle]:
    builder = TopologyBuilder("slow", SETTINGS)
    builder.set_spout("blocks", Blocks(tmp_path / "reader"), schema(n=int))
    builder.set_bolt("slow", Slow(tmp_path / "reader"), schema(n=int)).shuffle_grouping("blocks")
    topology = builder.build()
    handle = start_heron(topology, packed(topology), tmp_path)
    yield handle
    handle._scheduler.on_kill()


def test_slow_user_code_is_not_killed(handle: HeronHandle) -> None:
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    assert (status.restarts, status.rows_failed, status.rows_acked) == (0, 0, ROWS), status.events
