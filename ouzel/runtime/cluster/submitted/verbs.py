"""What commands do with a submitted topology. Each holds its name while it changes it, so that no two change it at once."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ouzel.errors import OuzelError, SubmissionError, TopologyError
from ouzel.planner.settings import StateLoss
from ouzel.runtime.cluster.calls import watch
from ouzel.runtime.cluster.client import Heard
from ouzel.runtime.cluster.submitted.attached import END_S, AttachedHandle, wait_for_processes
from ouzel.runtime.cluster.submitted.control import SOCKET, tell_server
from ouzel.runtime.cluster.submitted.launch import start_again
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.master_client import MasterFinder
from ouzel.runtime.process.topology_master import STATUS_FILE
from ouzel.runtime.protocol.cluster.submitted import ALIVE, Condition, Submitted, Verb
from ouzel.runtime.run import Status
from ouzel.runtime.wire import wire_pb2

_FIND_S = 0.2
_LOOKS = 50
_TASK = re.compile(r"(?P<component>.+)\[(?P<index>\d+)\]")
_CONTAINER = re.compile(r"container-(?P<number>\d+)")
_PEER = struct.Struct("3i")


def list_submitted(registry: Registry) -> list[tuple[Submitted, Condition]]:
    """All records that can be read, by name, and how each topology stands; Registry.find_damaged tells of the others."""
    records = []
    for name in registry.names():
        with contextlib.suppress(SubmissionError):
            records.append(registry.find(name))
    return [registry.find_standing(record) for record in records if record is not None]


def find_status(registry: Registry, record: Submitted) -> Status | None:
    """What the topology master says of it, or said at its end; None if it says nothing, or nothing yet."""
    folder = registry.folder(record.name)
    if not registry.is_alive(record.name):
        with contextlib.suppress(OSError):
            told = (folder.run(record.run) / STATUS_FILE).read_bytes()
            return Heard().status(wire_pb2.TopologyStatus.FromString(told))
        return None
    job, heard = folder.load(record.run), Heard()
    finder = MasterFinder(job)
    try:
        for _ in range(_LOOKS):
            address = finder.find(_FIND_S)
            for message in () if address is None else watch(address, job.credentials):
                if message is None:
                    break
                if (status := heard.status(message)) is not None:
                    return status
            if not registry.is_alive(record.name):
                break
        return None
    finally:
        finder.close()


def pause_topology(registry: Registry, name: str, timeout_s: float) -> None:
    """Bring it to rest.

    Raises:
        OuzelError: it cannot be paused, or did not come to rest, and runs on.
    """
    with registry.changing(Verb.PAUSE, name) as record, _handle_on(registry, record) as handle:
        handle.pause(timeout_s)


def resume_topology(registry: Registry, name: str) -> None:
    """Have it go on.

    Raises:
        SubmissionError: it cannot.
    """
    with registry.changing(Verb.RESUME, name) as record, _handle_on(registry, record) as handle:
        handle.resume()


def stop_topology(registry: Registry, name: str) -> Status | None:
    """Stop it cleanly, and wait for that; its last status, None if its processes were gone.

    Raises:
        OuzelError: it cannot be stopped.
    """
    with registry.changing(Verb.STOP, name) as record:
        assert record is not None
        if registry.condition(record) is Condition.INTERRUPTED:
            try:
                registry.put(record, condition=Condition.STOPPED)
            except OSError as error:
                raise TopologyError(
                    f"topology '{name}' does not run, and that it is stopped cannot be noted in {registry.home}: {error.strerror}; "
                    "make room there"
                ) from error
            return None
        return stop_processes(registry, record)


def stop_processes(registry: Registry, record: Submitted) -> Status:
    """Bring a topology to its end, and wait for its processes; its last status.

    Raises:
        SubmissionError: its processes do not end.
        OuzelError: it cannot be stopped.
    """
    with _handle_on(registry, record) as handle:
        status = handle.stop()
    await_processes(registry, record.name)
    return status


def check_last_epoch(status: Status, newest: int, before: int) -> None:
    """See that a topology has kept an epoch as it came to its end.

    Raises:
        TopologyError: its newest epoch is still that of before.
    """
    if newest <= before:
        failed = [event.text for event in status.events if event.kind == "epoch-failed"]
        raise TopologyError(failed[-1] if failed else "its processes have ended before its last epoch was kept")


def kill_topology(registry: Registry, name: str) -> None:
    """End it at once, and remove it with all that is kept of it.

    Raises:
        SubmissionError: there is none, or its processes do not end.
    """
    with registry.changing(Verb.KILL, name) as record:
        assert record is not None
        end_processes(registry, record)
        registry.folder(name).remove()
        registry.remove(name)


def start_topology(registry: Registry, name: str) -> Submitted:
    """Start it again; its record.

    Raises:
        OuzelError: it cannot be started.
    """
    with registry.changing(Verb.START, name) as record:
        assert record is not None
        return start_again(registry, record)


def start_all(registry: Registry) -> Iterator[tuple[str, str]]:
    """Start all that should run and does not; the name of each, and why it could not be started, or an empty text."""
    for record, condition in list_submitted(registry):
        if record.is_to_be_brought_back(condition):
            try:
                start_topology(registry, record.name)
                yield record.name, ""
            except OuzelError as error:
                yield record.name, str(error)
    yield from registry.find_damaged().items()


def restart_topology(registry: Registry, name: str, target: str = "") -> None:
    """Start it again at once, or only a component, a task or a container of it.

    Raises:
        SubmissionError: it has no such part, or the part keeps what its end would lose.
        OuzelError: it cannot be started.
    """
    with registry.changing(Verb.RESTART, name) as record:
        assert record is not None
        if not target:
            end_processes(registry, record)
            start_again(registry, registry.find(name) or record)
            return
        folder = registry.folder(name)
        job = folder.load(record.run)
        parts = find_parts(job, target)
        _refuse_loss(name, job, parts, frozenset(folder.about().keeps_state))
        for part in parts:
            process = {"process": part.process} if part.process else {}
            tell_server(job.home, job.token(), do="restart", container=part.container, **process)


@dataclass(frozen=True)
class TopologyPart:
    """A process of a topology, or a whole container if `process` is empty; the components that run in it, and what users call it."""

    container: int
    process: str
    components: tuple[str, ...]
    title: str


def find_parts(job: RunDescription, target: str = "") -> list[TopologyPart]:
    """The processes that run a component, a task (`counts[0]`), a container (`container-1`), or all.

    Raises:
        SubmissionError: there is nothing of that name.
    """
    if found := _CONTAINER.fullmatch(target):
        number = int(found["number"])
        if number in job.containers:
            return [TopologyPart(number, "", tuple(task.component for task in job.tasks_in(number)), target)]
    task_of = _TASK.fullmatch(target)
    component, index = (task_of["component"], int(task_of["index"])) if task_of else (target, None)
    parts = [
        TopologyPart(container.id, f"instance-{task.id}", (task.component,), f"{task.component}[{task.index}]")
        for container in job.packing.containers
        for task in job.tasks_in(container.id)
        if not target or (task.component == component and index in (None, task.index))
    ]
    if parts:
        return parts
    names = ", ".join(part.name for part in job.topology.components)
    raise SubmissionError(
        f"the topology has no part '{target}'; write a component ({names}), a task of one as {job.topology.components[0].name}[0], "
        "or a container as container-1"
    )


def find_logs(registry: Registry, record: Submitted, target: str = "") -> list[tuple[str, Path]]:
    """The log files of a topology, or of a part of it, each with its title.

    Raises:
        SubmissionError: there is no such part.
    """
    folder = registry.folder(record.name)
    home, job = folder.run(record.run), folder.load(record.run)
    tasks = {(part.container, part.process): part.title for part in find_parts(job)}
    if not target or _CONTAINER.fullmatch(target):
        containers = [target] if target else sorted(path.name for path in home.glob("container-*"))
        find_parts(job, target)
        paths = [path for container in containers for path in sorted((home / container).glob("*.log"))]
        paths += [] if target else [home / "server.log"]
    else:
        paths = [home / f"container-{part.container}" / f"{part.process}.log" for part in find_parts(job, target)]
    return [(_title(path, home, tasks), path) for path in paths]


def _title(path: Path, home: Path, tasks: dict[tuple[int, str], str]) -> str:
    if path.parent == home:
        return "server"
    container = int(path.parent.name.rpartition("-")[2])
    return tasks.get((container, path.stem), f"container-{container} {path.stem}")


def _refuse_loss(name: str, job: RunDescription, parts: list[TopologyPart], keeps_state: frozenset[str]) -> None:
    lost = sorted({component for part in parts for component in part.components} & keeps_state)
    if lost and job.topology.settings.state_lost is not StateLoss.ACCEPT:
        raise SubmissionError(
            f"{', '.join(lost)} may keep state, which would be lost; write `ouzel restart {name}`, which starts all of it by a new run"
        )


@contextlib.contextmanager
def _handle_on(registry: Registry, record: Submitted | None) -> Iterator[AttachedHandle]:
    assert record is not None
    handle = AttachedHandle(registry, record, takes_results=False)
    try:
        yield handle
    finally:
        handle.let_go()


def end_processes(registry: Registry, record: Submitted) -> None:
    """End all processes, if there are any."""
    if registry.condition(record) not in ALIVE:
        return
    home = registry.folder(record.name).run(record.run)
    with contextlib.suppress(TopologyError):
        job = registry.folder(record.name).load(record.run)
        home = job.home
        with contextlib.suppress(SubmissionError):
            tell_server(home, job.token(), do="end")
            if wait_for_processes(registry, record.name):
                return
    _kill_server(home)
    await_processes(registry, record.name)


def _kill_server(home: Path) -> None:
    """Kill a server that does not answer: the one that listens there, which the kernel knows, and with it go all that it started."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(home / SOCKET))
        pid, _, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
        pidfd = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        finally:
            os.close(pidfd)


def await_processes(registry: Registry, name: str) -> None:
    """Return when all processes of a topology have ended.

    Raises:
        SubmissionError: they do not.
    """
    if not wait_for_processes(registry, name):
        raise SubmissionError(
            f"the processes of topology '{name}' have not ended within {END_S:g} s; write `ouzel kill {name}`"
        )
