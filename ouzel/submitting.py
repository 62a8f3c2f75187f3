"""Submitting what is a job: a query, a topology, or what a program would start. And a handle on what was submitted."""

from __future__ import annotations

import contextlib
import re
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ouzel import session
from ouzel.errors import QueryError, StateError, SubmissionError
from ouzel.planner.epochs import with_epochs
from ouzel.planner.meaning import with_code

if TYPE_CHECKING:
    from ouzel.planner.evolution import Evolution
    from ouzel.planner.former import Former
    from ouzel.planner.topology import Topology
    from ouzel.runtime.cluster.origin import Origin
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.cluster.submitted.folder import About
    from ouzel.runtime.cluster.submitted.update import Present

EXPLANATION_WIDTH = 120


def submit_job(job: session.Job, name: str, origin: Origin | None = None) -> AttachedHandle:
    """Submit a job under a name, which goes on from a savepoint if there is an origin; a handle on it.

    Raises:
        SubmissionError: there is one of that name.
        OuzelError: it cannot be started.
    """
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.cluster.submitted.launch import submit_topology

    session.refuse_nothing(job)
    job = session.ready(replace(job, topology=with_code(with_epochs(job.topology))))
    registry, record = submit_topology(name, job.topology, job.packing, job.directory, _about(job), origin)
    return AttachedHandle(registry, record)


def name_for(text: str) -> str:
    """A name for what stands in a file of this name, or has it as its own."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-") or "query"


@dataclass(frozen=True)
class PlannedUpdate:
    """Another query in place of a submitted topology's, which nobody has begun to put there.

    Attributes:
        name: by which the topology was submitted.
        evolution: what becomes of its state, its sources and its sinks.
        history: how much is read again to fill state, a line for each table.
    """

    name: str
    evolution: Evolution
    _present: Present
    _job: session.Job
    history: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """See `describe_changes`."""
        if self._present.begins_anew:
            return f"anew     all of it: topology '{self.name}' has kept no epoch so far, so nothing can be lost"
        told = describe_changes(self.evolution, self._present.topology, self._job.topology)
        return "\n".join([*self.history, *describe_start(self._present), told])

    def carry_out(self, *, allow_state_loss: bool = False) -> None:
        """Put it there.

        Raises:
            SubmissionError: state would be lost, and that is not allowed.
            OuzelError: it cannot be; the topology goes on as it was.
        """
        from ouzel.runtime.cluster.submitted.registry import Registry
        from ouzel.runtime.cluster.submitted.update import Next, replace_topology

        if self.evolution.losses and not allow_state_loss:
            raise SubmissionError(
                f"topology '{self.name}' is not updated, for the state of {name_losses(self.evolution)} would be lost; "
                f"{_advise_of_loss(self.evolution)}"
            )
        formers, noted = find_formers(self.evolution)
        if self._present.begins_anew:
            noted = {component.name: "" for component in self._job.topology.components}
        is_anew = self.evolution.is_result_anew or self._present.begins_anew
        filled = self.evolution.filled
        following = Next(self._job.topology, _about(self._job), formers, noted, is_anew, filled)
        replace_topology(Registry(), self._present, following)


def describe_changes(evolution: Evolution, old: Topology, new: Topology) -> str:
    """What becomes of each source, operator and sink, a line each; who has other tasks; and what is lost."""
    losses = len(evolution.losses)
    lost = f"the state of {losses} operator{'' if losses == 1 else 's'} is lost" if losses else "no state is lost"
    return "\n".join([*map(str, evolution.changes), *_other_tasks(old, new), lost])


def describe_start(present: Present) -> Iterator[str]:
    """From where a topology starts that does not run."""
    if present.newest is not None:
        made = datetime.fromtimestamp(present.newest.made_us / 1e6, UTC)
        yield f"starts   from epoch {present.newest.epoch:,}, made {made:%Y-%m-%d %H:%M:%S} UTC, for {present.standing}"


def _advise_of_loss(evolution: Evolution) -> str:
    allow = "add --allow-state-loss (in Python allow_state_loss=True), or submit the new query under another name"
    if not all(one.by_code for one in evolution.losses):
        return allow
    return (
        "if your functions give what they gave of all rows that have come so far, add --trust-functions (in Python trust_functions=True); "
        f"else {allow}"
    )


def _other_tasks(old: Topology, new: Topology) -> Iterator[str]:
    had = {one.name: one.parallelism for one in old.components}
    for component in new.components:
        before, now = had.get(component.name, component.parallelism), component.parallelism
        if before != now:
            yield f"tasks    {component.name}: it has {now:,} now, and had {before:,}"


def name_losses(evolution: Evolution) -> str:
    """The components whose state is lost."""
    return ", ".join(dict.fromkeys(f"'{one.component}'" for one in evolution.losses))


def find_formers(evolution: Evolution) -> tuple[Mapping[str, Former], dict[str, str]]:
    """By component, what it goes on from, and the former one whose notes its source or sink goes on with."""
    return evolution.formers, {name: one.notes for name, one in evolution.formers.items()}


def plan_update(
    job: session.Job, name: str, *, bootstrap: bool = False, trust_functions: bool = False
) -> PlannedUpdate:
    """See what becomes of a submitted topology when this job takes its place.

    Args:
        job: what it is to be.
        name: by which it was submitted.
        bootstrap: whether what cannot be kept is filled from history.
        trust_functions: whether functions whose code is another give what they gave of all rows that have come so far.

    Raises:
        SubmissionError: it cannot be updated now, or not with this job.
        OuzelError: the job cannot run, or would be told of rows that it has never seen.
    """
    from ouzel.explain.wording import expression_text
    from ouzel.planner.evolution import Evolution, compare_topologies
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.cluster.submitted.update import read_present

    session.refuse_nothing(job)
    present = read_present(Registry(), name)
    job = session.ready(_in_place_of(present, job))
    if bootstrap:
        _check_can_be_filled(present)
    if present.begins_anew:
        return PlannedUpdate(name, Evolution((), (), ()), present, job)
    evolution = compare_topologies(
        present.topology, job.topology, expression_text, fills=bootstrap, trusts=trust_functions
    )
    history = _find_history(present, job, evolution) if evolution.filled else ()
    return PlannedUpdate(name, evolution, present, job, history)


def _check_can_be_filled(present: Present) -> None:
    """See that history can be read up to an epoch of what the topology is now.

    Raises:
        SubmissionError: there is none.
    """
    if present.is_down and (present.newest is None or present.newest.revision != present.revision):
        raise SubmissionError(
            f"topology '{present.name}' has kept no epoch of the query that it has now, up to which history could be read; leave out "
            "--bootstrap"
        )


def _find_history(present: Present, job: session.Job, evolution: Evolution) -> tuple[str, ...]:
    """How much is read again, as far as the newest epoch tells.

    Raises:
        SubmissionError: a table cannot give it again.
    """
    from ouzel.runtime.checkpoints.store import CheckpointStore
    from ouzel.runtime.cluster.submitted.filling import Filling, check_history, describe_history
    from ouzel.runtime.cluster.submitted.registry import Registry

    check_history(job.topology, evolution.filled)
    registry = Registry()
    record = registry.find(present.name)
    if record is None:
        return ()
    store = CheckpointStore(registry.folder(present.name).find_checkpoints(record.run))
    formers, filled = evolution.formers, evolution.filled
    filling = Filling(present.topology, job.topology, present.packing, job.directory, formers, filled)
    with contextlib.suppress(StateError, OSError):  # an epoch is removed while it is read when others follow
        epoch, _ = store.newest(revision=present.revision)
        return tuple(describe_history(filling.find_history(store, epoch), job.topology)) if epoch else ()
    return ()


def _in_place_of(present: Present, job: session.Job) -> session.Job:
    """The job under the name of what it takes the place of, with its seed, and its epochs where they are.

    Raises:
        SubmissionError: its paths start in another folder, or it has its epochs in another one.
    """
    former = present.topology.settings
    if job.directory.resolve() != present.directory:
        raise SubmissionError(
            f"paths of the new query start in {job.directory.resolve()}, and those of topology '{present.name}' in {present.directory}; "
            "put the file there"
        )
    asked = job.settings.checkpoint_path or former.checkpoint_path
    if asked != former.checkpoint_path:
        raise SubmissionError(
            f"'checkpoint.path' = '{asked}': topology '{present.name}' has its epochs in another folder, and goes on from them; leave "
            "the setting as it was"
        )
    topology = with_code(with_epochs(replace(job.topology, name=present.topology.name)))
    settings = replace(topology.settings, seed=former.seed, checkpoint_path=asked)
    return replace(job, topology=replace(topology, settings=settings))


def load_program_job(path: Path) -> session.Job:
    """The job that a program would start: it runs as `python PROGRAM.py` does, up to there.

    Raises:
        QueryError: the program cannot be read, or starts none.
    """
    jobs: list[session.Job] = []

    def keep_instead(job: session.Job) -> NoReturn:
        jobs.append(job)
        raise _SubmittedNow

    _run_up_to(path, keep_instead)
    if not jobs:
        raise QueryError(
            f"{path} starts no topology", instead="have it call ouzel.start(...), ouzel.run(...) or ouzel.submit(...)"
        )
    return jobs[0]


class _SubmittedNow(BaseException):
    """Ends the program where it has started its topology. No Exception, for the program may catch those."""


def _run_up_to(path: Path, submit_instead: Callable[[session.Job], NoReturn]) -> None:
    arguments, places = sys.argv[:], sys.path[:]
    try:
        sys.argv, sys.path[:0] = [str(path)], [str(path.resolve().parent)]
        with session.starting_by(submit_instead):
            runpy.run_path(str(path), run_name="__main__")
    except _SubmittedNow:
        pass
    except OSError as error:
        if Path(str(error.filename)).resolve() != path.resolve():
            raise
        raise QueryError(f"cannot read {path}: {error.strerror}") from error
    finally:
        sys.argv, sys.path[:] = arguments, places


def update_parallelism(name: str, parallelism: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Give components of a submitted topology other numbers of tasks, while it keeps its state: by component, how many it had and has.

    Raises:
        SubmissionError: the topology does not run, or a component cannot have so many tasks; it is as it was.
        OuzelError: it cannot be started so; it was started again as it was, or the text says what to do.
    """
    from ouzel.planner.rescaling import with_parallelism
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.cluster.submitted.update import Next, read_present, replace_topology

    registry = Registry()
    present = read_present(registry, name)
    topology = with_parallelism(present.topology, parallelism)
    about = replace(present.about, explanation=_explain_anew(present, topology))
    replace_topology(registry, present, Next(topology, about))
    had = {component.name: component.parallelism for component in present.topology.components}
    return {one: (had[one], tasks) for one, tasks in parallelism.items() if had[one] != tasks}


def _explain_anew(present: Present, topology: Topology) -> str:
    """EXPLAIN of the topology: as it was, up to where topology and packing begin."""
    from ouzel.compiler.plan import Program
    from ouzel.explain import explain
    from ouzel.planner.packing import repack
    from ouzel.runtime.process.usage import count_cores

    packing, written = repack(topology, present.packing), present.about.explanation
    shown = explain(Program(()), topology, packing, ("topology", "packing"), EXPLANATION_WIDTH, False, count_cores())
    return (written[: max(0, written.find("\nTopology ") + 1)] + shown).rstrip()


def _about(job: session.Job) -> About:
    from ouzel.explain import explain
    from ouzel.explain.written import find_written
    from ouzel.runtime.cluster.submitted.folder import About, ResultShape
    from ouzel.runtime.cluster.submitted.launch import find_stateful, has_resuming_source
    from ouzel.runtime.process.usage import count_cores

    sink = job.program.result
    zone = job.settings.time_zone
    shape = sink and ResultShape(sink.columns or sink.input.schema, sink.input.retracts, tuple(sink.sorted_by), zone)
    explanation = explain(job.program, job.topology, job.packing, (), EXPLANATION_WIDTH, False, count_cores())
    stateful, resumes = find_stateful(job.topology), has_resuming_source(job.topology)
    return About(explanation.rstrip(), shape or None, stateful, resumes, find_written(job.topology, job.program.text))
