"""The local scheduler: containers are process trees on this machine. And `start_heron`, which runs a topology there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.compiler.catalog import SECRETS, QueryWarning
from ouzel.compiler.plan import Scan, Sink, sinks_in
from ouzel.connectors import BUILT_IN
from ouzel.descriptors import open_standard_descriptors
from ouzel.errors import TopologyError
from ouzel.planner.packing.crowding import describe_crowding
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Component, Topology
from ouzel.runtime import warm
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.cluster.state import check_state
from ouzel.runtime.process.job import (
    MASTER_CONTAINER,
    RunDescription,
    check_room,
    create_home,
    refuse_while_loading,
    remove_abandoned,
    remove_home,
)
from ouzel.runtime.process.limits import check_limits
from ouzel.runtime.process.usage import count_cores

if TYPE_CHECKING:
    from ouzel.runtime.cluster.origin import Origin

_END_S = 10.0
_NAME_BYTES = 100


class LocalScheduler:
    """Starts and ends the containers of one topology through a warm server process (server.py).

    It has the events of Heron's IScheduler (Fu et al., ICDE 2017, section IV) but `onUpdate`: an update is another start, from an epoch.
    """

    def __init__(self) -> None:
        self._job: RunDescription | None = None
        self._server = warm.take()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._server.pid

    def initialize(self, job: RunDescription) -> None:
        """Called once before anything else."""
        self._job = job

    def on_schedule(self, plan: PackingPlan) -> None:
        """Start the containers of the plan, and the topology master's."""
        assert self._job is not None
        containers = [MASTER_CONTAINER, *(container.id for container in plan.containers)]
        secrets = {name: value for name, value in os.environ.items() if name.startswith(SECRETS)}
        tables = describe_tables(self._job.topology)
        self._tell(do="schedule", home=str(self._job.home), containers=containers, tables=tables, secrets=secrets)

    def on_kill(self) -> None:
        """End all containers, and the server."""
        with contextlib.suppress(TopologyError):
            self._tell(do="kill")
        try:
            self._server.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        for pipe in filter(None, (self._server.stdin, self._server.stdout)):
            with contextlib.suppress(OSError):  # what it was told last it has not read
                pipe.close()

    def on_restart(self, container: int | None = None) -> None:
        """End one container, or all of them, and start it again."""
        assert self._job is not None
        for number in self._job.containers if container is None else [container]:
            self._tell(do="restart", container=number)

    def close(self) -> None:
        """Let go of everything; containers run on."""
        if self._server.stdin is not None:
            self._server.stdin.close()

    def has_ended(self) -> bool:
        """Whether the server, and with it everything that it started, is gone."""
        return self._server.poll() is not None

    def last_words(self) -> str:
        """Why everything ended, if it was not meant to; empty if nothing is known."""
        assert self._server.stdout is not None
        return self._server.stdout.read().decode(errors="replace")

    def _tell(self, **command: object) -> None:
        assert self._server.stdin is not None
        try:
            self._server.stdin.write(json.dumps(command).encode() + b"\n")
            self._server.stdin.flush()
        except (OSError, ValueError) as error:  # ValueError: the pipe is closed, as it is once all is ended
            raise TopologyError("the local scheduler's server has ended; start the topology anew") from error


def start_heron(
    topology: Topology,
    packing: PackingPlan,
    directory: Path,
    *,
    tcp: bool = False,
    detached: bool = False,
    origin: Origin | None = None,
) -> HeronHandle:
    """Run a topology in processes of this machine.

    Args:
        topology: what to run.
        packing: which task lives in which container.
        directory: where relative paths of tables start.
        tcp: stream managers talk over TCP instead of Unix sockets.
        detached: the topology outlives this process.
        origin: what it goes on from; None if it begins anew.

    Raises:
        TopologyError: it cannot be started.
        StateError: what it goes on from cannot be used.
    """
    parent = check_start(packing)
    remove_abandoned(parent)
    try:
        home = create_home(parent)
    except OSError as error:
        raise _no_room(parent, error) from error
    job = RunDescription(name_run(topology.name, home), home, directory.resolve(), topology, packing)
    job = replace(job, tcp=tcp, detached=detached, returning=_find_returning(topology))
    job = origin.describe(job) if origin else job
    scheduler: LocalScheduler | None = None
    try:
        check_state(topology.settings.state_manager)
        claim_checkpoints(job)
        if origin:
            origin.begin(job)
        job.save(find_modules(topology))
        scheduler = LocalScheduler()
        scheduler.initialize(job)
        handle = HeronHandle(job, scheduler, before=origin.results() if origin else ())
        scheduler.on_schedule(packing)
    except BaseException as error:  # also Ctrl-C: a notebook keeps the error, and with it the server's input open
        if scheduler is not None:
            scheduler.on_kill()
        remove_home(home)
        if isinstance(error, OSError):
            raise _no_room(parent, error) from error
        raise
    return handle


def _find_returning(topology: Topology) -> str:
    """The component whose rows the client takes; empty if there is none."""
    ends = ((component.name, sinks_in(component.chain[-1:])) for component in topology.components)
    return next((name for name, sinks in ends if any(sink.traits.returned for sink in sinks)), "")


def claim_checkpoints(job: RunDescription) -> None:
    """Have the folder of a run's epochs belong to it, if it outlives the run: the job directory is of this run alone.

    Raises:
        StateError: it holds epochs of another.
        TopologyError: the store that it is in does not answer.
        OSError: it cannot be made.
    """
    if job.leaves_epochs:
        from ouzel.runtime.checkpoints.objects import StoreAway
        from ouzel.runtime.checkpoints.store import CheckpointStore

        try:
            CheckpointStore(job.checkpoints).claim(job.topology.name, job.id)
        except StoreAway as error:
            raise TopologyError(f"no epochs can be kept in {job.checkpoints}: {error.strerror}") from error


def check_start(packing: PackingPlan) -> Path:
    """See that a topology can be started here; the temporary directory, for its sockets.

    Raises:
        TopologyError: it cannot.
    """
    open_standard_descriptors()
    refuse_while_loading("a topology")
    if crowding := describe_crowding(packing, count_cores()):
        warnings.warn(crowding, QueryWarning, stacklevel=3)
    parent = Path(tempfile.gettempdir())
    check_room(parent)
    check_limits(packing)
    return parent


def name_run(name: str, home: Path) -> str:
    """The unique name of a run of a topology of this name: one that a file can have, whatever that is."""
    plain = re.sub(r"[^\w.-]+", "-", name).encode()[:_NAME_BYTES].decode(errors="ignore")
    return f"{plain}-{home.name.removeprefix('ouzel-')}"


def _no_room(place: Path, error: OSError) -> TopologyError:
    return TopologyError(f"no job directory can be made in {place}: {error.strerror}; make room there, or set TMPDIR")


def describe_tables(topology: Topology) -> list[dict[str, Any]]:
    """The tables of a topology, for the server to import what reads and writes them."""
    return [
        {"connector": table.connector, "reads": isinstance(table, Scan), "options": dict(table.options)}
        for table in _list_tables(topology.components)
        if table.connector in BUILT_IN
    ]


def find_modules(topology: Topology) -> list[str]:
    """Where tasks find the modules that this process has found; nothing if they need none of them."""
    foreign = any(table.connector not in BUILT_IN for table in _list_tables(topology.components))
    if not (foreign or topology.has_functions or any(part.user is not None for part in topology.components)):
        return []
    return [os.path.abspath(place) for place in sys.path if isinstance(place, str)]


def _list_tables(components: Iterable[Component]) -> list[Scan | Sink]:
    return [node for component in components for node in component.chain if isinstance(node, Scan | Sink)]
