"""Real processes that die of a row, or never come to an end of it: the row is put aside, and the others are handled."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ouzel.planner.api import Context, RowBolt, RowSpout, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import BadRecordPolicy, Settings
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.run import RunState
from tests.process.topologies import packed
from tests.servers.waiting import wait_for_end

pytestmark = pytest.mark.server

ROWS, CRASHES, LOOPS = 100, 13, 57
SETTINGS = Settings(heartbeat_ms=100, hang_timeout_ms=1_000, error_policy=BadRecordPolicy.DEAD_LETTER)


class Tens(RowSpout):
    """Numbers, ten a batch."""

    fields, rows = ("n",), 10

    def open(self, context: Context) -> None:
        self.number = -1

    def next_row(self) -> Sequence[int] | None:
        self.number += 1
        return (self.number,) if self.number < ROWS else None


class Dies(RowBolt):
    """Passes on what it gets; one number kills it, another never ends: it computes, and when tried again it waits."""

    fields = ("n",)

    def __init__(self, directory: Path) -> None:
        self.tried = directory / "tried"

    def handle(self, n: int) -> list[tuple[int]]:
        if n == CRASHES:
            os.kill(os.getpid(), signal.SIGKILL)
        waits = n == LOOPS and self.tried.exists()
        while n == LOOPS:
            self.tried.touch()
            time.sleep(0.1 if waits else 0)
        return [(n,)]


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[HeronHandle]:
    builder = TopologyBuilder("dies", SETTINGS)
    builder.set_spout("tens", Tens(), schema(n=int))
    builder.set_bolt("dies", Dies(tmp_path), schema(n=int)).shuffle_grouping("tens")
    topology = builder.build()
    handle = start_heron(topology, packed(topology), tmp_path)
    yield handle
    handle._scheduler.on_kill()


def test_a_row_that_kills_its_task_is_put_aside(handle: HeronHandle, tmp_path: Path) -> None:
    status = wait_for_end(handle)
    assert status.state is RunState.FINISHED, status
    assert status.rows_acked == ROWS, status.events
    assert status.restarts >= 6, "three deaths over each of two rows; a busy machine may cost one more"
    letters = [json.loads(line) for line in (tmp_path / "dead-letters.jsonl").read_text().splitlines()]
    assert {json.loads(letter["raw"])["n"] for letter in letters} == {CRASHES, LOOPS}
    assert all("ends the process of 'dies'" in letter["reason"] for letter in letters)
