"""A run follows files that are rotated, while its source is killed, too: every row once, or an error that names the file."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors.file.following import locate
from ouzel.connectors.file.whole import are_whole_files
from ouzel.connectors.reading import SourceRequest
from ouzel.reconcile.recording.marks import Marked, describe_edit
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.server

QUERY = """
CREATE TABLE logs (id BIGINT) WITH ('connector' = 'file', 'path' = 'logs/a.csv', 'format' = 'csv', 'follow' = 'true');
SELECT id, COUNT(*) AS many FROM logs GROUP BY id;
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / "a.csv"
    write(path, 0, 1_000)
    return path


@pytest.fixture
def handle(tmp_path: Path, log: Path) -> Iterator[HeronHandle]:
    handle = start(load_text(QUERY, tmp_path, "logs", (("ack.timeout.ms", "5000"), ("containers", "1"))))
    assert isinstance(handle, HeronHandle)
    wait_until(lambda: handle.status().rows_acked == 1_000)
    yield handle
    handle._scheduler.on_kill()


def write(path: Path, first: int, end: int) -> None:
    """A new file."""
    path.write_text("id\n" + "".join(f"{number}\n" for number in range(first, end)))


def grow(path: Path, first: int, end: int) -> None:
    """More of a file."""
    with path.open("a") as file:
        file.writelines(f"{number}\n" for number in range(first, end))


def rotate(log: Path, first: int, end: int) -> None:
    """Each file gets the name of the one that was rotated before it, and a new one begins."""
    for number in range(9, 0, -1):
        older = log.with_name(f"a.csv.{number}")
        if older.exists():
            older.rename(log.with_name(f"a.csv.{number + 1}"))
    log.rename(log.with_name("a.csv.1"))
    write(log, first, end)


def test_rotation_is_followed_while_the_source_is_killed_and_the_record_finds_the_files(
    handle: HeronHandle, tmp_path: Path, log: Path
) -> None:
    rotate(log, 2_000, 3_000)
    grow(log.with_name("a.csv.1"), 1_000, 2_000)  # whoever writes has the old file open for a while
    wait_until(lambda: handle.status().rows_acked == 3_000)
    grow(log, 3_000, 3_500)
    source = pid_of(handle, "1/instance-1")
    os.kill(source, signal.SIGSTOP)
    rotate(log, 4_000, 5_000)
    os.kill(source, signal.SIGKILL)
    grow(log.with_name("a.csv.1"), 3_500, 4_000)
    wait_until(lambda: handle.status().restarts == 1 and handle.status().rows_acked == 5_000)
    status = handle.stop()
    assert (status.state, status.rows_in) == (RunState.STOPPED, 5_000)
    rows = pl.concat(handle.results()).group_by("id").agg(pl.col("many", "$weight").last())
    assert rows.sort("id")["id"].to_list() == list(range(5_000))
    assert rows["many"].to_list() == [1] * 5_000
    (parts,) = status.ranges.values()
    check_record(parts, tmp_path, log)


def check_record(parts: dict[str, tuple[int, int]], directory: Path, log: Path) -> None:
    """What was read is found where it is now, and marked there."""
    assert sorted(locate(name) for name in parts) == [str(log), f"{log}.1", f"{log}.2"]
    request = SourceRequest("logs", {"path": "logs/a.csv", "format": "csv"}, {"id": pl.Int64()}, directory)
    assert not are_whole_files(request, parts), "Spark's own reader would find the last of the three alone"
    marked = Marked().of(parts)
    rotate(log, 5_000, 6_000)
    assert [describe_edit(name, mark) for name, mark in marked.items()] == [""] * 3
    log.with_name("a.csv.2").unlink()
    assert sorted(describe_edit(name, mark) for name, mark in marked.items()) == ["", "", "is gone"]


@pytest.mark.parametrize(("befalls", "words"), [("cut", "written over"), ("gone", "found nowhere")])
def test_what_befalls_a_file_while_its_source_is_down_is_an_error_that_names_it(
    handle: HeronHandle, log: Path, befalls: str, words: str
) -> None:
    source = pid_of(handle, "1/instance-1")
    os.kill(source, signal.SIGSTOP)
    if befalls == "cut":
        write(log, 5_000, 9_000)
    else:
        log.unlink()
    os.kill(source, signal.SIGKILL)
    wait_until(lambda: handle.wait(0.2))
    status = handle.status()
    assert status.state is RunState.FAILED
    assert words in status.reason
    assert str(log) in status.reason
