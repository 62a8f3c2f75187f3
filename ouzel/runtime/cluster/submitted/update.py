"""Replacing what a submitted topology is while it keeps its state: it stops with a last epoch, and starts from that as another one.

What it is to be is written beside what it is. Then one file is replaced, the description of its run, and whoever starts it next starts the
one or the other, from the newest epoch: so wherever this ends, `ouzel start` goes on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ouzel.errors import OuzelError, StateError, SubmissionError, TopologyError
from ouzel.planner.epochs import check_epochs
from ouzel.planner.former import Former
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.refused import check_nodes
from ouzel.planner.rescaling import check_keeps_epochs
from ouzel.planner.topology import Topology
from ouzel.runtime.checkpoints.manifest import Manifest
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.local import check_start, describe_tables, find_modules
from ouzel.runtime.cluster.submitted.attached import AttachedHandle
from ouzel.runtime.cluster.submitted.filling import Filling
from ouzel.runtime.cluster.submitted.folder import About, TopologyFolder
from ouzel.runtime.cluster.submitted.launch import check_can_be_kept, find_variables, start_again
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.revisions import describe_revision, find_newest
from ouzel.runtime.cluster.submitted.verbs import check_last_epoch, end_processes, stop_processes
from ouzel.runtime.process.job import RunDescription, load_program
from ouzel.runtime.protocol.cluster.submitted import (
    ALIVE,
    Condition,
    RefuseCommand,
    Submitted,
    Verb,
    find_missing_secrets,
)
from ouzel.runtime.protocol.cluster.updating import UpdateMachine, UpdateOutcome, UpdateStep
from ouzel.runtime.run import RunState, Status

START_S = 60.0
"""How long it is waited until all tasks of an updated topology have begun."""


@dataclass(frozen=True)
class Present:
    """What a submitted topology is now.

    Attributes:
        name: by which it was submitted.
        topology: all of it, with what its components compute.
        packing: which of its tasks lives in which container.
        about: what commands show of it.
        revision: how often it has been updated.
        directory: where relative paths of its tables start.
        condition: how it stands.
        newest: of one that does not run, the epoch that it goes on from; None if it has kept none, and of one that runs.
    """

    name: str
    topology: Topology
    packing: PackingPlan
    about: About
    revision: int
    directory: Path
    condition: Condition = Condition.RUNNING
    newest: Manifest | None = None

    @property
    def is_down(self) -> bool:
        """Whether it does not run: it starts with the update."""
        return self.condition not in ALIVE

    @property
    def standing(self) -> str:
        """How it stands, in words."""
        verb = (
            "has" if self.condition is Condition.FAILED else "was" if self.condition is Condition.INTERRUPTED else "is"
        )
        return f"it {verb} {self.condition.value}"

    @property
    def begins_anew(self) -> bool:
        """Whether there is nothing that it could go on from."""
        return self.is_down and self.newest is None


@dataclass(frozen=True)
class Next:
    """What it is to be.

    Attributes:
        topology: all of it.
        about: what commands show of it.
        formers: by component, what it goes on from; one that is not in it goes on from the component of its name, as it was.
        noted: by component, the former one whose notes its source or sink goes on with; empty for none. None if all stay as they are.
        is_result_anew: whether what was answered before is no part of the result any more.
        filled: the components whose state is filled from history.
    """

    topology: Topology
    about: About
    formers: Mapping[str, Former] = field(default_factory=dict)
    noted: Mapping[str, str] | None = None
    is_result_anew: bool = False
    filled: frozenset[str] = frozenset()


def read_present(registry: Registry, name: str) -> Present:
    """What a topology is that can be updated now.

    Raises:
        SubmissionError: there is none of that name, or it is paused, stopping or finished, or it keeps no epochs.
        TopologyError: what it defines cannot be loaded here, or its epochs cannot be read.
        StateError: it is down, and none of its epochs can be used.
    """
    record, condition = registry.look_up(Verb.UPDATE, name)
    folder = registry.folder(name)
    job = folder.load(record.run)
    topology = load_program(folder.run(record.run), job.revision)
    check_keeps_epochs(topology)
    newest = None if condition in ALIVE else _find_newest(folder, job)
    return Present(name, topology, job.packing, folder.about(), job.revision, job.directory, condition, newest)


def _find_newest(folder: TopologyFolder, job: RunDescription) -> Manifest | None:
    """The epoch that a topology which does not run goes on from.

    Raises:
        StateError: there are some, and none can be used.
        TopologyError: they cannot be read.
    """
    try:
        return find_newest(job, CheckpointStore(folder.find_checkpoints(job.id)))
    except OSError as error:
        raise TopologyError(f"the epochs of the topology cannot be read: {error.strerror}") from error


def replace_topology(registry: Registry, present: Present, following: Next) -> Submitted:
    """Have a topology go on as another one, from an epoch that is taken now, or from its newest one if it does not run; its record.

    Raises:
        SubmissionError: it is not what `present` says any more, cannot be updated now, or no last epoch could be kept.
        OuzelError: it cannot be started so; it was started again as it was.
    """
    _check(following.topology)
    with registry.changing(Verb.UPDATE, present.name) as record:
        assert record is not None
        folder = registry.folder(record.name)
        job = folder.load(record.run)
        if (job.revision, registry.condition(record)) != (present.revision, present.condition):
            raise SubmissionError(
                f"topology '{record.name}' was changed by another command meanwhile; write this one again"
            )
        update = _Update(registry, record, folder, job, present)
        if following.filled:
            update.filling = Filling(
                present.topology, following.topology, job.packing, job.directory, following.formers, following.filled
            )
        update.prepare(following)
        return update.carry_out()


def _check(topology: Topology) -> None:
    check_can_be_kept(topology)
    check_nodes(topology)
    check_keeps_epochs(topology)
    check_epochs(topology.components, topology.settings)


class _Update:
    """One update of a topology that nobody else changes meanwhile."""

    def __init__(
        self, registry: Registry, record: Submitted, folder: TopologyFolder, job: RunDescription, present: Present
    ) -> None:
        self._registry, self._record, self._folder, self._job = registry, record, folder, job
        self._name, self._next, self._present, self._former = record.name, job, present, record
        self._variables = self._former_variables = record.variables
        self._condition = record.condition
        self.filling: Filling | None = None

    def prepare(self, following: Next) -> None:
        """Write what it is to be. Nothing has changed when this fails.

        Raises:
            OuzelError: it cannot be packed, pickled or written.
        """
        topology, former = following.topology, self._job
        # Between the two revisions lies that of the epoch that is filled.
        revision = former.revision + (2 if following.filled else 1)
        newest = self._present.newest
        kept = newest.revision if newest else None
        described = describe_revision(former, topology, following.formers, revision, kept)
        check_start(described.packing)
        self._next = replace(
            described,
            results=self._results_of(following),
            noted=former.noted if following.noted is None else self._find_notes(following.noted),
        )
        try:
            self._folder.save_revision(self._next, find_modules(topology), following.about, describe_tables(topology))
            self._variables = find_variables(self._folder, topology.settings, self._next.revision)
            decision = find_missing_secrets(replace(self._record, variables=self._variables), os.environ)
            if isinstance(decision, RefuseCommand):
                raise SubmissionError(decision.reason)
        except BaseException as error:
            self._forget_next()
            if isinstance(error, OSError):
                raise TopologyError(
                    f"topology '{self._name}' is not updated, and {self._as_it_was}: the update cannot be kept in {self._folder.path}: "
                    f"{error.strerror}; make room there"
                ) from error
            raise

    def _results_of(self, following: Next) -> Path | None:
        if following.about.shape and (following.is_result_anew or not self._job.results):
            return self._folder.results_of(self._record.starts + 1)
        return self._job.results

    def _find_notes(self, noted: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Under which name each component finds its notes: that of the former one, or one that nobody has had."""
        known = dict(self._job.noted)
        fresh = f" {self._job.revision + 1}"
        return tuple((name, known.get(former, former) if former else name + fresh) for name, former in noted.items())

    def carry_out(self) -> Submitted:
        """Stop it if it runs, replace what it is, and start it.

        Raises:
            OuzelError: it is not updated; says how it stands now.
        """
        machine, cause = UpdateMachine(), None
        if self._present.is_down:
            machine.on_down()
        else:
            store = CheckpointStore(self._folder.find_checkpoints(self._job.id))
            kept = max(store.epochs(), default=0)
            self._record = self._registry.put(self._record, is_updating=True)
            status = self._stop()
            machine.on_stopped(self._condition, _why_not_kept(store, kept, status))
        while (step := machine.to_do) is not None:
            try:
                self._do(step)
            except (OuzelError, OSError) as error:
                cause = cause or error
                machine.on_failed(str(error))
            else:
                machine.on_done()
        if machine.outcome is UpdateOutcome.UPDATED:
            return self._settle()
        raise self._refusal(machine) from cause

    def _do(self, step: UpdateStep) -> None:
        match step:
            case UpdateStep.REPLACE:
                if self.filling is not None:
                    self._fill(self.filling)
                self._folder.begin_revision(self._next)
            case UpdateStep.START:
                self._record = start_again(self._registry, replace(self._record, variables=self._variables))
            case UpdateStep.AWAIT:
                self._await_tasks(self._record)
            case UpdateStep.END:
                end_processes(self._registry, self._registry.find(self._name) or self._record)
            case UpdateStep.RESTORE:
                if self.filling is not None and self._own_results is not None:
                    shutil.rmtree(self._own_results, ignore_errors=True)
                self._folder.begin_revision(self._job)
                if self._present.is_down:
                    self._stay_down()
            case UpdateStep.START_FORMER:
                self._start_as_it_was()
            case UpdateStep.STOP:
                raise AssertionError("it is stopped once, before all other steps")

    def _settle(self) -> Submitted:
        """It is updated: what only the former revision needs goes."""
        self._folder.forget_revisions(self._next.revision)
        if self._next.results != self._job.results:
            self._folder.forget_results_before(self._record.starts)
        return self._record

    def _refusal(self, machine: UpdateMachine) -> OuzelError:
        if machine.outcome is UpdateOutcome.REFUSED:
            self._registry.put(self._record, is_updating=False)
            told = f": {self._record.reason}" if self._record.reason else ""
            return SubmissionError(
                f"topology '{self._name}' has {self._condition.value} before it could be updated{told}"
            )
        if machine.outcome is UpdateOutcome.DOWN:
            return TopologyError(
                f"topology '{self._name}' is not updated: {machine.why}; and it could not be started again as it was: {machine.why_down}; "
                f"when that is mended, bring it back with `ouzel start {self._name}`"
            )
        return TopologyError(f"topology '{self._name}' is not updated, and {self._as_it_was}: {machine.why}")

    @property
    def _as_it_was(self) -> str:
        return f"{self._present.standing}, as before" if self._present.is_down else "goes on as it was"

    def _fill(self, filling: Filling) -> None:
        """Write the epoch that the next revision goes on from.

        Raises:
            OuzelError: it cannot be filled.
        """
        store = CheckpointStore(self._folder.find_checkpoints(self._job.id))
        epoch, problems = store.newest(revision=self._job.revision)
        if epoch is None:
            raise StateError(f"no epoch can be read up to which history could be: {'; '.join(problems)}")
        filling.fill(store, epoch, self._next.revision - 1, self._own_results)

    @property
    def _own_results(self) -> Path | None:
        """The folder of the next revision's results, if it does not go on with that of this one."""
        return None if self._next.results == self._job.results else self._next.results

    def _stop(self) -> Status:
        """Bring it to its end, and have it count as interrupted until it is started.

        Raises:
            OuzelError: its processes do not end, or it cannot be stopped.
        """
        status = stop_processes(self._registry, self._record)
        self._record = self._registry.find(self._name) or self._record
        self._condition = self._record.condition
        if self._condition is Condition.STOPPED:
            self._record = self._registry.put(self._record, condition=Condition.RUNNING)
        return status

    def _await_tasks(self, record: Submitted) -> None:
        """Return when every task has begun.

        Raises:
            TopologyError: one cannot.
        """
        handle = AttachedHandle(self._registry, record, takes_results=False)
        try:
            status = handle.fresh_status(START_S)
        finally:
            handle.let_go()
        if status.state in (RunState.FAILED, RunState.STOPPED):
            raise TopologyError(status.reason)

    def _start_as_it_was(self) -> None:
        present = self._registry.find(self._name) or self._record
        start_again(self._registry, replace(present, variables=self._former_variables))
        self._forget_next()

    def _stay_down(self) -> None:
        """It stands as it did before the update."""
        record = self._registry.find(self._name) or self._record
        if record.starts != self._former.starts:
            former = self._former
            self._registry.put(record, condition=former.condition, reason=former.reason, variables=former.variables)
        self._forget_next()

    def _forget_next(self) -> None:
        with contextlib.suppress(OuzelError, OSError):
            self._folder.forget_revisions(self._job.revision)


def _why_not_kept(store: CheckpointStore, before: int, status: Status) -> str:
    """Why a topology kept no epoch as it came to its end; empty if it did."""
    try:
        check_last_epoch(status, max(store.epochs(), default=0), before)
    except (TopologyError, OSError) as error:
        return str(error)
    return ""
