"""Stopping a submitted topology so that another one can go on from it: a savepoint of its last epoch."""

from __future__ import annotations

from pathlib import Path

from ouzel.errors import StateError, SubmissionError, TopologyError
from ouzel.planner.rescaling import check_keeps_epochs
from ouzel.planner.topology import Topology
from ouzel.runtime.checkpoints.objects import StoreLocation
from ouzel.runtime.checkpoints.savepoint import NOTES, RESULTS, Savepoint, check_is_free, write_savepoint
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.origin import RESULTS_TASK, save_notes
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.saved_program import write_program
from ouzel.runtime.cluster.submitted.verbs import check_last_epoch, stop_processes
from ouzel.runtime.process.job import load_program
from ouzel.runtime.process.kept_results import with_names
from ouzel.runtime.process.saved_results import results_at, write_results
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted, Verb


def stop_with_savepoint(registry: Registry, name: str, place: StoreLocation) -> Savepoint:
    """Stop a topology with a last epoch, and copy that to a place; of one that is stopped its newest epoch is copied.

    Raises:
        SubmissionError: it cannot be stopped so, and is as it was.
        OuzelError: it is stopped, or has ended otherwise, and there is no savepoint; says what to write.
    """
    with registry.changing(Verb.SAVEPOINT, name) as record:
        assert record is not None
        check_is_free(place)
        job = registry.folder(name).load(record.run)
        check_can_be_saved(load_program(registry.folder(name).run(record.run), job.revision))
        store = CheckpointStore(registry.folder(name).find_checkpoints(job.id))
        try:
            if registry.condition(record) is not Condition.STOPPED:
                _stop(registry, record, store)
            return _save(registry, record, store, place)
        except (StateError, TopologyError, OSError) as error:
            why = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            raise TopologyError(
                f"topology '{name}' is stopped, and there is no savepoint of it: {why}; write the command again when that is mended, "
                f"or have it go on with `ouzel start {name}`"
            ) from error


def check_can_be_saved(topology: Topology) -> None:
    """See that another topology could go on from what this one keeps.

    Raises:
        SubmissionError: none could.
    """
    check_keeps_epochs(topology, "that a savepoint could be made of")
    for component in topology.components:
        if not component.chain:
            raise SubmissionError(
                f"'{component.name}' is written by hand, and nobody can tell what of its state another topology could go on from; stop it "
                "without --savepoint, and start it again"
            )


def _stop(registry: Registry, record: Submitted, store: CheckpointStore) -> None:
    """Bring it to its end with a last epoch.

    Raises:
        SubmissionError: its processes do not end, or it has ended otherwise.
        TopologyError: its last epoch is not kept.
    """
    kept = max(store.epochs(), default=0)
    status = stop_processes(registry, record)
    record = registry.find(record.name) or record
    if record.condition is not Condition.STOPPED:
        why = f": {record.reason}" if record.reason else ""
        raise SubmissionError(f"topology '{record.name}' has {record.condition.value} before it could be stopped{why}")
    check_last_epoch(status, max(store.epochs(), default=0), kept)


def _save(registry: Registry, record: Submitted, store: CheckpointStore, place: StoreLocation) -> Savepoint:
    """Make the savepoint of a topology that does not run.

    Raises:
        StateError: its newest epoch cannot be used.
        OSError: there is no room.
    """
    topology = registry.folder(record.name)
    job = topology.load(record.run)
    epoch = max(store.epochs(), default=0)
    if not epoch or store.manifest(epoch).revision != job.revision:
        raise StateError("no epoch is kept of the query that it has now")

    def add(fresh: Path) -> tuple[str, ...]:
        write_program(fresh, topology.run(job.id), job.revision, registry.home)
        save_notes(job, fresh / NOTES)
        shape = topology.about().shape
        columns = shape.schema.names if shape else ()
        if shape:
            rows = (with_names(frame, columns) for frame in results_at(epoch, topology.results, job.results))
            write_results(fresh / RESULTS / RESULTS_TASK, rows)
        return tuple(columns)

    return write_savepoint(place, store, epoch, job.directory, add)
