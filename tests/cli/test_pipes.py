"""What goes into pipes and files: rows of a table that only grows as they come, whole tables, and who reads has had enough."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

CLICKS = (
    "CREATE TABLE clicks (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '50', 'fields.n.kind' = 'sequence'{});\n"
)
ENDLESS = CLICKS.format("") + "SELECT n, n * 2 AS twice FROM clicks;"
CHANGING = CLICKS.format("") + "SELECT n % 3 AS k, COUNT(*) AS c FROM clicks GROUP BY n % 3 EMIT CHANGES;"
PRINTED = (
    CLICKS.format("")
    + "CREATE TABLE out (n BIGINT) WITH ('connector' = 'print');\nINSERT INTO out SELECT n FROM clicks;"
)


def start(query: str, *options: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """`ouzel run` whose answer goes into a pipe."""
    command = [sys.executable, "-m", "ouzel", "run", "--engine", "memory", "-e", query, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)


@pytest.mark.parametrize(
    "form", ["table", *(pytest.param(one, marks=pytest.mark.whole) for one in ("vertical", "csv"))]
)
def test_rows_flow_into_a_pipe_and_all_ends_quietly_when_it_is_closed(form: str) -> None:
    with start(ENDLESS, "--format", form) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        first = [run.stdout.readline().rstrip() for _ in range(4)]
        run.stdout.close()
        assert run.wait(60) == 0
        assert run.stderr.read() == ""
    assert (
        first
        == {
            "table": ["n   twice", "─────────", "0       0", "1       2"],
            "vertical": ["── row 1", "n         0", "twice     0", "── row 2"],
            "csv": ["n,twice", "0,0", "1,2", "2,4"],
        }[form]
    )


def test_an_answer_whose_reader_ctrl_c_has_ended_too_is_said_to_be_missing() -> None:
    with start(CHANGING, "--format", "csv") as run:
        assert run.stdout is not None
        assert run.stderr is not None
        said = ""
        while "| tee -i FILE" not in said:
            said += run.stderr.readline()
        run.stdout.close()
        run.send_signal(signal.SIGINT)
        rest = run.stderr.read()
        assert run.wait(60) == 130
    assert (
        "error: the answer is not printed, for what reads the pipe has ended, too; write > FILE, or | tee -i FILE\n"
        in rest
    )


@pytest.mark.parametrize("query", [ENDLESS, pytest.param(PRINTED, marks=pytest.mark.whole)])
def test_no_status_line_is_drawn_among_rows_that_flow_into_a_pipe(query: str) -> None:
    """Who reads it mostly writes to the same terminal."""
    ours, terminal = pty.openpty()
    try:
        with start(query, stderr=terminal) as run:
            assert run.stdout is not None
            for _ in range(20):
                assert run.stdout.readline()
            run.send_signal(signal.SIGINT)
            run.stdout.read()
            assert run.wait(60) == 130
        os.close(terminal)
        said = os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
    assert "rows/s · p50" not in said.partition("stopped after")[0]
    assert "stopping: " in said


@pytest.mark.whole
def test_a_table_is_whole_in_a_file(tmp_path: Path) -> None:
    query = CLICKS.format(", 'rows' = '300'").replace("'50'", "'100000'") + "SELECT n FROM clicks;"
    with start(query) as run:
        assert run.stdout is not None
        lines = run.stdout.read().splitlines()
        assert run.wait(60) == 0
    assert [line.strip() for line in lines[2:-1]] == [str(n) for n in range(300)]
    assert lines[-1] == "300 rows"


def test_what_is_printed_by_a_task_is_said_to_be_in_its_log() -> None:
    command = [sys.executable, "-m", "ouzel", "run", "-e", PRINTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        assert run.stderr.readline() == (
            "table 'out': its rows are printed into the log of its task, which is removed when the run ends; to see them here end the "
            "query with SELECT, to keep them give the table a 'path'\n"
        )
        run.send_signal(signal.SIGINT)
        wait_until(lambda: run.poll() is not None)
