"""Jobs that go on from a savepoint: what becomes of its state, said before anything is started, and the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ouzel import session
from ouzel.errors import StateError, SubmissionError
from ouzel.planner.epochs import with_epochs
from ouzel.planner.evolution import Evolution, StateFate, compare_topologies
from ouzel.planner.meaning import with_code
from ouzel.planner.rescaling import check_keeps_epochs
from ouzel.submitting import describe_changes, find_formers, name_for, name_losses, submit_job

if TYPE_CHECKING:
    from ouzel.planner.topology import Topology
    from ouzel.runtime.checkpoints.objects import StoreLocation
    from ouzel.runtime.checkpoints.savepoint import Savepoint
    from ouzel.runtime.cluster.origin import Origin
    from ouzel.runtime.cluster.submitted.attached import AttachedHandle
    from ouzel.runtime.run import Handle


@dataclass(frozen=True)
class PlannedStart:
    """A job that is to go on from a savepoint, of which nothing has been started.

    Attributes:
        job: what is to run.
        evolution: what becomes of the savepoint's state, its sources and its sinks.
    """

    job: session.Job
    evolution: Evolution
    _savepoint: Savepoint
    _saved: Topology

    @property
    def text(self) -> str:
        """See `describe_changes`."""
        return describe_changes(self.evolution, self._saved, self.job.topology)

    def check_losses(self) -> None:
        """See that nothing is lost.

        Raises:
            SubmissionError: something is.
        """
        if self.evolution.losses:
            raise SubmissionError(
                f"nothing is started from {self._savepoint.place}, for the state of {name_losses(self.evolution)} would be lost; add "
                "--allow-state-loss (in Python allow_state_loss=True), or leave the query as it was"
            )

    def start(self) -> Handle:
        """Start it; it ends with this process.

        Raises:
            OuzelError: it cannot be started.
        """
        from ouzel.runtime.cluster.local import start_heron

        return start_heron(self.job.topology, self.job.packing, self.job.directory, origin=self._origin())

    def submit(self, name: str = "") -> AttachedHandle:
        """Submit it.

        Raises:
            SubmissionError: there is one of that name.
            OuzelError: it cannot be started.
        """
        return submit_job(self.job, name or name_for(self.job.topology.name), self._origin())

    def _origin(self) -> Origin:
        from ouzel.runtime.cluster.origin import Origin

        formers, noted = find_formers(self.evolution)
        sink = self.job.program.result
        names = (sink.columns or sink.input.schema).names if sink and not self.evolution.is_result_anew else None
        return Origin(self._savepoint, formers, noted, None if names is None else tuple(names))


def plan_start(job: session.Job, place: StoreLocation) -> PlannedStart:
    """See what becomes of a savepoint when a job goes on from it. Every byte of it is read.

    Raises:
        StateError: it is none, or is damaged, or was written by somebody else.
        SubmissionError: the job cannot go on from it.
        OuzelError: the job cannot run, or would be told of rows that it has never seen.
    """
    from ouzel.explain.wording import expression_text
    from ouzel.runtime.checkpoints.savepoint import Savepoint
    from ouzel.runtime.cluster.submitted.registry import Registry
    from ouzel.runtime.cluster.submitted.saved_program import read_program

    session.refuse_nothing(job)
    savepoint = Savepoint(place)
    if problems := savepoint.verify():
        raise StateError(f"savepoint {savepoint.place} cannot be used: {problems[0]}")
    savepoint = savepoint.fetch()
    saved = read_program(savepoint, Registry().home)
    job = session.ready(_in_place_of(savepoint, saved, job))
    evolution = compare_topologies(saved, job.topology, expression_text)
    if not any(one.fate is StateFate.KEPT for one in evolution.sources):
        raise SubmissionError(
            f"the query reads no table that topology '{savepoint.note.topology}' read, of which savepoint {savepoint.place} is, so it "
            "cannot go on from there; leave out --from"
        )
    return PlannedStart(job, evolution, savepoint, saved)


def _in_place_of(savepoint: Savepoint, saved: Topology, job: session.Job) -> session.Job:
    """The job with the savepoint's seed, and with epochs.

    Raises:
        SubmissionError: its paths start in another folder, or it can have no epochs.
    """
    if str(job.directory.resolve()) != savepoint.note.directory:
        raise SubmissionError(
            f"paths of the query start in {job.directory.resolve()}, and those of savepoint {savepoint.place} in "
            f"{savepoint.note.directory}; put the file there"
        )
    topology = with_code(with_epochs(job.topology))
    check_keeps_epochs(topology, "in which it could go on from a savepoint")
    settings = replace(topology.settings, seed=saved.settings.seed)
    return replace(job, topology=replace(topology, settings=settings))
