"""Requests to a run that is recorded: what is asked is done, a pause ends with whoever wanted it, and a run that is gone is said to be."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors.backlog import Backlog
from ouzel.errors import QueryError, TopologyError
from ouzel.reconcile.recording.live import LiveRecord, is_live, paused, snapshot, status
from ouzel.reconcile.recording.record import LIVE, RESULTS, RunRecord, read_record
from ouzel.reconcile.recording.recorder import Recorder, recordable
from ouzel.runtime.process.job import remove_abandoned
from ouzel.runtime.run import RunState, Status
from ouzel.session import Job, load_text, start
from tests.servers.waiting import wait_until

COUNTS = """
CREATE TABLE ticks (id BIGINT) WITH ('connector' = 'datagen', 'rate' = '5000', 'fields.id.kind' = 'sequence');
SELECT id % 3 AS k, COUNT(*) AS n FROM ticks GROUP BY id % 3 EMIT CHANGES;"""


class FakeRun:
    """Notes what it is asked to do."""

    def __init__(self, home: Path) -> None:
        self.home, self.asked, self.failure = home, list[str](), ""

    def snapshot(self) -> RunRecord:
        self._note("snapshot")
        record = RunRecord("q", "", "", "memory", "at-least-once", {}, closed_us=len(self.asked))
        record.save(self.home)
        return record

    def status(self) -> Status:
        backlogs = {"q": [Backlog("q at one", 9, age_ms=20), Backlog("q at other", 0)]}
        return Status(RunState.RUNNING, rows_in=5, lag=9, backlogs=backlogs)

    def pause(self, timeout_s: float) -> None:
        self._note(f"pause {timeout_s:g}")

    def resume(self) -> None:
        self.asked.append("resume")

    def _note(self, what: str) -> None:
        if self.failure:
            raise TopologyError(self.failure)
        self.asked.append(what)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[FakeRun]:
    run = FakeRun(tmp_path)
    live = LiveRecord(run, tmp_path)
    yield run
    live.close()
    live.close()
    assert not is_live(tmp_path)


def test_a_snapshot_is_written_when_it_is_asked_for(run: FakeRun) -> None:
    assert is_live(run.home)
    assert [snapshot(run.home).closed_us for _ in range(3)] == [1, 2, 3]
    assert run.asked == ["snapshot"] * 3


def test_whoever_asks_how_it_stands_is_told_where_most_waits(run: FakeRun) -> None:
    assert status(run.home) == run.status()


def test_a_pause_lasts_as_long_as_whoever_wanted_it(run: FakeRun) -> None:
    with paused(run.home, 5) as record:
        assert record.closed_us == 2
        assert run.asked == ["pause 5", "snapshot"]
    assert run.asked == ["pause 5", "snapshot", "resume"]
    with pytest.raises(ZeroDivisionError), paused(run.home):
        raise ZeroDivisionError
    assert run.asked[3:] == ["pause 60", "snapshot", "resume"]


def test_a_reader_that_dies_holds_nobody_up(run: FakeRun) -> None:
    reader = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    reader.connect(json.loads((run.home / LIVE).read_text())["socket"])
    reader.sendall(b'{"do": "pause", "timeout_s": 5}\n')
    assert reader.recv(100) == b"{}\n"
    reader.close()
    wait_until(lambda: run.asked[-1] == "resume")


def test_what_cannot_be_done_is_refused_in_one_sentence(run: FakeRun) -> None:
    run.failure = "the topology did not come to rest within 5 s"
    for what in (lambda: snapshot(run.home), lambda: paused(run.home).__enter__()):
        with pytest.raises(TopologyError, match=r"^the topology did not come to rest within 5 s$"):
            what()
    run.failure = ""
    assert "resume" not in run.asked, "what was not paused is not resumed"
    reader = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    reader.connect(json.loads((run.home / LIVE).read_text())["socket"])
    reader.sendall(b'{"do": "dance"}\nnonsense\n[]\n')
    with reader.makefile() as answers:
        for _ in range(3):
            assert json.loads(answers.readline())["refused"].startswith("a request is a line of JSON: {")
    reader.close()


def test_nobody_is_there(tmp_path: Path) -> None:
    message = rf"no run that goes on is recorded in {tmp_path}; start one with ouzel run --record {tmp_path}$"
    for text in (None, "", "{}", '{"socket": "/nowhere/socket"}'):
        if text is not None:
            (tmp_path / LIVE).write_text(text)
        assert not is_live(tmp_path)
        with pytest.raises(TopologyError, match=message):
            snapshot(tmp_path)


def recorded(tmp_path: Path) -> tuple[Job, Recorder]:
    home = tmp_path / "record"
    job = recordable(load_text(COUNTS, tmp_path, "counts", (("batch.rows", "100"),)), home, "memory")
    return job, Recorder(start(job, "memory"), job, "memory", home)


def test_a_paused_run_in_one_process_is_exact_without_windows(tmp_path: Path) -> None:
    job, recorder = recorded(tmp_path)
    home = recorder.home
    try:
        wait_until(lambda: recorder.status().rows_acked > 1_000)
        with pytest.raises(QueryError, match="is the record of a run that goes on; stop that run, or choose another"):
            recordable(job, home, "memory")
        for _ in range(3):
            with paused(home) as record:
                assert recorder.status().state is RunState.PAUSED
                counts = pl.read_parquet(home / RESULTS)
                assert counts["n"].sum() == sum(end - first for first, end in record.ranges["ticks"].values())
                with paused(home) as again:
                    assert again.ranges == record.ranges
                assert recorder.status().state is RunState.PAUSED, "one of two still wants it"
            assert recorder.status().state is RunState.RUNNING
            rows = recorder.status().rows_acked
            wait_until(lambda rows=rows: recorder.status().rows_acked > rows)
        assert sum(frame.height for frame in recorder.results()) > 0, (
            "what a snapshot has taken still comes to the user"
        )
    finally:
        status = recorder.stop()
    assert status.state is RunState.STOPPED
    assert read_record(home).ranges["ticks"] == status.ranges["ticks"]
    assert not is_live(home)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "was killed while it was asked for its record"),
        ("live.close(); os._exit(0)", "ended while it was asked; its last record is there, and is whole"),
    ],
    ids=["killed", "ended"],
)
def test_whoever_was_connected_when_the_run_went_is_told_how(end: str, said: str, tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import os, signal, tempfile
        from pathlib import Path
        from threading import Event
        from ouzel.reconcile.recording.live import LiveRecord
        class Slow:
            asked = Event()
            def snapshot(self):
                self.asked.set()
                Event().wait()
        run = Slow()
        place = Path({str(tmp_path)!r}) / "ouzel-live-killed"
        place.mkdir(0o700)
        tempfile.mkdtemp = lambda prefix: str(place)
        live = LiveRecord(run, Path({str(tmp_path)!r}))
        print("there", flush=True)
        run.asked.wait()
        {end}
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    assert is_live(tmp_path)
    with pytest.raises(TopologyError, match=rf"^the run that is recorded in {tmp_path} {said}$"):
        snapshot(tmp_path)
    process.wait()
    assert not is_live(tmp_path), "what it left is no sign of life"
    place = tmp_path / "ouzel-live-killed"
    assert place.is_dir() == ("SIGKILL" in end)
    remove_abandoned(tmp_path)  # as each start of a topology does
    assert not place.exists()
