"""Ouzel's engines as the law sees them: a case in, the table that its changes add up to out."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import polars as pl

from ouzel.errors import OuzelError
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.runtime.run import Handle, RunState, Status
from ouzel.runtime.simulator.faults import (
    SURVIVABLE,
    SURVIVABLE_WITH_EPOCHS,
    abandon_epoch,
    lose_state_after_epoch,
    move_state,
    rescale_some,
)
from ouzel.runtime.simulator.simulation import simulate
from ouzel.runtime.simulator.world import Fault
from ouzel.session import Job, connector_traits, load, start, with_settings
from tests.law.cases import Case
from tests.law.compare import plain_fold

Pairs = tuple[tuple[str, str], ...]

RUN_LIMIT_S = 120

MOVES = 6
"""So often state is moved besides, under every fifth seed: amid other faults, and each time from what the times before have left."""

NOT_PLANNED_BY = {"containers", "batch.rows", "checkpoint.interval.ms"}
"""Settings that no plan depends on: tasks read them, or what packs the tasks."""


@dataclass(frozen=True)
class Answer:
    """The folded table, the rows counted as late, what happened on the way, and the rows that sources read, acked and found bad."""

    rows: pl.DataFrame
    late: int
    story: str
    sources: tuple[int, int, int] = (0, 0, 0)


@cache
def loaded(case: Case, directory: Path, pairs: Pairs) -> Job:
    """The case, planned with these settings; it is compiled once for all of them, and planned once for those that plans depend on."""
    if not pairs:
        return load(case.write(directory))
    planned_by = tuple((name, value) for name, value in pairs if name not in NOT_PLANNED_BY)
    job = loaded(case, directory, planned_by if planned_by != pairs else ())
    settings = job.settings.with_values(pairs)
    if planned_by != pairs:
        job = with_settings(job, settings)
        return replace(job, packing=pack(job.topology))
    filters = frozenset(name for name, connector in connector_traits(directory).items() if connector.filters)
    topology = plan_topology(job.program, settings, job.topology.name, filters)
    return replace(job, topology=topology, packing=pack(topology))


def random_shape(case: Case, random: Random) -> Pairs:
    """How many tasks and containers; a case that chooses for itself keeps its choice."""
    if case.family == "hints":
        return ()
    return (("parallelism", str(random.randint(1, 3))), ("containers", str(random.randint(1, 2))))


def memory_answer(case: Case, directory: Path, seed: int) -> Answer:
    """The simulator's answer: tasks, batches, order, delays and faults all drawn from `seed`."""
    random = Random(seed)
    pairs = random_shape(case, random)
    job = loaded(case, directory, pairs)
    faults = random.choices(SURVIVABLE, k=random.randint(0, 4)) + [move_state] * (MOVES if seed % 5 == 1 else 0)
    run = simulate(job.topology, job.packing, directory, seed=seed, faults=faults)
    return Answer(folded(job, run.frames.values()), run.rows_late, f"{dict(pairs)}, faults: {run.faults}")


EPOCHS = (("checkpoint.interval.ms", "1000"),)
"""Where these are set the simulator takes epochs, at moments that it draws."""


def faults_with_epochs(random: Random) -> list[Fault]:
    """Faults where there are epochs: at least one death of a task with state once an epoch is complete."""
    faults = random.choices(SURVIVABLE_WITH_EPOCHS, k=random.randint(0, 4))
    return faults + [lose_state_after_epoch] * random.randint(1, 3) + [abandon_epoch] * random.randint(0, 1)


def epochs_answer(case: Case, directory: Path, seed: int) -> Answer:
    """The simulator's answer, with epochs, and among all faults deaths of tasks with state: other ones for each case."""
    seed = zlib.crc32(f"{case.name} {seed}".encode())
    random = Random(seed)
    pairs = random_shape(case, random) + EPOCHS
    job = loaded(case, directory, pairs)
    run = simulate(job.topology, job.packing, directory, seed=seed, faults=faults_with_epochs(random))
    return Answer(folded(job, run.frames.values()), run.rows_late, f"{dict(pairs)}, faults: {run.faults}", run.sources)


def rescaled_answer(case: Case, directory: Path, seed: int) -> Answer:
    """As `epochs_answer`, and two or three times some components get other numbers of tasks."""
    seed = zlib.crc32(f"rescaled {case.name} {seed}".encode())
    random = Random(seed)
    pairs = random_shape(case, random) + EPOCHS
    job = loaded(case, directory, pairs)
    faults = random.choices(SURVIVABLE_WITH_EPOCHS, k=random.randint(0, 3)) + [rescale_some] * random.randint(2, 3)
    run = simulate(job.topology, job.packing, directory, seed=seed, faults=faults)
    return Answer(folded(job, run.frames.values()), run.rows_late, f"{dict(pairs)}, faults: {run.faults}", run.sources)


def heron_answer(case: Case, directory: Path, pairs: Pairs) -> Answer:
    """The answer of real processes.

    Raises:
        OuzelError: the run failed, or did not end in time.
    """
    job = loaded(case, directory, pairs)
    frames, status = run_to_end(job, "heron")
    return Answer(folded(job, frames), status.rows_late, f"{dict(pairs)}, {status}")


def _leave(_: Handle) -> None:
    """Nothing comes between."""


def run_to_end(
    job: Job, engine: str, limit_s: float = RUN_LIMIT_S, disturb: Callable[[Handle], object] = _leave
) -> tuple[list[pl.DataFrame], Status]:
    """All frames of the result and the last status, of a run that is disturbed once it has started; the limit counts from then on.

    Raises:
        OuzelError: the run failed, or did not end in time.
    """
    handle = start(job, engine)
    try:
        disturb(handle)
        frames, deadline = [], time.monotonic() + limit_s
        while not handle.wait(1.0):
            frames += handle.results()
            if time.monotonic() > deadline:
                raise OuzelError(f"the run has not ended after {limit_s} s: {handle.status()}")
        frames += handle.results()
    finally:
        status = handle.stop()
    if status.state is not RunState.FINISHED:
        raise OuzelError(f"the run ended as {status.state.value}: {status.reason}")
    return frames, status


def folded(job: Job, frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """What the changes add up to, with the columns of the trailing SELECT."""
    return plain_fold(frames, list(job.program.sinks[-1].schema.names))
