"""The law for rows that are published with epochs: whatever dies, a table that is written has each row once, each epoch as a whole."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.errors import OuzelError
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.runtime.checkpoints.staged import StagedWriter, _Frames
from ouzel.runtime.simulator.host import Host
from ouzel.runtime.simulator.simulation import simulate
from ouzel.runtime.simulator.world import World
from ouzel.session import connector_traits
from tests.effort import few_seeds
from tests.law.cases import CASES, ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import faults_with_epochs, folded, loaded, random_shape
from tests.law.oracle import oracle_answer
from tests.law.shelf import shelved, written
from tests.law.test_memory import replay


def published_answer(case: Case, directory: Path, seed: int) -> tuple[pl.DataFrame, str]:
    """What the shelf holds at the end, with batches, order, deaths and epochs drawn from the seed."""
    seed = zlib.crc32(f"{case.name} {seed}".encode())
    random = Random(seed)
    job = loaded(case, directory, ())
    pairs = (*random_shape(case, random), ("delivery", "effectively-once"))
    *others, last = job.program.sinks
    program = replace(job.program, sinks=(*others, written(last)))
    filters = frozenset(name for name, connector in connector_traits(directory).items() if connector.filters)
    topology = plan_topology(program, job.settings.with_values(pairs), job.topology.name, filters)
    if topology.settings.containers > len(topology.tasks()):
        topology = replace(topology, settings=replace(topology.settings, containers=1))
    with shelved() as shelf:
        run = simulate(topology, pack(topology), directory, seed=seed, faults=faults_with_epochs(random))
    return folded(
        replace(job, program=program), shelf.frames
    ), f"{dict(pairs)}, faults: {run.faults}, shown: {shelf.shown}"


@pytest.mark.slow
@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_each_row_is_published_once(case: Case, inputs: Path) -> None:
    expected = oracle_answer(case, inputs)
    for seed in few_seeds():
        command = replay("test_effectively_once.py::test_each_row_is_published_once", case, seed)
        try:
            rows, story = published_answer(case, inputs, seed)
        except Exception as error:
            error.add_note(command)
            raise
        assert (found := difference(expected, rows)) == "", f"{found}\n{story}\n{command}"


def keep_what_came_after(writer: StagedWriter, epoch: int, generation: int) -> None:
    """A roll back leaves what is staged as it is."""
    writer._folder.mkdir(parents=True, exist_ok=True)
    writer._begin()


def publish_at_the_mark(writer: StagedWriter, epoch: int, kept: int) -> None:
    """The rows of an epoch are published before it is kept."""
    SEAL(writer, epoch, kept)
    for sealed, path in writer._list_sealed().items():
        writer._check(path)
        writer._publisher.publish(sealed, list(FRAMES(path)))
        path.unlink()


SEAL, FRAMES = StagedWriter.mark, _Frames

PLANTED: dict[str, tuple[type, str, Callable[..., object] | property]] = {
    "what came after an epoch stays": (StagedWriter, "roll_back", keep_what_came_after),
    "an epoch is published before it is kept": (StagedWriter, "mark", publish_at_the_mark),
    "a topology ends before its last rows are published": (World, "_is_published", property(lambda world: True)),
    "a task is snapshotted before it rests": (Host, "may_be_taken", property(lambda host: host.takes_in > 0)),
}
"""What, where and how."""

LOOKED_AT = [case for case in CASES if case.name in ("told_early_and_corrected", "global_aggregate")]


def is_wrong(case: Case, inputs: Path, seed: int) -> bool:
    """Whether the answer is, or the run fails."""
    try:
        return bool(difference(oracle_answer(case, inputs), published_answer(case, inputs, seed)[0]))
    except (OuzelError, AssertionError):
        return True


@pytest.mark.whole
@pytest.mark.parametrize("planted", PLANTED)
def test_what_breaks_it_is_found(planted: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, how = PLANTED[planted]
    monkeypatch.setattr(owner, name, how)
    assert any(is_wrong(case, inputs, seed) for seed in range(60) for case in LOOKED_AT)
