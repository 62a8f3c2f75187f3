"""The law with updates: whatever components get other numbers of tasks, and whatever dies meanwhile, the answer is the oracle's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.effort import seeds
from tests.law.cases import ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import rescaled_answer
from tests.law.oracle import oracle_answer
from tests.law.test_memory import replay


@pytest.mark.slow
@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_other_numbers_of_tasks_give_the_same_answer(case: Case, inputs: Path) -> None:
    expected, counted = oracle_answer(case, inputs), set()
    for seed in seeds():
        command = replay("test_rescale.py::test_other_numbers_of_tasks_give_the_same_answer", case, seed)
        try:
            answer = rescaled_answer(case, inputs, seed)
        except Exception as error:
            error.add_note(command)
            raise
        assert (found := difference(expected, answer.rows)) == "", f"{found}\n{answer.story}\n{command}"
        assert answer.late == 0, command
        read, acked, bad = answer.sources
        assert read == acked + bad, f"{answer.sources}: {answer.story}\n{command}"
        counted.add(read)
    assert len(counted) == 1, f"sources have read {counted} rows"
