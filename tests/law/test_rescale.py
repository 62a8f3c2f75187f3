"""The law with updates: whatever components get other numbers of tasks, and whatever dies meanwhile, the answer is the oracle's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ouzel.errors import OuzelError
from ouzel.runtime.checkpoints import redistribute
from ouzel.runtime.simulator.epochs import Epoch
from ouzel.runtime.state.context import KeyGroups, StateContext
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from tests.effort import few_seeds
from tests.law.cases import CASES, ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import rescaled_answer
from tests.law.oracle import oracle_answer
from tests.law.test_memory import replay


@pytest.mark.slow
@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_other_numbers_of_tasks_give_the_same_answer(case: Case, inputs: Path) -> None:
    expected, counted = oracle_answer(case, inputs), set()
    for seed in few_seeds():
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


def own_alone(epoch: Epoch, files: redistribute.TaskFiles) -> list[TaskSnapshot]:
    """Only the first task is remembered."""
    (task,) = (one for one in epoch.tasks if (one.component, one.index) == (files.component, 0))
    return list(epoch.chains[task.id])


def with_latest_time(task: redistribute.Task, parallelism: int, former: list[TaskSnapshot]) -> TaskSnapshot:
    """A task stands where the last of the former ones did."""
    last = former[-1]
    return TaskSnapshot(task.component, task.index, (), last.places, last.time_us, last.counts)


PLANTED: dict[str, tuple[object, str, Callable[..., object], int]] = {
    "all tasks go on from what the first one kept": (Epoch, "read_task", own_alone, 20),
    "places of one former task alone are known": (redistribute, "_together", with_latest_time, 20),
    "each task takes all keys": (StateContext, "_own", lambda state, part: part, 20),
    "tasks hold other key groups than they are sent": (
        redistribute, "key_groups_of", lambda task, tasks: KeyGroups(0, 1024 // (task + 1)), 20,
    ),
}  # fmt: skip
"""What, where, how, and within how many seeds it is found."""

LOOKED_AT = [case for case in CASES if case.name in ("told_early_and_corrected", "tumble_by_key")]


def first_wrong(inputs: Path, limit: int) -> int | None:
    """The first seed under which the answer is wrong, or the run fails."""
    for seed in range(limit):
        for case in LOOKED_AT:
            try:
                answer = rescaled_answer(case, inputs, seed)
                if difference(oracle_answer(case, inputs), answer.rows) or answer.sources[0] != answer.sources[1]:
                    return seed
            except (OuzelError, AssertionError):
                return seed
    return None


@pytest.mark.whole
@pytest.mark.parametrize("planted", PLANTED)
def test_what_breaks_an_update_is_found(planted: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, how, limit = PLANTED[planted]
    monkeypatch.setattr(owner, name, how)
    assert first_wrong(inputs, limit) is not None
