"""Why is there no output yet? A topology of real processes says what its event time waits for, to whoever asks about its record."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.reconcile.recording.live import status
from ouzel.reconcile.recording.recorder import Recorder, recordable
from ouzel.runtime.tasks.awaited import HISTORICAL
from ouzel.session import load_text, start
from tests.servers.waiting import wait_until

TEXT = """CREATE TABLE ticks (ts TIMESTAMP(3), WATERMARK FOR ts AS ts IDLE AFTER INTERVAL '1' SECOND)
WITH ('connector' = 'file', 'path' = 'ticks.jsonl', 'format' = 'json', 'follow' = 'true');
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;"""


@pytest.mark.server
def test_a_window_that_stays_open_is_explained(tmp_path: Path) -> None:
    (tmp_path / "ticks.jsonl").write_text('{"ts": "2013-01-01 12:34:56"}\n')
    home = tmp_path / "record"
    job = recordable(load_text(TEXT, tmp_path, "ticks", [("parallelism", "1")]), home, "heron")
    recorder = Recorder(start(job), job, "heron", home)
    try:
        wait_until(
            lambda: [one.reason for one in status(home).waiting] == [HISTORICAL], told=lambda: status(home), look_s=0.1
        )
        query = tmp_path / "ticks.sql"
        query.write_text(TEXT)
        shown = CliRunner().invoke(app, ["explain", str(query), "--live", str(home)])
    finally:
        recorder.stop()
    assert shown.output.splitlines()[1:] == [
        "event time at the result: 2013-01-01 12:34:56",
        "event time at 'ticks': 2013-01-01 12:34:56",
        f"waiting: ticks {tmp_path}/ticks.jsonl: {HISTORICAL}",
    ]
