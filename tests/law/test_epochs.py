"""The law with epochs: whatever dies, a task with state too, the answer is the oracle's; and what breaks an epoch is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import OuzelError
from ouzel.runtime.simulator.epochs import Epochs
from ouzel.runtime.simulator.host import Host
from ouzel.runtime.simulator.results import TaskResults
from ouzel.runtime.simulator.world import World
from ouzel.runtime.state.value import Value
from ouzel.runtime.tasks.reading import BatchReader
from tests.effort import USUAL, few_seeds, seeds
from tests.law.cases import CASES, LATE, ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import epochs_answer
from tests.law.oracle import oracle_answer
from tests.law.test_memory import replay


@pytest.mark.slow
@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_what_dies_comes_back_from_an_epoch(case: Case, inputs: Path) -> None:
    expected, counted = oracle_answer(case, inputs), set()
    for seed in few_seeds():
        command = replay("test_epochs.py::test_what_dies_comes_back_from_an_epoch", case, seed)
        try:
            answer = epochs_answer(case, inputs, seed)
        except Exception as error:
            error.add_note(command)
            raise
        assert (found := difference(expected, answer.rows)) == "", f"{found}\n{answer.story}\n{command}"
        assert answer.late == 0, command
        read, acked, bad = answer.sources
        assert read == acked + bad, f"{answer.sources}: {answer.story}\n{command}"
        counted.add(read)
    assert len(counted) == 1, f"sources have read {counted} rows"


@pytest.mark.slow
@pytest.mark.parametrize("case", LATE, ids=str)
def test_what_is_late_is_counted_once(case: Case, inputs: Path) -> None:
    """What is late depends on when rows come: after a roll back a window may come out otherwise, and then it is there with both counts.

    One of which all rows are late then does not come again, and stays as it was.
    """
    expected, counted = oracle_answer(case, inputs), 0
    keys = [name for name in expected.columns if name != "n"]
    for seed in seeds():
        answer = epochs_answer(case, inputs, seed)
        both = expected.join(answer.rows, on=keys, how="full", suffix="_here", nulls_equal=True)
        gaps = both.select(lacking=pl.col("n").fill_null(0) - pl.col("n_here").fill_null(0))["lacking"].to_list()
        command = replay("test_epochs.py::test_what_is_late_is_counted_once", case, seed)
        assert min(gaps) >= 0, f"{answer.story}\n{command}"
        twice = answer.rows.select(keys).is_duplicated().any()
        stays = "all go back" in answer.story and sum(gaps) < answer.late
        assert twice or stays or sum(gaps) == answer.late, f"{answer.story}\n{command}"
        counted += answer.late
    assert counted > 0 or len(seeds()) < USUAL, "no seed made a row late: the test tests nothing"


def give_away(epochs: Epochs) -> None:
    """An abandoned epoch takes what its tasks gave with it."""
    for task in epochs._taken if epochs.taking else ():
        del epochs._chains[task][-1]
    epochs.taking, epochs.writing = 0, None


PLANTED: dict[str, tuple[type, str, Callable[..., object] | property, int]] = {
    "the generation of a message is not looked at": (World, "_is_heard", lambda world, one, host: True, 60),
    "the journal of before is used with the places of the epoch": (World, "_journal_after", lambda world, host: host.past.journal, 60),
    "a value is not restored": (Value, "load", lambda value, parts: None, 60),
    "a task is snapshotted before it rests": (Host, "may_be_taken", property(lambda host: host.takes_in > 0), 60),
    "changes are lost with an abandoned epoch": (Epochs, "abandon", give_away, 60),
    "results are not rolled back": (TaskResults, "roll_back", lambda results, epoch, generation: None, 60),
    "a source that comes up in a pause has nothing to read again": (BatchReader, "is_repeating", property(lambda reader: False), 60),
}  # fmt: skip
"""What, where, how, and within how many seeds it is found."""

LOOKED_AT = [case for case in CASES if case.name in ("told_early_and_corrected", "global_aggregate")]


def first_wrong(inputs: Path, limit: int) -> int | None:
    """The first seed under which the answer is wrong, or the run fails."""
    for seed in range(limit):
        for case in LOOKED_AT:
            try:
                if difference(oracle_answer(case, inputs), epochs_answer(case, inputs, seed).rows):
                    return seed
            except (OuzelError, AssertionError):
                return seed
    return None


@pytest.mark.whole
@pytest.mark.parametrize("planted", PLANTED)
def test_what_breaks_an_epoch_is_found(planted: str, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, how, limit = PLANTED[planted]
    monkeypatch.setattr(owner, name, how)
    assert first_wrong(inputs, limit) is not None
