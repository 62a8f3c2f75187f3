"""A join that reads a small table whole without being told to says what it said: the law's own joins, their tables taken for small."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.compiler.plan import Program, SideJoin, walk
from ouzel.job import mark_sides
from ouzel.planner import small_tables
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.planner.small_tables import read_small_tables_whole
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from tests.effort import seeds
from tests.law.cases import ON_TIME, Case, compiled
from tests.law.compare import difference
from tests.law.engines import folded, loaded
from tests.law.oracle import oracle_answer


def sides_of(program: Program) -> int:
    return sum(isinstance(node, SideJoin) for sink in program.sinks for node in walk(sink))


def with_all_small(program: Program) -> Program:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_tables, "_is_endless", lambda node: True)
        return read_small_tables_whole(program, lambda scan: 1)


def is_changed(case: Case) -> bool:
    """Whether the case has a join that would read one of its tables whole."""
    return sides_of(with_all_small(compiled(case))) > sides_of(compiled(case))


FAMILIES = ("joins", "subqueries", "folders")
CHANGED = tuple(case for case in ON_TIME if case.family in FAMILIES and is_changed(case))


@pytest.mark.slow
@pytest.mark.parametrize("case", CHANGED, ids=str)
def test_a_small_table_that_is_read_whole_changes_no_answer(case: Case, inputs: Path) -> None:
    job = loaded(case, inputs, (("parallelism", "2"),))
    program = with_all_small(job.program)
    topology = plan_topology(program, job.settings, job.topology.name, frozenset({"file"}))
    small = mark_sides(replace(job, program=program, topology=topology, packing=pack(topology)))
    for seed in seeds():
        run = simulate(small.topology, small.packing, inputs, seed=seed, faults=SURVIVABLE)
        found = difference(oracle_answer(case, inputs), folded(small, run.frames.values()))
        assert found == "", f"seed {seed}: {found}\n{run.faults}"


def test_there_are_such_joins_and_in_no_other_family() -> None:
    assert len(CHANGED) > 2, [case.name for case in CHANGED]
    assert [case.name for case in ON_TIME if case.family not in (*FAMILIES, "hints") and is_changed(case)] == []
