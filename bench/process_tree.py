"""What a tree of processes costs: CPU seconds and resident memory, sampled from /proc (Linux)."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from types import TracebackType

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """One process at one moment: its parent, its CPU time in clock ticks, its resident memory."""

    parent: int
    ticks: int
    resident_bytes: int


@dataclass(frozen=True)
class Cost:
    """At one moment: wall clock, CPU seconds of the tree so far, and those of the whole machine."""

    time_s: float
    cpu_s: float
    machine_cpu_s: float


class ProcessTree:
    """Watches a process and all its descendants from a thread; CPU of those that end is kept."""

    def __init__(self, root: int, every_s: float = 0.2) -> None:
        self.root, self.every_s, self.peak_bytes = root, every_s, 0
        self._last: dict[int, Process] = {}
        self._ended_ticks = 0
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ProcessTree:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def peak_mb(self) -> int:
        """The most memory resident at once, summed over the tree; shared pages count in each process."""
        return round(self.peak_bytes / 2**20)

    def cost(self) -> Cost:
        """The cost so far."""
        with self._lock:
            members = descendants(self.root)
            self._ended_ticks += sum(gone.ticks for pid, gone in self._last.items() if pid not in members)
            self._last = members
            self.peak_bytes = max(self.peak_bytes, sum(member.resident_bytes for member in members.values()))
            ticks = self._ended_ticks + sum(member.ticks for member in members.values())
        return Cost(time.time(), ticks / TICKS_A_SECOND, _machine_cpu_s())

    def _watch(self) -> None:
        while not self._stop.wait(self.every_s):
            self.cost()


def descendants(root: int) -> dict[int, Process]:
    """The process and all below it, by pid."""
    processes = {int(name): process for name in os.listdir("/proc") if name.isdigit() and (process := _read(name))}
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found, todo = {}, [root]
    while todo:
        pid = todo.pop()
        if pid in processes:
            found[pid] = processes[pid]
            todo += children.get(pid, [])
    return found


def _read(pid: str) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()  # after the command's name, which may hold spaces
    return Process(int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[21]) * PAGE_BYTES)


def _machine_cpu_s() -> float:
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(field) for field in file.readline().split()[1:9]]
    idle, waiting_for_io = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting_for_io) / TICKS_A_SECOND
