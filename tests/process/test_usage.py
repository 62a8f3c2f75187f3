"""What the kernel says of a process, read from /proc: of all its threads, or of all but one; None where it does not say."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from ouzel.runtime.process.usage import OwnWait, read_usage
from ouzel.runtime.protocol.cluster.starvation import Usage


def write_thread(proc: Path, thread: int, state: str, ran_ms: int, waited_ms: int) -> None:
    folder = proc / "7" / "task" / str(thread)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{thread} (a name) with) brackets) {state} 1 2 3")
    (folder / "schedstat").write_text(f"{ran_ms * 1_000_000} {waited_ms * 1_000_000} 12\n")


@pytest.mark.parametrize(
    ("states", "usage"),
    [
        ("SS", Usage(50, 70)),
        ("SR", Usage(50, 70, is_runnable=True)),
        ("TT", Usage(50, 70, is_stopped=True)),
        ("tS", Usage(50, 70, is_stopped=True)),
        ("SD", Usage(50, 70)),
    ],
)
def test_threads_add_up(tmp_path: Path, states: str, usage: Usage) -> None:
    for number, state in enumerate(states):
        write_thread(tmp_path, 7 + number, state, 20 + 10 * number, 30 + 10 * number)
    assert read_usage(7, proc=tmp_path) == usage
    assert read_usage(7, without=8, proc=tmp_path) == Usage(20, 30, is_stopped=states[0] in "Tt")


def test_a_kernel_that_keeps_no_account_is_asked_in_vain(tmp_path: Path) -> None:
    assert read_usage(7, proc=tmp_path) is None
    write_thread(tmp_path, 7, "S", 1, 1)
    (tmp_path / "7" / "task" / "7" / "schedstat").unlink()
    assert read_usage(7, proc=tmp_path) is None
    assert OwnWait(tmp_path).take() == 0


def test_a_thread_that_has_just_ended_is_left_out(tmp_path: Path) -> None:
    write_thread(tmp_path, 7, "S", 1, 1)
    (tmp_path / "7" / "task" / "8").mkdir()
    assert read_usage(7, proc=tmp_path) == Usage(1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_this_process_has_computed_and_is_not_stopped() -> None:
    usage = read_usage(os.getpid())
    assert usage is not None
    assert usage.cpu_ms > 0
    assert (usage.is_runnable, usage.is_stopped) == (True, False)
    assert (others := read_usage(os.getpid(), without=threading.get_native_id())) is not None
    assert others.cpu_ms < usage.cpu_ms
    assert OwnWait().take() >= 0
