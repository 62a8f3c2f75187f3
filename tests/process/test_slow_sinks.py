"""A sink that what it writes to keeps waiting: no process is killed for it, nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import polars as pl
import pytest

from ouzel.connectors.blackhole import Blackhole
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import TopologyError
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.process.direct_sink import DirectSink
from ouzel.runtime.process.executor import mains
from ouzel.runtime.process.life import Heartbeats
from ouzel.runtime.process.sink_thread import SinkThread
from ouzel.runtime.protocol.messages import Flush, Write
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

ROWS = 30_000
HANG_MS, ACK_MS = 2_000, 5_000
SETTINGS = (("hang.timeout.ms", str(HANG_MS)), ("heartbeat.ms", "100"), ("ack.timeout.ms", str(ACK_MS)))
QUERY = f"""
CREATE TABLE numbers (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '{ROWS}', 'partitions' = '1', 'fields.n.kind' = 'sequence', 'fields.n.min' = '0');
CREATE TABLE out (n BIGINT) WITH ('connector' = 'print', 'path' = 'pipe');
INSERT INTO out SELECT n FROM numbers;
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[int]:
    """The reader's end of a pipe that the sink writes to; nobody reads it yet."""
    os.mkfifo(tmp_path / "pipe")
    descriptor = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    yield descriptor
    os.close(descriptor)


def read_all(pipe: int, handle: HeronHandle) -> bytes:
    parts: list[bytes] = []

    def has_ended() -> bool:
        ended = handle.wait(0)
        with suppress(BlockingIOError):
            while part := os.read(pipe, 1 << 16):
                parts.append(part)
        return ended

    wait_until(has_ended, told=handle.status, look_s=0.001)
    return b"".join(parts)


def last_beat(handle: HeronHandle) -> Callable[[], float]:
    """Tells when the process of the only sink last said that it lives, in milliseconds."""
    (sink,) = handle.job.placement.sinks()
    container = handle.job.placement.places()[sink]
    slot = list(mains(handle.job, container)).index(f"instance-{sink}")
    beats = Heartbeats(handle.job.container(container) / "heartbeats")
    return lambda: beats.last(slot)[0]


WIDE_ROWS, WIDE_BYTES = 120_000, 1_000
WIDE = f"""
CREATE TABLE wide (n BIGINT, pad VARCHAR) WITH ('connector' = 'datagen', 'rows' = '{WIDE_ROWS}', 'partitions' = '4',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '0', 'fields.pad.length' = '{WIDE_BYTES}');
CREATE TABLE out (n BIGINT, pad VARCHAR) WITH ('connector' = 'print', 'path' = 'pipe');
INSERT INTO out SELECT /*+ PARALLELISM('out'='1') */ n, pad FROM wide;
"""
"""Each of four sources gives three frames of ten megabytes: many times the high watermark below. The thread of the sink and its gateway
take in three or four of the twelve; what is left waits in the stream manager.
"""


@pytest.mark.parametrize("delivery", ["at-most-once", "at-least-once"])
def test_what_waits_for_a_slow_sink_is_not_dropped_though_it_is_more_than_a_watermark(
    tmp_path: Path, pipe: int, delivery: str
) -> None:
    watermarks = (("high.watermark.bytes", "200000"), ("low.watermark.bytes", "50000"), ("batch.rows", "10000"))
    settings = (*watermarks, ("parallelism", "4"), ("delivery", delivery))
    handle = start(load_text(WIDE, tmp_path, "wide", settings))
    assert isinstance(handle, HeronHandle)
    try:
        wait_until(lambda: handle.status().back_pressure, told=handle.status)
        text = read_all(pipe, handle)
        status = handle.status()
    finally:
        handle._scheduler.on_kill()
    assert (status.state, status.restarts) == (RunState.FINISHED, 0), status
    found = {json.loads(line[1:])["n"] for line in text.splitlines()}
    assert found == set(range(WIDE_ROWS))


def test_a_sink_that_waits_is_no_hang(tmp_path: Path, pipe: int) -> None:
    handle = start(load_text(QUERY, tmp_path, "slow", SETTINGS))
    assert isinstance(handle, HeronHandle)
    try:
        wait_until(lambda: handle.status().rows_in >= 10_000)
        wait_until(lambda: [event for event in handle.status().events if event.kind == "note"])
        beat = last_beat(handle)
        began_ms = beat()
        wait_until(lambda: beat() > began_ms + 2 * HANG_MS)  # longer than it takes to notice a hang
        text = read_all(pipe, handle)
        status = handle.status()
    finally:
        handle._scheduler.on_kill()
    assert (status.state, status.reason, status.restarts) == (RunState.FINISHED, "", 0), status.events
    assert sorted(json.loads(line[1:])["n"] for line in text.splitlines()) == list(range(ROWS))
    (note,) = [event.text for event in status.events if event.kind == "note"]
    assert note.endswith("its sink has waited for 5 s and more for what it writes to; rows wait until it goes on")


class Panics:
    """A writer in which a library panics: PyO3's PanicException is no Exception."""

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        pl.Series([2**63 - 1], dtype=pl.Int64).cast(pl.Datetime("us")).to_list()

    def flush(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def test_a_sink_that_panics_says_so() -> None:
    """Its thread would be gone, and the task wait for it for ever."""
    done = Event()
    sink = SinkThread(Panics(), done.set)
    sink.put(Write(1, pl.DataFrame({"n": [1]})))
    sink.start()
    sink.join(60.0)
    assert done.is_set()
    with pytest.raises(TopologyError, match="PanicException"):
        sink.has_room(0.0)


def test_a_sink_that_waits_for_nothing_is_written_to_at_once() -> None:
    done = Event()
    writer = Blackhole(SinkRequest("out", {}, {}, "append", Path()))
    sink = DirectSink(writer, done.set)
    sink.put(Write(1, pl.DataFrame({"n": [1, 2]})))
    assert (writer.rows, sink.take(), done.is_set()) == (2, [], False)
    sink.put(Flush(7))
    assert (sink.take(), sink.take(), done.is_set(), sink.has_room(60.0)) == ([7], [], True, True)
