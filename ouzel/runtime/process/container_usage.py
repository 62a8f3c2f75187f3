"""What the processes of a container use of the machine, as a sample of metrics. Linux only; elsewhere there is none."""

from __future__ import annotations

import os
from pathlib import Path

from ouzel.runtime.observe.task_metrics import CONTAINER, CPU_TIME, MEMORY, MetricsSample
from ouzel.runtime.process.process_table import ProcessTable

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_USER_TIME, _SYSTEM_TIME = 11, 12
"""Places in /proc/PID/stat, behind the name of the process: see proc(5)."""


def sample_container(container: int, table: ProcessTable, time_s: int, proc: Path = _PROC) -> MetricsSample | None:
    """CPU time and resident memory of all processes of a container; None if none of them can be asked.

    Pages that processes share count in each. A process that has ended takes its CPU time with it: such a step back counts as 0.
    """
    used = [found for entry in table.entries.values() if (found := _read(proc / str(entry.pid))) is not None]
    if not used:
        return None
    cpu_ns, memory = (sum(column) for column in zip(*used, strict=True))
    return MetricsSample(time_s, CONTAINER, container, 1, frozenset(), {CPU_TIME: cpu_ns}, {MEMORY: memory})


def _read(folder: Path) -> tuple[int, int] | None:
    """Nanoseconds and bytes of one process; None if it is gone."""
    try:
        resident = int((folder / "statm").read_bytes().split()[1])
        fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        ticks = int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])
    except (OSError, ValueError, IndexError):
        return None
    return ticks * _NS_PER_TICK, resident * _PAGE_BYTES
