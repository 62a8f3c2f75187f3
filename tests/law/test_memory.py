"""The law, on the memory engine: whatever the batching, the parallelism, the interleaving and the faults, the answer is the oracle's."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import TopologyError
from ouzel.runtime.operators.result_table import ResultTable
from ouzel.runtime.simulator.faults import SURVIVABLE, fail_sink, kill_stateful_task, lose_link, move_state
from ouzel.runtime.simulator.simulation import simulate
from ouzel.runtime.simulator.world import Fault, World
from ouzel.session import Job
from tests.effort import SEEDS_VARIABLE, USUAL, seeds
from tests.law.cases import CASES, LATE, ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import folded, loaded, memory_answer, run_to_end
from tests.law.oracle import oracle_answer


def replay(test: str, case: Case, seed: int) -> str:
    """The command that runs one seed of one case again; the test is of this file, or is named with its own."""
    path = test if "::" in test else f"test_memory.py::{test}"
    return f"replay: {SEEDS_VARIABLE}={seed} .venv/bin/pytest -m '' 'tests/law/{path}[{case.name}]'"


@pytest.mark.slow
@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_the_simulator_agrees_with_the_oracle(case: Case, inputs: Path) -> None:
    expected = oracle_answer(case, inputs)
    for seed in seeds():
        command = replay("test_the_simulator_agrees_with_the_oracle", case, seed)
        try:
            answer = memory_answer(case, inputs, seed)
        except Exception as error:
            error.add_note(command)
            raise
        assert (found := difference(expected, answer.rows)) == "", f"{found}\n{answer.story}\n{command}"
        assert answer.late == 0, command


@pytest.mark.slow
@pytest.mark.parametrize("case", LATE, ids=str)
def test_what_the_answer_lacks_was_counted_as_late(case: Case, inputs: Path) -> None:
    expected, counted = oracle_answer(case, inputs), 0
    keys = [name for name in expected.columns if name != "n"]
    for seed in seeds():
        answer = memory_answer(case, inputs, seed)
        both = expected.join(answer.rows, on=keys, how="full", suffix="_here", nulls_equal=True)
        lacking = (pl.col("n").fill_null(0) - pl.col("n_here").fill_null(0)).alias("lacking")
        gaps = both.select(lacking)["lacking"].to_list()
        command = replay("test_what_the_answer_lacks_was_counted_as_late", case, seed)
        assert min(gaps) >= 0, command
        assert sum(gaps) == answer.late, command
        counted += answer.late
    assert counted > 0 or len(seeds()) < USUAL, "no seed made a row late: the test tests nothing"


@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_the_memory_engine_agrees_with_the_oracle(case: Case, inputs: Path) -> None:
    job = loaded(case, inputs, (("parallelism", "2"), ("batch.rows", "200")))
    frames, status = run_to_end(job, "memory")
    expected = oracle_answer(case, inputs)
    assert (found := difference(expected, folded(job, frames))) == "", found
    table = ResultTable(job.program.sinks[-1].schema)
    for frame in frames:
        table.apply(frame)
    assert (found := difference(expected, table.frame())) == "", (
        f"the result table differs from the plain fold: {found}"
    )
    assert (status.rows_bad, status.rows_failed, status.rows_late) == (0, 0, 0)


WINDOWS = next(case for case in CASES if case.name == "tumble_by_key")


def wrong_seed(inputs: Path, faults: list[Fault], *pairs: tuple[str, str]) -> int | None:
    """The first seed under which these faults make the answer wrong."""
    job = loaded(WINDOWS, inputs, (("parallelism", "2"), ("containers", "2"), *pairs))
    expected = oracle_answer(WINDOWS, inputs)
    for seed in range(20):
        run = simulate(job.topology, job.packing, inputs, seed=seed, faults=faults)
        if difference(expected, folded(job, run.frames.values())):
            return seed
    return None


@pytest.mark.slow
def test_without_acks_lost_links_lose_rows(inputs: Path) -> None:
    lossy = wrong_seed(inputs, [lose_link] * 6, ("delivery", "at-most-once"))
    assert lossy is not None, "the faults hit nothing: the law tests nothing"
    assert wrong_seed(inputs, [lose_link] * 6) is None


def test_counts_that_die_with_their_task_show(inputs: Path) -> None:
    assert wrong_seed(inputs, [kill_stateful_task] * 3) is not None, "no fault hit a task with state"


@pytest.mark.slow
def test_state_does_move(inputs: Path) -> None:
    assert wrong_seed(inputs, [move_state] * 12) is None
    job = loaded(WINDOWS, inputs, (("parallelism", "2"),))
    runs = [simulate(job.topology, job.packing, inputs, seed=seed, faults=[move_state] * 12) for seed in range(10)]
    stories = " ".join(fault for run in runs for fault in run.faults)
    assert stories.count("moved") > 5, stories
    assert "snapshotted" in stories


def failure(job: Job, inputs: Path, seed: int, *faults: Fault) -> str:
    """What a simulated run failed with; empty if it ended."""
    try:
        simulate(job.topology, job.packing, inputs, seed=seed, faults=faults)
    except TopologyError as error:
        return str(error).partition(": ")[2]
    return ""


def test_a_sink_that_refuses_ends_the_topology(inputs: Path) -> None:
    job = loaded(WINDOWS, inputs, (("parallelism", "2"),))
    failures = {failure(job, inputs, seed, fail_sink) for seed in range(20)}
    assert failures == {"", "no space left"}, "now and then all has been written when it refuses"


def test_the_simulator_knows_when_tasks_have_something_to_do(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    do_one_thing = World.step

    def check(world: World) -> bool:
        for host in world.hosts.values():
            assert host.due_ms in (None, host.find_due()), f"{host.task}: nobody said that this has changed"
        return do_one_thing(world)

    job = loaded(WINDOWS, inputs, (("parallelism", "2"), ("containers", "2")))
    monkeypatch.setattr(World, "step", check)
    for seed in range(4):
        simulate(job.topology, job.packing, inputs, seed=seed, faults=SURVIVABLE * 3)


@pytest.mark.slow
def test_faults_happen(inputs: Path) -> None:
    missing = {"lost", "stream manager", "killed", "stalled", "sink", "paused"}
    for seed in range(60):
        if missing:
            missing -= {kind for kind in missing if kind in memory_answer(WINDOWS, inputs, seed).story}
    assert not missing
