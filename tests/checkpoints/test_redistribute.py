"""What tasks go on from that are not those which kept it: each key in one of them, places of all, counts once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ouzel.errors import StateError
from ouzel.planner.former import EMPTY, Former
from ouzel.planner.topology import Task
from ouzel.runtime.checkpoints.manifest import Manifest, TaskFiles
from ouzel.runtime.checkpoints.redistribute import past_in_epoch
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.groupings import key_tasks
from ouzel.runtime.protocol.messages import Place
from ouzel.runtime.state.context import StateContext, key_groups_of
from ouzel.runtime.state.task_snapshot import TaskSnapshot

SEED = 7
KEYS = pl.DataFrame({"k": np.arange(5_000)})


class Counting:
    """One task's state: how often each key came."""

    def __init__(self, task: int, tasks: int) -> None:
        self.state = StateContext("count", SEED, ["k"], key_groups_of(task, tasks))
        self.table = self.state.table("keys", {"k": pl.Int64()})
        self.counts = self.table.columns("n", {"n": np.int64})
        self.seen = self.state.value("seen", 0)

    def add(self, frame: pl.DataFrame) -> None:
        """Rows come."""
        entered = self.table.enter(frame, ["k"])
        np.add.at(self.counts["n"], entered.slots, 1)

    def held(self) -> dict[int, int]:
        """What it has counted."""
        slots = self.table.index.slots()
        return dict(zip(self.table.keys(slots)["k"].to_list(), self.counts["n"][slots].tolist(), strict=True))


def keep(folder: Path, tasks: int, with_changes: bool = True) -> tuple[CheckpointStore, Manifest]:
    """An epoch of a component with so many tasks, each a whole snapshot and perhaps changes after it."""
    store, files = CheckpointStore(folder), []
    for index in range(tasks):
        task = Counting(index, tasks)
        mine = KEYS.filter(pl.Series(key_tasks(KEYS, ["k"], tasks, SEED) == index))
        task.add(mine)
        task.seen.value = 5
        places = {f"part-{index}": Place(10 + index, 100)}
        one = TaskSnapshot(
            "counts", index, (task.state.snapshot(),), places, 1_000 * (index + 1), {"rows_in": index + 1}
        )
        chain = [store.write_task(1, one)]
        if with_changes:
            task.add(mine.filter(pl.col("k") % 2 == 0))
            chain.append(
                store.write_task(
                    2,
                    TaskSnapshot(
                        "counts", index, (task.state.changes(),), places, 1_000 * (index + 1), {"rows_in": index + 1}
                    ),
                )
            )
        files.append(TaskFiles("counts", index, tuple(chain)))
    manifest = Manifest(2, "t", SEED, 0, tuple(files))
    store.complete(manifest)
    return store, manifest


def restore(past: list[TaskSnapshot], index: int, tasks: int) -> Counting:
    """The task with what it goes on from."""
    made, chains = Counting(index, tasks), {}
    for snapshot in past[:-1] if len(past) > 1 and not past[-1].states else past:
        chains.setdefault(snapshot.index, []).append(snapshot.states[0])
    made.state.restore(*chains.values())
    return made


@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 2), (2, 3), (3, 5), (5, 1), (7, 4), (2, 2)])
def test_each_key_is_in_the_task_that_gets_its_rows_with_all_that_was_counted(
    tmp_path: Path, before: int, after: int
) -> None:
    store, manifest = keep(tmp_path, before)
    goes_to, counts = key_tasks(KEYS, ["k"], after, SEED), 0
    for index in range(after):
        past = list(past_in_epoch(Task(index + 1, "counts", index), after, manifest, store))
        task = restore(past, index, after)
        mine = KEYS.filter(pl.Series(goes_to == index))["k"].to_list()
        assert task.held() == {key: 2 - key % 2 for key in mine}
        assert task.seen.value == 5
        counts += past[-1].counts.get("rows_in", 0)
        if before != after:
            assert past[-1].places == {f"part-{one}": Place(10 + one, 100) for one in range(before)}
            assert past[-1].time_us == 1_000, "the least that any task had sent"
    assert counts == sum(range(1, before + 1))


def test_a_component_goes_on_from_another_and_an_operator_begins_with_nothing(tmp_path: Path) -> None:
    store, manifest = keep(tmp_path, 2)
    task = Task(1, "totals", 0)
    assert list(past_in_epoch(task, 1, manifest, store)) == []
    assert list(past_in_epoch(task, 1, manifest, store, Former(""))) == []
    past = list(past_in_epoch(task, 1, manifest, store, Former("counts")))
    assert restore(past, 0, 1).held() == {key: 2 - key % 2 for key in range(5_000)}
    placed = past_in_epoch(task, 1, manifest, store, Former("counts", (EMPTY, 0)))
    assert [[bool(state.parts) for state in one.states] for one in placed[:-1]] == [[False, True]] * 4
    with pytest.raises(StateError, match="was kept with the state of 1 operators, and number 2 is to go on"):
        past_in_epoch(task, 1, manifest, store, Former("counts", (1,)))


def test_a_file_of_a_task_whose_groups_go_elsewhere_is_looked_at_all_the_same(tmp_path: Path) -> None:
    store, manifest = keep(tmp_path, 4, with_changes=False)
    path = tmp_path / manifest.tasks[3].files[0].name
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StateError, match="is damaged"):
        past_in_epoch(Task(1, "counts", 0), 2, manifest, store)
