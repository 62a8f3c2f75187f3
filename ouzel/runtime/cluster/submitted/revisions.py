"""The first start of a revision of a topology: it goes on from the newest epoch, whatever tasks have noted since.

Whoever starts it may die at any point: then the next start does all of it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.errors import StateError
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.process.epochs import read_generation, write_generation
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.protocol.cluster.epochs import Generation

if TYPE_CHECKING:
    from ouzel.runtime.checkpoints.store import CheckpointStore


def has_begun(state: StateManager, job: RunDescription) -> bool:
    """Whether the tasks of the run have begun in its revision."""
    return job.revision == int(state.get(_path(job.id)) or 0)


def note_begun(state: StateManager, run: str, revision: int) -> None:
    """Note that they have, or begin now."""
    state.put(_path(run), str(revision).encode())


def go_back(job: RunDescription, state: StateManager, store: CheckpointStore) -> None:
    """Have all tasks go on from the newest epoch. Those of a later revision, which did not come to run, are removed.

    Raises:
        StateError: none can be read.
        OSError: there is no room, or the state manager or the store is away.
    """
    epoch, problems = store.newest(revision=job.revision)
    if epoch is None:
        raise StateError(
            f"no epoch can be read that topology '{job.topology.name}' could go on from: {'; '.join(problems)}"
        )
    store.remove_later(job.revision)
    before = read_generation(state, job.id)
    write_generation(state, job.id, Generation(before.number + 1, epoch.epoch))


def _path(run: str) -> str:
    """Where the state manager of a run has the revision that its tasks have begun."""
    return f"/revisions/{run}"
