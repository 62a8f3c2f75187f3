"""How one submitted topology stands, put together from its record, its files, and what its topology master says."""

from __future__ import annotations

import contextlib
import pwd
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.planner.topology import Task
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.process.job import RunDescription, load_description
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.runtime.protocol.cluster.submitted import ALIVE, Condition, Submitted
from ouzel.runtime.run import RunState, Status

CLUSTER, ENVIRON = "local", "default"
"""All that is submitted in one OUZEL_HOME is one cluster with one environment; its role is the user whose folder that is."""


@dataclass(frozen=True)
class TopologySnapshot:
    """One topology at one time.

    Attributes:
        record: what is recorded of it.
        condition: how it stands.
        job: what runs, in outline.
        home: the job directory.
        user: whose it is.
        host: the machine that it is on.
        status: the last that its topology master said; None if it has not said anything.
        processes: by container, its processes.
        running: by container, the names of those that run.
        silence_s: seconds since its topology master was heard of; None if nobody listens to it.
        problems: what of its files cannot be read, a sentence each.
    """

    record: Submitted
    condition: Condition
    job: RunDescription
    home: Path
    user: str
    host: str
    status: Status | None = None
    processes: Mapping[int, Mapping[str, ProcessEntry]] = field(default_factory=dict)
    running: Mapping[int, frozenset[str]] = field(default_factory=dict)
    silence_s: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """By which it was submitted."""
        return self.record.name

    @property
    def is_alive(self) -> bool:
        """Whether it has processes."""
        return self.condition in ALIVE

    @property
    def has_physical_plan(self) -> bool:
        """Whether all its containers have reported to its topology master."""
        return self.is_alive and self.status is not None and self.status.state is not RunState.STARTING

    def is_running(self, container: int, process: str) -> bool:
        """Whether that process of a container runs."""
        return process in self.running.get(container, ())

    def instance_id(self, task: Task) -> str:
        """The name of a task, as Heron makes it."""
        return f"container_{self.job.packing.container_of(task.id).id}_{task.component}_{task.id}"

    def find_task(self, instance: str) -> Task | None:
        """The task of that name."""
        return next((task for task in self.job.topology.tasks() if self.instance_id(task) == instance), None)


def find_user(path: Path) -> str:
    """Whose a file or folder is: a name, or a number of somebody without one."""
    uid = path.stat().st_uid
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return str(uid)


def take_snapshot(
    registry: Registry,
    record: Submitted,
    status: Status | None,
    silence_s: float | None = None,
    *,
    read: Callable[[Path], RunDescription] = load_description,
    with_processes: bool = True,
) -> TopologySnapshot:
    """How a topology stands now; `status` is what its topology master said, `silence_s` seconds ago. `read` reads its description.

    Of a thousand processes it takes tens of milliseconds to see which run: who does not ask that leaves them out.

    Raises:
        OuzelError: its files are gone, or not what was submitted.
    """
    folder = registry.folder(record.name)
    home = folder.run(record.run)
    job = folder.load(record.run, read)
    try:
        user = find_user(home)
    except OSError as error:
        raise OuzelError(f"the job directory of '{record.name}' cannot be read: {error.strerror}") from error
    problems: list[str] = []
    wanted = job.containers if with_processes else ()
    tables = {container: _read_table(home / f"container-{container}", problems) for container in wanted}
    return TopologySnapshot(
        *registry.find_standing(record),
        job,
        home,
        user,
        socket.gethostname(),
        status,
        {container: dict(table.entries) for container, table in tables.items()},
        {container: frozenset(_list_running(table)) for container, table in tables.items()},
        silence_s,
        tuple(problems),
    )


def _read_table(folder: Path, problems: list[str]) -> ProcessTable:
    table = ProcessTable(folder)
    try:
        table.read()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        told = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        problems.append(
            f"which processes of {folder.name} run cannot be read in {table.path}: {told}; none is shown as running"
        )
        return ProcessTable(folder)
    return table


def _list_running(table: ProcessTable) -> list[str]:
    return [name for name in table.entries if table.is_running(name)]
