"""Revisions of a topology: how the next one is described, and its first start, which goes on from the newest epoch, whatever tasks noted.

Whoever starts it may die at any point: then the next start does all of it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ouzel.errors import StateError
from ouzel.planner.former import Former, compose
from ouzel.planner.packing import repack
from ouzel.planner.topology import Topology
from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.process.epochs import read_generation, write_generation
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.protocol.cluster.epochs import Generation

if TYPE_CHECKING:
    from ouzel.runtime.checkpoints.manifest import Manifest
    from ouzel.runtime.checkpoints.store import CheckpointStore


def describe_revision(
    former: RunDescription, topology: Topology, formers: Mapping[str, Former], revision: int, kept: int | None = None
) -> RunDescription:
    """The run with this topology, of this revision; by component `formers` says what it goes on from.

    They name components of the revision before, whose epochs it goes on from; where none has another name, epochs stay readable as they
    were. If the newest epoch is of an earlier revision, `kept`, it is read as the revision before would have read it.
    """
    if kept is not None and kept != former.revision:
        formers = compose(formers, dict(former.formers))
        described = replace(former, topology=topology, packing=repack(topology, former.packing), revision=revision)
        return replace(described, formers=tuple(formers.items()))
    plain = not (formers or former.formers)
    return replace(
        former,
        topology=topology,
        packing=repack(topology, former.packing),
        revision=revision,
        formers=tuple(formers.items()),
        formers_from=former.formers_from if plain else revision - 1,
    )


def has_begun(state: StateManager, job: RunDescription) -> bool:
    """Whether the tasks of the run have begun in its revision."""
    return job.revision == int(state.get(_path(job.id)) or 0)


def note_begun(state: StateManager, run: str, revision: int) -> None:
    """Note that they have, or begin now."""
    state.put(_path(run), str(revision).encode())


def go_back(job: RunDescription, state: StateManager, store: CheckpointStore) -> None:
    """Have all tasks go on from the newest epoch, or begin anew if there is none. Those of a later revision, which did not come to run, go.

    Raises:
        StateError: none can be read.
        OSError: there is no room, or the state manager or the store is away.
    """
    epoch = find_newest(job, store)
    store.remove_later(job.revision)
    before = read_generation(state, job.id)
    write_generation(state, job.id, Generation(before.number + 1, epoch.epoch if epoch else 0))


def find_newest(job: RunDescription, store: CheckpointStore) -> Manifest | None:
    """The newest epoch that a run can go on from; None if none was kept so far.

    Raises:
        StateError: there are some, and none can be read.
        OSError: the store is away.
    """
    epoch, problems = store.newest(revision=job.revision)
    if epoch is None and problems:
        raise StateError(
            f"no epoch can be read that topology '{job.topology.name}' could go on from: {'; '.join(problems)}"
        )
    return epoch


def _path(run: str) -> str:
    """Where the state manager of a run has the revision that its tasks have begun."""
    return f"/revisions/{run}"
