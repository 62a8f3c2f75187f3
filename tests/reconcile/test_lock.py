"""A directory holds the record of one run at a time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.errors import OuzelError, QueryError
from ouzel.reconcile import Recorder, recordable
from ouzel.reconcile.recording import lock
from ouzel.session import load_text
from tests.cli.fakes import FakeHandle
from tests.house.source import ROOT

HOLD = """
import sys
from pathlib import Path
from ouzel.reconcile.recording import lock
lock.hold_directory(Path(sys.argv[1]))
print(flush=True)
input()
"""
NUMBERS = "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence'); SELECT n FROM t"


def test_a_record_that_cannot_be_written_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Its directory has become a file while the run went on."""
    home = tmp_path / "record"
    job = recordable(load_text(NUMBERS, tmp_path, "numbers"), home, "memory")
    recorder = Recorder(FakeHandle([]), job, "memory", home)
    sockets = Path(json.loads((home / "live.json").read_text())["socket"]).parent
    assert sockets.exists()
    shutil.rmtree(home)
    home.touch()
    with pytest.raises(OuzelError, match=r"the run is over, and its record cannot be written to .*/record: "):
        recorder.stop()
    assert not sockets.exists()
    assert not lock._held


def test_a_second_run_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    run = ["run", "--engine", "memory", "--record", str(tmp_path), "-e", NUMBERS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as first:
        assert first.stdout
        first.stdout.readline()
        second = CliRunner().invoke(app, run)
        (tmp_path / lock.LOCK).write_text("")  # as it is for the moment after it was taken
        with pytest.raises(QueryError, match="of another process"):
            lock.hold_directory(tmp_path)
        first.communicate(b"\n")
    assert second.exit_code == 2
    told = f"is the record of a run that goes on, of process {first.pid} on "
    assert told in second.stderr
    assert not (tmp_path / "record.json").exists()
    for _ in range(2):  # also one after the other, in one process
        assert CliRunner().invoke(app, run).exit_code == 0
    assert (tmp_path / "record.json").exists()


def test_who_could_not_start_has_not_lost_the_directory(tmp_path: Path) -> None:
    for _ in range(2):
        lock.hold_directory(tmp_path)
    lock.release_directory(tmp_path)
    lock.release_directory(tmp_path)
