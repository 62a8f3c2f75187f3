"""What the tasks of a topology use now: of a sample that is run for that, or of a submitted topology."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ouzel.compiler.plan import scans_in, sinks_in
from ouzel.connectors import reads_of
from ouzel.connectors.base import Replay
from ouzel.errors import NotSupported, OuzelError
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Delivery, Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.observe.task_metrics import CPU_TIME
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.run import RunState
from ouzel.tracker.health.estimates import MeasuredPart
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History, RunHistory

LOOK_S = 0.2
WARM_SHARE = 0.3
"""Of a sample the first part is not measured: what is computed for the first time takes longer."""

START_S = 60.0

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def check_can_be_sampled(topology: Topology) -> None:
    """See that a sample of a topology changes nothing for others.

    Raises:
        NotSupported: it would write into a table, take what others are to get, or note how far it has read.
    """
    for part in topology.components:
        if part.user is not None:
            raise NotSupported(
                f"'{part.name}' is written by hand, and only its own code knows what a sample of it would change",
                instead="submit the topology, and ask with `ouzel explain NAME --resources`",
            )
        for sink in sinks_in(part.chain):
            if not sink.traits.returned:
                told = f"a sample would write its rows into table '{sink.table}'"
                raise NotSupported(told, instead="leave INSERT INTO out, and ask for its SELECT alone")
        for scan in scans_in(part.chain):
            reads, options = reads_of(scan.connector, scan.table), dict(scan.options)
            if reads.replay is Replay.TOKEN or reads.resumes(options):
                told = f"a sample would read table '{scan.table}' in place of the topology that is to read it"
                raise NotSupported(told, instead="read a copy of some of its rows, in a file say")


def without_traces(settings: Settings, folder: Path) -> Settings:
    """The settings of a sample: it keeps no epochs, and what a run would write besides its results goes into a folder of its own."""
    delivery = Delivery.AT_LEAST_ONCE if settings.delivery.publishes else settings.delivery
    return replace(
        settings,
        delivery=delivery,
        checkpoint_interval_ms=0,
        checkpoint_path="",
        late_path="",
        shed_path="",
        dead_letter_path=str(folder / "dead-letters.jsonl"),
    )


def run_sample(handle: HeronHandle, sample_s: float) -> list[MeasuredPart]:
    """Let a topology run for so long at most, and end it; what its tasks did.

    Raises:
        OuzelError: it failed, or was over before anything could be measured.
    """
    job, sample = handle.job, _Sample(handle)
    try:
        while not sample.is_over(sample_s):
            if handle.results():
                time.sleep(LOOK_S / 4)  # whatever it answers is dropped; it is not looked at for each frame
            sample.look()
        status = handle.status()
    finally:
        handle.end()
    if status.state is RunState.FAILED:
        raise OuzelError(f"the sample failed: {status.reason}")
    history, memory = sample.history.history, sample.memory
    try:
        return measure(job.topology, history, memory, sample.warm_s)
    except OuzelError:
        return measure(job.topology, history, memory, 0)  # it was short: the beginning is all that is known


class _Sample:
    """A sample that runs."""

    def __init__(self, handle: HeronHandle) -> None:
        job = handle.job
        self._handle, self._job = handle, job
        self.history = RunHistory(job.home, [one.id for one in job.packing.containers])
        self.memory: dict[int, int] = {}
        self._asked_s = time.time()
        self._began_s = self._looked_s = 0.0

    def is_over(self, sample_s: float) -> bool:
        """Whether it has ended, or lasted for so long; waits a little."""
        if self._handle.wait_for_results(LOOK_S):
            return True
        if self._began_s:
            return time.time() - self._began_s >= sample_s
        return time.time() - self._asked_s >= START_S

    def look(self) -> None:
        """Take in what is known of it now."""
        if not self._began_s and self._handle.status().state is RunState.RUNNING:
            self._began_s = time.time()
        with contextlib.suppress(OSError):  # its directory goes with it
            self.history.read(int(time.time()))
            self.memory |= read_memory_of_tasks(_list_processes(self._job.home, self._job.packing))
            self._looked_s = time.time()

    @property
    def warm_s(self) -> int:
        """From when on it counts, in seconds since 1970."""
        return int(self._began_s + WARM_SHARE * max(0.0, self._looked_s - self._began_s))


def measure(topology: Topology, history: History, memory: Mapping[int, int], since_s: int) -> list[MeasuredPart]:
    """What the tasks of each component did since then.

    Raises:
        OuzelError: that is not known.
    """
    parts = []
    for part in topology.components:
        tasks = [task.id for task in topology.tasks() if task.component == part.name]
        rows = [history.rate((part.name, task), EXECUTE_COUNT, since_s) for task in tasks]
        cpu = [history.rate((part.name, task), CPU_TIME, since_s) for task in tasks]
        if None in rows or None in cpu:
            raise OuzelError(
                f"what '{part.name}' does is not known yet: it was over, or asked, too early; "
                "give it more rows, or ask again in half a minute"
            )
        rows_s, cores = sum(each or 0.0 for each in rows), sum(each or 0.0 for each in cpu) / 1e9
        held = max((memory[task] for task in tasks if task in memory), default=None)
        parts.append(MeasuredPart(part.name, part.is_spout, len(tasks), rows_s, cores, held))
    return parts


def read_memory_of_tasks(processes: Mapping[str, int]) -> dict[int, int]:
    """Resident bytes by task, of processes by name; of those that can be asked."""
    found = {}
    for name, pid in processes.items():
        kind, _, task = name.rpartition("-")
        if kind == "instance":
            with contextlib.suppress(OSError, ValueError, IndexError):
                found[int(task)] = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE_BYTES
    return found


def _list_processes(home: Path, packing: PackingPlan) -> dict[str, int]:
    """The processes of all containers, by name: names of instances hold their tasks."""
    found: dict[str, int] = {}
    for container in packing.containers:
        table = ProcessTable(home / f"container-{container.id}")
        with contextlib.suppress(OSError, ValueError):
            table.read()
        found |= {name: entry.pid for name, entry in table.entries.items() if table.is_running(name)}
    return found
