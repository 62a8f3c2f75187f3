"""Submitting what is a job: a query, a topology, or what a program would start. And a handle on what was submitted."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ouzel import session
from ouzel.errors import QueryError
from ouzel.planner.epochs import with_epochs

if TYPE_CHECKING:
    from ouzel.planner.topology import Topology
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.cluster.submitted.folder import About
    from ouzel.runtime.cluster.submitted.update import Present

EXPLANATION_WIDTH = 120


def submit_job(job: session.Job, name: str) -> AttachedHandle:
    """Submit a job under a name; a handle on it.

    Raises:
        SubmissionError: there is one of that name.
        OuzelError: it cannot be started.
    """
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.cluster.submitted.launch import submit_topology

    if not job.topology.components:
        raise QueryError("the query asks for nothing that runs", instead="end it with SELECT ..., or with INSERT INTO")
    job = session.ready(replace(job, topology=with_epochs(job.topology)))
    registry, record = submit_topology(name, job.topology, job.packing, job.directory, _about(job))
    return AttachedHandle(registry, record)


def name_for(text: str) -> str:
    """A name for what stands in a file of this name, or has it as its own."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-") or "query"


def submit_program(path: Path, name: str) -> AttachedHandle:
    """Run a program as `python PROGRAM.py` does, up to where it starts a topology, and submit that; a handle on it.

    Raises:
        QueryError: it cannot be read, or starts none.
        OuzelError: what it starts cannot be submitted.
    """
    handles: list[AttachedHandle] = []

    def submit_instead(job: session.Job) -> NoReturn:
        handles.append(submit_job(job, name))
        raise _SubmittedNow

    _run_up_to(path, submit_instead)
    if not handles:
        raise QueryError(f"{path} starts no topology", instead="have it call ouzel.start(...) or ouzel.run(...)")
    return handles[0]


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
        if error.filename != str(path):
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
    from ouzel.runtime.cluster.submitted.folder import About, ResultShape
    from ouzel.runtime.cluster.submitted.launch import find_stateful, has_resuming_source
    from ouzel.runtime.process.usage import count_cores

    sink = job.program.result
    shape = sink and ResultShape(sink.columns or sink.input.schema, sink.input.retracts, tuple(sink.sorted_by))
    explanation = explain(job.program, job.topology, job.packing, (), EXPLANATION_WIDTH, False, count_cores())
    stateful, resumes = find_stateful(job.topology), has_resuming_source(job.topology)
    return About(explanation.rstrip(), shape or None, stateful, resumes)
