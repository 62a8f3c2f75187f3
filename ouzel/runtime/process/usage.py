"""What the kernel says of a process: how long its threads computed, and how long they waited for a core. Linux only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ouzel.runtime.protocol.cluster.starvation import Usage

_PROC = Path("/proc")
_NS_PER_MS = 1e6
_RUNNABLE, _STOPPED = b"R", b"Tt"


def read_usage(pid: int, without: int = 0, proc: Path = _PROC) -> Usage | None:
    """The usage of a process, of all threads but the one with the id `without`; None where the kernel does not say, or it is gone."""
    cpu = waited = 0.0
    states = []
    try:
        for thread in os.listdir(proc / str(pid) / "task"):
            if thread != str(without):
                state, ran, waits = _read_thread(proc / str(pid) / "task" / thread)
                states.append(state)
                cpu, waited = cpu + ran, waited + waits
    except (OSError, ValueError, IndexError):
        return None
    stopped = any(state in _STOPPED for state in states)
    return Usage(cpu / _NS_PER_MS, waited / _NS_PER_MS, _RUNNABLE in states, stopped)


def _read_thread(folder: Path) -> tuple[bytes, int, int]:
    """A thread's state, and for how many nanoseconds it ran and waited; a thread that has just ended did neither.

    Raises:
        OSError, ValueError, IndexError: the kernel does not keep account of that.
    """
    try:
        state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return b"X", 0, 0
    ran, waited, *_ = (folder / "schedstat").read_bytes().split()
    return state, int(ran), int(waited)


class OwnWait:
    """How long the thread that makes this waits for a core. The file stays open: to ask costs one system call."""

    def __init__(self, proc: Path = _PROC) -> None:
        self._file: int | None = None
        self._before_ms = 0.0
        with contextlib.suppress(OSError):
            self._file = os.open(proc / "thread-self" / "schedstat", os.O_RDONLY | os.O_CLOEXEC)
        self.take()

    def take(self) -> float:
        """Milliseconds since the last call; 0 where the kernel does not say."""
        before, self._before_ms = self._before_ms, self._read()
        return self._before_ms - before

    def _read(self) -> float:
        try:
            return 0.0 if self._file is None else int(os.pread(self._file, 80, 0).split()[1]) / _NS_PER_MS
        except (OSError, ValueError, IndexError):
            return self._before_ms


def count_cores(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """How many cores this process may use, at least 1: those that it is bound to, and no more than its control group is given."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        given, period = quota.read_text().split()
        return max(1, min(bound, round(int(given) / int(period))))
    except (OSError, ValueError):  # no limit, or none that can be read
        return bound
