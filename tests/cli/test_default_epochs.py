"""`ouzel run` with nothing set: a task with state is killed when rows have been printed, and each row is printed once, with exit code 0."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from ouzel.session import load_text
from tests.cli.test_processes import _below, _name, start, temporary
from tests.process.gates import Gate
from tests.process.test_sql_kills import GATE_ROWS, QUERY, ROWS, SETTINGS, instances
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

__all__ = ["temporary"]

ENDLESS = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '5000', 'fields.n.kind' = 'sequence');
CREATE TABLE out (k BIGINT, seen BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO out SELECT n % 5 AS k, COUNT(*) AS seen FROM ticks GROUP BY n % 5;
"""


def find(client: int, names: set[str]) -> set[int]:
    """The processes of these names below a client."""
    return {int(pid) for pid in _below(client) if _name(pid).strip() in names}


def test_rows_that_were_printed_are_not_printed_again(tmp_path: Path, temporary: Path) -> None:
    query = tmp_path / "ticks.sql"
    query.write_text(QUERY)
    job = load_text(QUERY, tmp_path, "ticks", SETTINGS)
    keeping = {victim.rpartition("/")[2] for victim in instances(job, spouts=False)}
    pairs = [word for key, value in SETTINGS for word in ("--set", f"{key}={value}")]
    with Gate(tmp_path, GATE_ROWS) as gate:
        process = start("run", query, "--format", "jsonl", *pairs, temporary=temporary)
        assert process.stdout
        printed = [process.stdout.readline() for _ in range(10)]
        killed = find(process.pid, keeping)
        assert len(killed) == len(keeping)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: len(find(process.pid, keeping) - killed) == len(keeping))
        gate.open()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    windows = [json.loads(line) for line in [*printed, *out.splitlines()]]
    assert [window["many"] for window in windows] == [100] * (ROWS // 100)
    assert len({window["window_start"] for window in windows}) == len(windows), "each once"
    assert "rolled-back: all tasks began anew, for no epoch was kept yet" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_file_of_an_epoch_is_left_however_the_run_ends(number: int, tmp_path: Path, temporary: Path) -> None:
    """The fixture waits until nothing is left in the temporary directory."""
    query = tmp_path / "endless.sql"
    query.write_text(ENDLESS)
    often = ("--set", "checkpoint.interval.ms=100")
    process = start("run", query, *often, temporary=temporary)
    wait_until(lambda: list(temporary.glob("ouzel-*/checkpoints/epochs/*")))
    process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
