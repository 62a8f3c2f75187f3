"""The law for programs with event time: windows, running sums, and what is written beside the answer, at any batching and under faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ouzel import Stream
from ouzel.compiler.records import made_of
from ouzel.connectors.memory import TABLES
from ouzel.dsl.memory import Memory
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from tests.dsl.timed_programs import draw_timed, write_readings
from tests.effort import seeds
from tests.law.compare import plain_fold

PER_SEED = 6
"""Programs drawn for each seed."""


def program(seed: int, number: int, folder: Path) -> Stream[Any]:
    path = folder / f"readings{seed}.parquet"
    if not path.exists():
        write_readings(path, seed)
    return draw_timed(Random(1000 * seed + number), path)


def written(name: str) -> Counter[str]:
    """What the topology has written to a table."""
    frame = TABLES[name].result() if name in TABLES else None
    return (
        Counter(map(repr, plain_fold([frame], frame.columns).rows()))
        if frame is not None and frame.width
        else Counter()
    )


@pytest.mark.parametrize("number", range(PER_SEED))
def test_the_simulator_gives_and_writes_what_plain_python_does(number: int, tmp_path: Path) -> None:
    for seed in seeds():
        stream, random = program(seed, number, tmp_path), Random(seed)
        TABLES.clear()
        job = stream.job(parallelism=random.randint(1, 3), containers=random.randint(1, 2))
        faults = random.choices(SURVIVABLE, k=random.randint(0, 3))
        run = simulate(job.topology, job.packing, job.directory, seed=seed, faults=faults)
        rows = plain_fold(run.frames.values(), list(stream.record.schema.names)).iter_rows(named=True)
        plain = Memory({})
        meant = Counter(map(repr, plain.records(stream.producer)))
        assert Counter(repr(made_of(stream.record, row)) for row in rows) == meant, f"seed {seed}:\n{stream.explain()}"
        assert run.rows_late == 0
        for name, records in plain.written.items():
            expected = Counter(repr(one if isinstance(one, tuple) else (one,)) for one in records)
            assert written(name) == expected, f"seed {seed}: {name}"
