"""Submitting a topology, and starting it again: from where the run before was, if it keeps no state, else by a new run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.compiler.catalog import SECRETS
from ouzel.compiler.plan import scans_in
from ouzel.connectors import reads_of
from ouzel.errors import NotSupported, OuzelError, QueryError, SubmissionError, TopologyError
from ouzel.planner.epochs import check_path
from ouzel.planner.keeping import NOTHING
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Settings
from ouzel.planner.store_address import VARIABLES, is_store_address
from ouzel.planner.topology import Topology
from ouzel.runtime import warm
from ouzel.runtime.checkpoints.objects import StoreAway
from ouzel.runtime.cluster.local import check_start, claim_checkpoints, describe_tables, find_modules
from ouzel.runtime.cluster.submitted.attached import wait_for_processes
from ouzel.runtime.cluster.submitted.folder import About, TopologyFolder
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.process.job import PROGRAM, RunDescription, revision_name
from ouzel.runtime.protocol.cluster.submitted import (
    Condition,
    RefuseCommand,
    Submitted,
    Verb,
    find_missing_secrets,
)

if TYPE_CHECKING:
    from ouzel.runtime.cluster.origin import Origin

_LOOK_S = 0.02
_VARIABLE = re.compile(rb"\$\{env:([^}]{1,200})\}")
_servers: list[subprocess.Popen[bytes]] = []
"""Those that this process has started: they are not ours to wait for, and stay here so that nobody complains of that."""


def submit_topology(
    name: str, topology: Topology, packing: PackingPlan, directory: Path, about: About, origin: Origin | None = None
) -> tuple[Registry, Submitted]:
    """Submit a topology, and start it, from a savepoint if there is an origin; its registry and record.

    Raises:
        SubmissionError: there is one of that name, or nothing can be kept.
        OuzelError: it cannot be started.
    """
    check_can_be_kept(topology)
    check_start(packing)
    registry = Registry()
    with registry.changing(Verb.SUBMIT, name):
        folder = registry.folder(name)
        job = RunDescription(name, folder.submitted, directory.resolve(), topology, packing, detached=True)
        goes_on = not about.keeps_state
        try:
            folder.save(
                origin.describe(job) if origin else job, find_modules(topology), about, describe_tables(topology)
            )
            variables = find_variables(folder, topology.settings)
            run = _begin_at(origin, folder, name) if origin else ""
            record = registry.put(Submitted(name, run, 0, Condition.RUNNING, 0, goes_on, variables=variables))
            return registry, _start(registry, record)
        except BaseException as error:  # also Ctrl-C
            wait_for_processes(registry, name)
            folder.remove()
            registry.remove(name)
            if isinstance(error, OSError):
                raise _no_room(folder, error) from error
            raise


def _begin_at(origin: Origin, folder: TopologyFolder, name: str) -> str:
    """Make the run that is to go on from a savepoint, which every start from now on finds; its id."""
    job = folder.begin_run(name, 1)
    claim_checkpoints(job)
    origin.copy_results(folder.results_of(0))
    origin.begin(job)
    return job.id


def start_again(registry: Registry, record: Submitted) -> Submitted:
    """Start a submitted topology whose processes are gone, for who holds it; its record.

    Raises:
        SubmissionError: a secret that it needs is not in the environment.
        OuzelError: it cannot be started.
    """
    decision = find_missing_secrets(record, os.environ)
    if isinstance(decision, RefuseCommand):
        raise SubmissionError(decision.reason)
    try:
        return _start(registry, record)
    except OSError as error:
        raise _no_room(registry.folder(record.name), error) from error


def _start(registry: Registry, record: Submitted) -> Submitted:
    folder, starts = registry.folder(record.name), record.starts + 1
    is_interrupted = record.condition is Condition.RUNNING
    was_paused = is_interrupted and (folder.execution_state(record.run) or b"").startswith(b"paused")
    goes_on = record.goes_on and bool(record.run) and folder.run(record.run).is_dir()
    if goes_on:
        job = folder.continue_run(record.run, stays_paused=was_paused)
    else:
        job = folder.begin_run(record.name, starts)
        claim_checkpoints(job)
        if was_paused:
            folder.pause(job.id)
    begun = {"condition": Condition.RUNNING, "reason": "", "is_updating": False}
    record = registry.put(record, run=job.id, starts=starts, **begun)
    folder.forget_others(job.id)
    if not goes_on and not folder.about().resumes:
        folder.forget_results_before(starts)
    _launch(registry, record.name, job, folder)
    return record


def _launch(registry: Registry, name: str, job: RunDescription, folder: TopologyFolder) -> None:
    """Have a server take the topology over, and wait until it has.

    Raises:
        TopologyError: it cannot; says why.
    """
    keeper = {"home": str(registry.home), "name": name}
    command = {"home": str(job.home), "containers": job.containers, "tables": folder.tables(), "keeper": keeper}
    server = warm.take()
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write(json.dumps({"do": "schedule", "secrets": {}, **command}).encode() + b"\n")
        server.stdin.flush()
        while not registry.is_alive(name) and server.poll() is None:
            time.sleep(_LOOK_S)
        if server.poll() is not None:
            said = server.stdout.read().decode(errors="replace")
            raise TopologyError(said or f"the server of topology '{name}' has ended before it kept it")
    except BaseException as error:
        server.kill()
        if isinstance(error, OSError):
            raise TopologyError(f"the server of topology '{name}' has ended before it kept it") from error
        raise
    finally:
        for pipe in (server.stdin, server.stdout):
            pipe.close()
    _servers.append(server)


def check_can_be_kept(topology: Topology) -> None:
    """See that a topology can be kept.

    Raises:
        NotSupported: its state manager is another one than the files in OUZEL_HOME, or its epochs cannot be where it says.
    """
    check_path(topology.settings)
    manager = topology.settings.state_manager
    if manager != "local":
        raise NotSupported(
            f"a submitted topology is not supported with state.manager = '{manager}': names and records are kept in files so far",
            instead="leave it at local",
        )


def find_stateful(topology: Topology) -> tuple[str, ...]:
    """The components that lose something when all start again: those of the user, and those that rows which are kept come through.

    What a spout's rows leave in the tasks that they reach stands at the spout; so if any spout has such rows, all that is not a spout
    counts. Nothing is lost of a topology that keeps its state in epochs.
    """
    if topology.settings.has_epochs:
        return ()
    keeps = any(component.keeps != NOTHING for component in topology.components)
    return tuple(
        component.name
        for component in topology.components
        if component.user is not None or (keeps and (not component.is_spout or component.keeps != NOTHING))
    )


def has_resuming_source(topology: Topology) -> bool:
    """Whether a source keeps offsets between runs."""
    scans = scans_in(node for component in topology.components for node in component.chain)
    return any(reads_of(scan.connector, scan.table).resumes(dict(scan.options)) for scan in scans)


def find_variables(folder: TopologyFolder, settings: Settings, revision: int = 0) -> tuple[str, ...]:
    """The environment variables that the program's secrets are in, and those of a store of epochs that are set now.

    Raises:
        QueryError: one of them stood in the query itself, and in the environment of this process alone.
    """
    variables = {
        name.decode() for name in _VARIABLE.findall((folder.submitted / revision_name(PROGRAM, revision)).read_bytes())
    }
    if any(name.startswith(SECRETS) for name in variables):
        raise QueryError(
            "a secret stands in the query, and a start after this one would not have it",
            instead="write '${env:NAME}', and put it into the environment of each start",
        )
    if is_store_address(settings.checkpoint_path):
        variables.update(name for name in VARIABLES if name in os.environ)
    return tuple(sorted(variables))


def _no_room(folder: TopologyFolder, error: OSError) -> OuzelError:
    if isinstance(error, StoreAway):
        return TopologyError(f"{error.filename} cannot be read or written: {error.strerror}")
    return TopologyError(
        f"the topology cannot be kept in {folder.path}: {error.strerror}; make room there, or set OUZEL_HOME"
    )
