"""What the processes of a container use of the machine, as metrics. Linux only; elsewhere there are none."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ouzel.runtime.observe.task_metrics import CONTAINER, CPU_TIME, MEMORY, STREAM_MANAGER, UPTIME, MetricsSample
from ouzel.runtime.process.process_table import ProcessTable

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_NS_PER_TICK = 1_000_000_000 // _TICKS_A_SECOND
_USER_TIME, _SYSTEM_TIME, _START_TIME = 11, 12, 19
"""Places in /proc/PID/stat, behind the name of the process: see proc(5)."""


class ProcessUsage(NamedTuple):
    """What one process uses: CPU time so far, resident memory, and for how long it has lived."""

    cpu_ns: int
    memory_bytes: int
    uptime_s: int


def measure_processes(table: ProcessTable, proc: Path = _PROC) -> dict[str, ProcessUsage]:
    """What each process of a container uses, by its name in the table; those that are gone are left out."""
    read = {name: _read(proc / str(entry.pid), entry.started) for name, entry in table.entries.items()}
    return {name: found for name, found in read.items() if found is not None}


def sample_container(container: int, used: Mapping[str, ProcessUsage], time_s: int) -> list[MetricsSample]:
    """CPU time and resident memory of all processes of a container, as one sample; none if nothing of them is known.

    Pages that processes share count in each. A process that has ended takes its CPU time with it: such a step back counts as 0.
    """
    if not used:
        return []
    cpu_ns, memory = sum(one.cpu_ns for one in used.values()), sum(one.memory_bytes for one in used.values())
    return [MetricsSample(time_s, CONTAINER, container, 1, frozenset(), {CPU_TIME: cpu_ns}, {MEMORY: memory})]


def add_usage(samples: Iterable[MetricsSample], used: Mapping[str, ProcessUsage]) -> list[MetricsSample]:
    """The samples of instances and of the stream manager, with the memory and the time of life of their processes."""
    return [_add_usage(sample, used.get(_name_process(sample))) for sample in samples]


def _add_usage(sample: MetricsSample, used: ProcessUsage | None) -> MetricsSample:
    if used is None:
        return sample
    return replace(sample, values=sample.values | {MEMORY: used.memory_bytes, UPTIME: used.uptime_s})


def _name_process(sample: MetricsSample) -> str:
    return "stream-manager" if sample.component == STREAM_MANAGER else f"instance-{sample.instance}"


def _read(folder: Path, started: int) -> ProcessUsage | None:
    """What one process uses; None if it is gone, and its number another's."""
    try:
        resident = int((folder / "statm").read_bytes().split()[1])
        fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        ticks, began = int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME]), int(fields[_START_TIME])
    except (OSError, ValueError, IndexError):
        return None
    if began != started:
        return None
    return ProcessUsage(ticks * _NS_PER_TICK, resident * _PAGE_BYTES, _age_s(began))


def _age_s(began: int) -> int:
    return max(0, int(time.clock_gettime(time.CLOCK_BOOTTIME) - began / _TICKS_A_SECOND))
