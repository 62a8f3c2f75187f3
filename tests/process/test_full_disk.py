"""The temporary disk fills up, or the job directory goes: the run ends soon, with one sentence that says why, and nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.runtime.cluster.client import HeronHandle, _forget_old_logs, guess_reason
from ouzel.runtime.cluster.local import LocalScheduler, start_heron
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.process.topologies import count_kept, kept, let_end, numbers, packed, pid_of
from tests.servers.waiting import wait_for_end, wait_until

pytestmark = pytest.mark.server

SQL = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '2000', 'fields.n.kind' = 'sequence');
CREATE TABLE kept (n BIGINT) WITH ('connector' = 'file', 'path' = 'kept', 'format' = 'csv');
INSERT INTO kept SELECT n FROM numbers;
"""


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory for temporary files, on a file system of 4 MB."""
    with tempfile.TemporaryDirectory(prefix="small-") as name:
        mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", name]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("only root may mount a small disk")
        monkeypatch.setattr(tempfile, "tempdir", name)
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def started(directory: Path) -> HeronHandle:
    handle = start(load_text(SQL, directory, "full"))
    assert isinstance(handle, HeronHandle)
    wait_until(lambda: handle.status().rows_acked > 1_000)
    return handle


def written(directory: Path) -> list[int]:
    parts = [path for path in (directory / "kept").iterdir() if path.suffix == ".csv"]
    return sorted(int(line) for path in parts for line in path.read_text().split()[1:])


def test_a_source_that_cannot_note_what_it_reads_ends_the_run(tmp_path: Path, small_disk: Path) -> None:
    handle = started(tmp_path)
    fill(small_disk)
    status = wait_for_end(handle)
    assert status.state is RunState.FAILED
    assert "No space left on device" in status.reason
    rows = written(tmp_path)
    assert len(rows) == len(set(rows)), "rows were doubled"


def test_processes_that_could_not_say_why_they_ended_had_no_room_for_it(small_disk: Path) -> None:
    assert guess_reason(small_disk) == "the processes of the topology were ended from outside"
    fill(small_disk)
    assert "No space left on device" in guess_reason(small_disk)


@pytest.mark.parametrize("victim", ["1/executor", "1/metrics-manager", "1/stream-manager", "0/topology-master"])
def test_a_death_on_a_full_disk_ends_the_run_or_does_no_harm(tmp_path: Path, small_disk: Path, victim: str) -> None:
    topology = numbers(tmp_path, 200, lingers=True)
    handle = start_heron(topology, packed(topology), tmp_path)
    wait_until(lambda: count_kept(tmp_path) > 0)
    pid = pid_of(handle, victim)
    fill(small_disk)
    os.kill(pid, signal.SIGKILL)
    let_end(tmp_path)
    status = wait_for_end(handle)
    if status.state is RunState.FAILED:
        assert "No space left on device" in status.reason
    else:
        assert set(kept(tmp_path)) == set(range(200 * 100))


def test_no_run_starts_on_a_full_disk(tmp_path: Path, small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(Exception, match=r"no job directory can be made in .*No space left on device; make room"):
        start(load_text(SQL, tmp_path, "full"))
    assert not list(small_disk.glob("ouzel-*"))


@pytest.mark.parametrize("silent", [False, True], ids=["", "the_server_dies_silently"])
def test_a_job_directory_that_is_removed_ends_the_run(tmp_path: Path, silent: bool) -> None:
    topology = numbers(tmp_path, 10**6)
    handle = start_heron(topology, packed(topology), tmp_path)
    wait_until(lambda: count_kept(tmp_path) > 0)
    assert isinstance(handle._scheduler, LocalScheduler)
    server = handle._scheduler.pid
    if silent:
        os.kill(server, signal.SIGSTOP)
    shutil.rmtree(handle.job.home)
    if silent:
        os.kill(server, signal.SIGKILL)
    status = wait_for_end(handle)
    assert status.state is RunState.FAILED
    assert status.reason == f"the job directory {handle.job.home} was removed while the topology ran"


def test_an_executor_that_cannot_be_kept_running_is_not_started_for_ever(tmp_path: Path) -> None:
    topology = numbers(tmp_path, 10**6)
    handle = start_heron(topology, packed(topology), tmp_path)
    wait_until(lambda: count_kept(tmp_path) > 0)
    (handle.job.container(1) / "processes.new").mkdir()
    os.kill(pid_of(handle, "1/executor"), signal.SIGKILL)
    status = wait_for_end(handle)
    assert status.state is RunState.FAILED
    assert status.reason.startswith("which processes run cannot be noted in ")


def test_logs_of_the_last_failed_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"ouzel-{number}-logs").mkdir()
        os.utime(tmp_path / f"ouzel-{number}-logs", (number, number))
    monkeypatch.setattr("ouzel.runtime.cluster.client.LOGS_KEPT", 2)
    _forget_old_logs(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ouzel-3-logs", "ouzel-4-logs"]
