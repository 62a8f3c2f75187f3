"""What every process does to show that it lives, and to end with the topology it belongs to."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from os import _exit
from pathlib import Path
from types import FrameType

from setproctitle import setproctitle

from ouzel.compiler.user_code import is_users
from ouzel.descriptors import open_log

_SLOT_BYTES = 8
_SLOTS = 1024
_KILLED = 128
"""Added to the number of a signal: the exit code of whoever ended by it, as shells tell it."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def now_ms() -> float:
    """Milliseconds on the monotonic clock, which all processes of a host share."""
    return time.monotonic_ns() / 1e6


def wall_zero_us() -> int:
    """The wall clock, in microseconds since 1970, when `now_ms` was 0."""
    return int(time.time_ns() // 1000 - now_ms() * 1000)


class Heartbeats:
    """A file that the processes of a container and its executor map: when each was last alive. A beat costs no system call.

    The time of a process that says that it hangs is negative.

    Invariant: a time is written by one store. `struct.pack_into` clears the bytes first, and was used here: a process that lost its core
    in between looked as if it had been silent since the machine was started, and was killed.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.posix_fallocate(
                descriptor, 0, _SLOT_BYTES * _SLOTS
            )  # on a full disk an error here, not a SIGBUS at a beat
            self._times = memoryview(mmap.mmap(descriptor, _SLOT_BYTES * _SLOTS)).cast("q")
        finally:
            os.close(descriptor)

    def beat(self, slot: int) -> None:
        """The process in `slot` is alive now."""
        self._times[slot] = time.monotonic_ns()

    def hang(self, slot: int) -> None:
        """The process in `slot` says that it hangs, since its last beat."""
        self._times[slot] = -abs(self._times[slot])

    def last(self, slot: int) -> tuple[float, bool]:
        """When it last beat, in milliseconds as `now_ms`, and whether it says that it hangs."""
        last = self._times[slot]
        return abs(last) / 1e6, last < 0


class Life:
    """One process's slot in the heartbeats, and a watch on the server that it came from."""

    def __init__(self, heartbeats: Path, slot: int, server: int) -> None:
        self._heartbeats, self._slot = Heartbeats(heartbeats), slot
        self._server = watch_process(server)

    def beat(self, hangs: bool = False) -> None:
        """Note that this process lives, or that it hangs. Exit at once if the server is gone."""
        if hangs:
            self._heartbeats.hang(self._slot)
        else:
            self._heartbeats.beat(self._slot)
        if self._server is None or has_ended(self._server):
            _exit(0)  # functions of the user's may have replaced the one of the module


def watch_process(pid: int) -> int | None:
    """A pidfd of the process, or None when there is none."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def has_ended(pidfd: int) -> bool:
    """Whether the process behind a pidfd has ended."""
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(0))


def start_time(pid: int) -> int:
    """Clock tick at which a process started: with the pid it names a process for good. 0 when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return int(file.read(4_096).rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the parent ends, even while stopped."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def wake_with_parent() -> None:
    """Be continued, if stopped, when the parent ends: a stopped process could not find that out."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def end_with(lifeline: int) -> None:
    """Have the kernel kill this process group, stopped or not, when no process holds the writing end of the pipe any more.

    A parent's death would not do: what a dead executor leaves behind has another parent. A pid would not do: it may be used again.
    """
    own = os.open(
        f"/proc/self/fd/{lifeline}", os.O_RDONLY | os.O_NONBLOCK
    )  # a file of its own, for the signal is sent to one owner
    fcntl.fcntl(own, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(own, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(own, fcntl.F_SETFL, fcntl.fcntl(own, fcntl.F_GETFL) | os.O_ASYNC)
    if has_ended(own):  # before we listened
        os.killpg(0, signal.SIGKILL)


def stop_at_sigterm(stop: Callable[[], None]) -> None:
    """Have SIGTERM call `stop` in this process, and end what a function of the user's forks: multiprocessing ends its workers so.

    In a function of the user's, which may have sent it, it ends the process as SIGKILL does: the row stays noted that it came of, and is
    put aside if it comes of that row again. Whoever is to end anyway leaves no more behind than if the function had taken too long.
    """

    def on_sigterm(number: int, frame: FrameType | None) -> None:
        if is_users(frame):
            _exit(_KILLED + number)
        stop()

    signal.signal(signal.SIGTERM, on_sigterm)
    os.register_at_fork(after_in_child=partial(signal.signal, signal.SIGTERM, signal.SIG_DFL))


def show_as(name: str, title: str) -> None:
    """The title is what ps shows, the name what the kernel calls this process: it keeps 15 bytes, and would cut a title inside a letter."""
    setproctitle(title)
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name[:15])


def become(name: str, title: str, log: Path) -> None:
    """Turn a freshly forked process into what it is to be: name, title, log file, default signals, no terminal."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    show_as(name, title)
    nothing = os.open(os.devnull, os.O_RDWR)
    text = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(text, 1)
    os.dup2(text, 2)
    os.close(nothing)
    os.close(text)
    sys.stdout, sys.stderr = open_log(1), open_log(2)
