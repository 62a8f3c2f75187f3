"""The law, on the memory engine: whatever the batching, the parallelism, the interleaving and the faults, the answer is the oracle's."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.law.cases import LATE, ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import SEEDS_VARIABLE, memory_answer, seeds
from tests.law.oracle import oracle_answer


def replay(test: str, case: Case, seed: int) -> str:
    """The command that runs one seed of one case again."""
    return f"replay: {SEEDS_VARIABLE}={seed} .venv/bin/pytest 'tests/law/test_memory.py::{test}[{case.name}]'"


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
    assert counted > 0, "no seed made a row late: the test tests nothing"
