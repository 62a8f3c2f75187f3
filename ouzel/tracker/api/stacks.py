"""Where a process of a topology is in its code: it writes its own stacks into its log when it is sent a signal.

The signal is handled in C, so it is answered also by a process that hangs in a call. It goes by a pidfd to a process that the table of
processes names and the kernel knows by its time of start, so never to a stranger.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.process.starting import STACK_SIGNAL
from ouzel.tracker.api.models import ShellResponse
from ouzel.tracker.topologies.snapshot import TopologySnapshot

PATIENCE_S = 2.0
QUIET_S = 0.1
LOOK_S = 0.02
STACK_BYTES = 256 << 10


def find_process(snapshot: TopologySnapshot, instance: str) -> tuple[Path, str]:
    """The directory of an instance's container, and the name of its process.

    Raises:
        OuzelError: the topology has no such instance.
    """
    task = snapshot.find_task(instance)
    if task is None:
        raise OuzelError(f"topology '{snapshot.name}' has no instance '{instance}'; physicalplan lists all that it has")
    container = snapshot.job.packing.container_of(task.id).id
    return snapshot.home / f"container-{container}", f"instance-{task.id}"


def pid_of(snapshot: TopologySnapshot, instance: str) -> ShellResponse:
    """The process id of an instance.

    Raises:
        OuzelError: there is no such instance, or it does not run.
    """
    folder, process = find_process(snapshot, instance)
    return ShellResponse(command=f"pid of {process}", stdout=str(_running(folder, process)), stderr="")


def stacks_of(snapshot: TopologySnapshot, instance: str) -> ShellResponse:
    """The stacks of all threads of an instance.

    Raises:
        OuzelError: there is no such instance, it does not run, or it does not answer.
    """
    folder, process = find_process(snapshot, instance)
    pid = _running(folder, process)
    if not _has_handler(pid):
        raise OuzelError(f"instance '{instance}' is starting and cannot write its stacks yet; ask again")
    table = ProcessTable(folder)
    table.read()
    log = folder / f"{process}.log"
    before = log.stat().st_size if log.exists() else 0
    descriptor = table.find_running(process)
    if descriptor is None:
        raise OuzelError(f"instance '{instance}' does not run")
    try:
        signal.pidfd_send_signal(descriptor, STACK_SIGNAL)
    finally:
        os.close(descriptor)
    text = _await_text(log, before)
    if not text:
        raise OuzelError(f"instance '{instance}' has not written its stacks into {log.name} within {PATIENCE_S:g} s")
    return ShellResponse(command=f"stacks of process {pid}", stdout=text, stderr="")


def _running(folder: Path, process: str) -> int:
    table = ProcessTable(folder)
    table.read()
    if not table.is_running(process):
        raise OuzelError(f"{process} does not run now; it may be starting again")
    return table.entries[process].pid


def _has_handler(pid: int) -> bool:
    """Whether the process has a handler for the signal: it would end by it if not."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (STACK_SIGNAL - 1) & 1)
    return False


def _await_text(log: Path, offset: int) -> str:
    """What comes to a log from there on, until nothing more has come for a moment."""
    deadline, size, since = time.monotonic() + PATIENCE_S, offset, time.monotonic()
    while time.monotonic() < deadline:
        now = log.stat().st_size if log.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        elif size > offset and time.monotonic() - since > QUIET_S:
            break
        time.sleep(LOOK_S)
    if size <= offset:
        return ""
    with log.open("rb") as file:
        file.seek(offset)
        return file.read(STACK_BYTES).decode(errors="replace")
