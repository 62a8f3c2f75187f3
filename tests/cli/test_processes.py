"""The commands as processes, over processes: what a user sees, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.cli.follow import STOPPING
from tests.cli.examples import asked, same
from tests.servers.waiting import growth, wait_until
from tests.servers.warm import ForkedCommand, WarmServers

pytestmark = pytest.mark.server

OUZEL = [sys.executable, "-m", "ouzel"]

ENDLESS = """
CREATE TABLE numbers (n BIGINT, key INT)
WITH ('connector' = 'datagen', 'rate' = '5000', 'fields.n.kind' = 'sequence', 'fields.key.min' = '1', 'fields.key.max' = '5');
SELECT key, COUNT(*) AS seen FROM numbers GROUP BY key EMIT CHANGES;
"""


CLOSED = "standard output is closed, and the answer would go there; write > FILE, or INSERT INTO a table"
FULL = "the answer cannot be written to standard output: No space left on device"

WIDE = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence');
SELECT n, REPEAT('x', 100) AS filler FROM numbers;
"""
WINDOWS = """
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rate' = '5000', 'fields.n.kind' = 'sequence', 'fields.ts.kind' = 'sequence',
  'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '1');
SELECT window_end, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end;
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """The temporary directory of the processes, of a short name for their sockets' sake; it has to be empty again at the end."""
    with tempfile.TemporaryDirectory(prefix="oz") as name:
        place = Path(name)
        yield place
        wait_until(lambda: not list(place.iterdir()), told=lambda: list(place.iterdir()))


def environment(temporary: Path) -> dict[str, str]:
    """Of the commands."""
    return {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "100", "LINES": "24", "TERM": "xterm"}


def start(*arguments: object, temporary: Path) -> ForkedCommand:
    """Start a command with pipes."""
    assert WarmServers.running is not None
    return WarmServers.running.command([*map(str, arguments)], environment(temporary))


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A query without an end."""
    path = tmp_path / "endless.sql"
    path.write_text(ENDLESS)
    return path


@pytest.mark.parametrize(("name", "parallelism"), [("flight_delays", 1), ("word_count", 2)])
def test_both_main_examples_answer_as_duckdb_does(name: str, parallelism: int, examples: Path, temporary: Path) -> None:
    """As users have them: no process is forked from one of the tests."""
    command = ["run", str(examples / f"{name}.sql"), "--format", "jsonl", "--parallelism", str(parallelism)]
    run = subprocess.run([*OUZEL, *command], env=environment(temporary), capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    same([json.loads(line) for line in run.stdout.splitlines()], asked(name, examples))
    assert "336,776 rows in" in run.stderr
    assert "acked 336,776" in run.stderr


def test_tasks_share_the_work(examples: Path, temporary: Path) -> None:
    process = start(
        "run", examples / "airport_traffic.sql", "--parallelism", 2, "--format", "jsonl", temporary=temporary
    )
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    same([json.loads(line) for line in out.splitlines()], asked("airport_traffic", examples))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_says_what_was_read_and_acked(number: int, endless: Path, temporary: Path) -> None:
    process = start("run", endless, "--format", "changelog", temporary=temporary)
    assert process.stdout
    assert process.stderr
    seen = [process.stdout.readline() for _ in range(20)]
    process.send_signal(number)
    seen += process.stdout.readlines()
    err = process.stderr.read()
    assert process.wait(120) == 130, err
    counts = re.search(r"stopped after [\d.]+ s · ([\d,]+) rows in · .*acked ([\d,]+)", err)
    assert counts
    read, acked = (int(text.replace(",", "")) for text in counts.groups())
    assert read == acked > 0
    changes = [json.loads(line) for line in seen]
    total = sum(row["seen"] if row["op"] == "+" else -row["seen"] for row in changes)
    assert total == read


def test_a_second_signal_ends_at_once_and_says_what_is_dropped(tmp_path: Path, temporary: Path) -> None:
    query = tmp_path / "windows.sql"
    query.write_text(WINDOWS)
    process = start("run", query, "--format", "changelog", temporary=temporary)
    assert process.stdout
    assert process.stderr
    for _ in range(20):
        process.stdout.readline()
    (counting,) = (int(pid) for pid in _below(process.pid) if _name(pid).startswith("instance-2"))
    os.kill(counting, signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    assert any(STOPPING in line for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    told = r"dropped: [\d,]+ of the [\d,]+ rows in were on their way; windows that end after 2020-01-01 \S+ may be written in part"
    assert re.search(told, err), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_pipe_that_nobody_reads_slows_the_run_down(number: int, tmp_path: Path, temporary: Path) -> None:
    query = tmp_path / "wide.sql"
    query.write_text(WIDE)
    process = start("run", query, "--format", "csv", temporary=temporary)
    assert process.stdout
    assert process.stderr
    assert process.stdout.readline() == "n,filler\n"
    assert process.stdout.readline().startswith("0,xxx"), "rows come while the input goes on"
    wait_until(lambda: _grown_mb(process.pid, 2) < 30)
    process.send_signal(number)
    assert process.wait(120) == 130
    assert "dropped: " in process.stderr.read()


def _grown_mb(pid: int, seconds: float) -> float:
    """By how much its resident memory grows in that time; rows that gather do so by 30 MB in a fraction of a second."""
    return growth(lambda: _resident_mb(pid), seconds)


def _resident_mb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def _below(pid: int | str) -> list[str]:
    """The processes that descend from one."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return []
    return [*children, *(one for child in children for one in _below(child))]


def _name(pid: str) -> str:
    """Its name; none if it has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_a_reader_that_has_had_enough_is_no_failure(endless: Path, temporary: Path) -> None:
    process = start("run", endless, "--format", "changelog", temporary=temporary)
    assert process.stdout
    assert process.stderr
    assert json.loads(process.stdout.readline())["op"] == "+"
    process.stdout.close()
    assert process.wait(120) == 0
    assert re.fullmatch(r"warning: the state of \w+ is UNBOUNDED: .*\n", process.stderr.read()), "and nothing else"


def test_a_terminal_shows_the_table_while_it_grows(endless: Path, temporary: Path) -> None:
    master, slave = pty.openpty()
    command = [*OUZEL, "run", str(endless)]
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment(temporary), start_new_session=True
    )
    os.close(slave)
    try:
        screen = _read_until(master, "5 rows")
        screen += _read_until(master, "rows/s")
        assert "endless · at-least-once" in screen
        process.send_signal(signal.SIGINT)
        rest = _read_until(master, "stopped after")
        assert process.wait(120) == 130
        assert re.search(r"key +seen", rest)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _read_until(terminal: int, text: str) -> str:
    """What is written to a terminal until a text comes, without its control sequences."""
    seen = [""]

    def comes() -> bool:
        seen[0] += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(terminal, 65_536).decode(errors="replace"))
        return text in seen[0]

    wait_until(comes, told=lambda: seen[0][-2_000:], look_s=0)
    return seen[0]


def test_a_failing_topology_is_1_and_keeps_its_logs_out_of_stdout(
    examples: Path, temporary: Path, tmp_path: Path
) -> None:
    query = tmp_path / "missing.sql"
    query.write_text(
        "CREATE TABLE t (a INT) WITH ('connector' = 'file', 'path' = 'nowhere.csv', 'format' = 'csv'); SELECT a FROM t;"
    )
    process = start("run", query, "--format", "jsonl", temporary=temporary)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert out == ""
    assert "nowhere.csv" in err.splitlines()[-1]
    assert "Traceback" not in err
    for log in temporary.glob("*-logs/*"):
        log.unlink()
    for folder in temporary.glob("*-logs"):
        folder.rmdir()


def test_the_script_is_installed() -> None:
    script = Path(sys.executable).parent / "ouzel"
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout.startswith("ouzel ")


@pytest.mark.parametrize(
    ("closed", "code", "out", "err"),
    [
        ("2>&-", 0, "n\n0\n1\n", ""),
        (">&-", 1, "", f"error: {CLOSED}\n"),
        ("<&- 2>&-", 0, "n\n0\n1\n", ""),
        ("2>/dev/full", 0, "n\n0\n1\n", ""),
        (">/dev/full", 1, "", f"error: {FULL}\n"),
    ],
)
def test_closed_standard_streams_take_no_other_file(
    temporary: Path, tmp_path: Path, closed: str, code: int, out: str, err: str
) -> None:
    query = tmp_path / "two.sql"
    query.write_text(
        "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '2', 'fields.n.kind' = 'sequence');\nSELECT n FROM t;"
    )
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *OUZEL, "run", str(query), "--format", "csv"]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=environment(temporary), check=False
    )
    told = "".join(line for line in ended.stderr.splitlines(keepends=True) if not line.startswith("answered in"))
    assert (ended.returncode, ended.stdout, told) == (code, out, err)
