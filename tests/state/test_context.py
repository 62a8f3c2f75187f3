"""What a state context keeps, against plain dictionaries: any steps, snapshots, changes, restores and splits between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.manifest import TaskFiles
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.protocol.groupings import key_tasks
from ouzel.runtime.state import table as tables
from ouzel.runtime.state.context import KeyGroups, Snapshot, StateContext, key_groups_of
from ouzel.runtime.state.hashing import KEY_GROUPS, key_hashes
from ouzel.runtime.state.task_snapshot import TaskSnapshot
from tests.effort import seeds

SEED = 11
KEYS = {"k": pl.String(), "j": pl.Int64()}
Key = tuple[str | None, int]


class Kept:
    """One task that keeps one of each: counts, a text and a bag of texts by (k, j), of which k is what routes; a value."""

    def __init__(self, task: int, tasks: int) -> None:
        self.state = StateContext("toy", SEED, ["k"], key_groups_of(task, tasks))
        self.table = self.state.table("counts", KEYS)
        self.counts = self.table.columns("n", {"n": np.int64, "x": np.float64})
        self.texts = self.table.rows("text", {"text": pl.String()})
        self.bag = self.state.bag("bag", self.table, {"v": pl.String(), "w": pl.List(pl.Int64)}, order_by="v")
        self.time = self.state.value("time", 0)

    def add(self, frame: pl.DataFrame) -> None:
        key = key_hashes(frame, list(KEYS), SEED)
        slots = self.table.locate(key)
        _, touched, first = self.table.touch(slots)
        self.table.keep(touched, frame, list(KEYS), first)
        np.add.at(self.counts["n"], slots, 1)
        np.add.at(self.counts["x"], slots, 0.5)
        named = np.flatnonzero(frame["v"].to_numpy()[first] != "a")
        self.texts.put(touched[named], frame[first[named]].select(text="v"))
        rows = self.bag.find_or_put(key, slots, frame.select("v", w=pl.concat_list("j")))
        self.bag.add(rows, frame["weight"].to_numpy())
        self.bag.sweep(rows)

    def remove(self, frame: pl.DataFrame) -> None:
        slots = self.table.index.find(*key_hashes(frame, list(KEYS), SEED))
        self.table.remove(np.unique(slots[slots >= 0]))

    def look(self) -> dict[Key, Any]:
        slots = self.table.index.slots()
        assert np.isin(self.table.groups(slots), np.arange(self.state.groups.first, self.state.groups.end)).all()
        texts = self.texts.take_with_gaps(slots)["text"].to_list()
        found = {}
        for slot, key, text in zip(slots.tolist(), self.table.keys(slots).rows(), texts, strict=True):
            rows = self.bag.of(np.array([slot]))
            values = self.bag.frame(rows)["v"].to_list()
            assert values == sorted(values)
            weights = Counter(dict(zip(values, self.bag.weights[rows].tolist(), strict=True)))
            found[key] = (int(self.counts["n"][slot]), float(self.counts["x"][slot]), text, weights)
        return found


class Model:
    """The same in dictionaries."""

    def __init__(self) -> None:
        self.rows: dict[Key, list[dict[str, Any]]] = {}

    def add(self, frame: pl.DataFrame) -> None:
        for row in frame.iter_rows(named=True):
            self.rows.setdefault((row["k"], row["j"]), []).append(row)
        self.batches = [frame]

    def remove(self, frame: pl.DataFrame) -> None:
        for key in frame.select("k", "j").rows():
            self.rows.pop(key, None)

    def look(self, texts: dict[Key, str | None]) -> dict[Key, Any]:
        found = {}
        for key, rows in self.rows.items():
            weights: Counter[str] = Counter()
            for row in rows:
                weights[row["v"]] += row["weight"]
            found[key] = (len(rows), len(rows) / 2, texts.get(key), +weights)
        return found


def batch(random: Random, size: int) -> pl.DataFrame:
    rows = [
        {"k": random.choice(["x", "y", "a key of more than twelve bytes", None]), "j": random.randrange(5), "v": random.choice("abc"),
         "weight": random.choice([1, 1, 2, -1])}
        for _ in range(size)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema={**KEYS, "v": pl.String, "weight": pl.Int64})


def parts(frame: pl.DataFrame, tasks: int) -> Iterator[pl.DataFrame]:
    chosen = key_tasks(frame, ["k"], tasks, SEED)
    return (frame.filter(chosen == task) for task in range(tasks))


def stored(store: CheckpointStore, index: int, chain: list[Snapshot]) -> TaskFiles:
    written = (store.write_task(epoch, TaskSnapshot("toy", index, (one,))) for epoch, one in enumerate(chain, 1))
    return TaskFiles("toy", index, tuple(written))


@pytest.mark.parametrize("seed", seeds())
def test_state_is_a_dictionary_whatever_is_restored_and_split(seed: int, tmp_path: Path) -> None:
    random, model, texts, now = Random(seed), Model(), {}, 0
    tasks = [Kept(0, 1)]
    chains: list[list[Snapshot]] = [[] for _ in tasks]
    for step in range(30):
        action = random.choice(["add", "add", "add", "remove", "advance", "snapshot", "changes", "restore"])
        if action == "add":
            frame = batch(random, random.randrange(1, 12))
            model.add(frame)
            for task, part in zip(tasks, parts(frame, len(tasks)), strict=True):
                if part.height:
                    task.add(part)
            for row in frame.unique(["k", "j"], keep="first", maintain_order=True).iter_rows(named=True):
                if row["v"] != "a":
                    texts[row["k"], row["j"]] = row["v"]
        elif action == "remove":
            frame = batch(random, 3)
            model.remove(frame)
            texts = {key: text for key, text in texts.items() if key in model.rows}
            for task, part in zip(tasks, parts(frame, len(tasks)), strict=True):
                task.remove(part)
        elif action == "advance":
            now += random.randrange(20)
            for task in tasks:
                task.time.value = now
        elif action == "snapshot":
            chains = [[task.state.snapshot()] for task in tasks]
        else:
            chains = [[*chain, changed] if not (changed := task.state.changes()).whole else [changed]
                      for task, chain in zip(tasks, chains, strict=True)]  # fmt: skip
            if action == "restore":
                store = CheckpointStore(tmp_path)
                kept = [stored(store, number, chain) for number, chain in enumerate(chains)]
                tasks = [Kept(number, count) for count in [random.randrange(1, 5)] for number in range(count)]
                for task in tasks:
                    task.state.restore(*([one.states[0] for one in store.read_task(files)] for files in kept))
                    assert task.time.value == now
                chains = [[] for _ in tasks]
        found: dict[Key, Any] = {}
        for task in tasks:
            found |= task.look()
        assert found == model.look(texts), f"step {step}: {action}"


def filled(**options: Any) -> Kept:
    kept = Kept(0, 1)
    kept.add(batch(Random(1), 50))
    return kept


def test_what_has_gone_is_freed() -> None:
    kept = filled()
    for number in range(200):
        kept.add(batch(Random(number), 50))
        kept.table.remove(kept.table.index.slots())
    assert (len(kept.table.index), len(kept.bag.index)) == (0, 0)
    assert (kept.table.index.limit <= 20, kept.bag.index.limit <= 60) == (True, True)


def test_removals_without_end_make_the_next_snapshot_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "REMOVED_MOST", 10)
    kept = filled()
    kept.state.snapshot()
    kept.table.remove(kept.table.index.slots()[:3])
    assert not kept.state.changes().whole
    for _ in range(3):
        kept.add(batch(Random(1), 50))
        kept.table.remove(kept.table.index.slots())
    assert kept.state.changes().whole


def test_changes_hold_what_has_changed_only() -> None:
    kept = filled()
    whole = kept.state.snapshot()
    assert kept.state.changes().parts["counts"].height == 0
    kept.add(pl.DataFrame({"k": ["x"], "j": [99], "v": ["b"], "weight": [1]}))
    changed = kept.state.changes()
    assert [changed.parts[name].height for name in ("counts", "bag")] == [1, 1]
    assert whole.parts["counts"].height > 1


def test_a_snapshot_tells_keys_of_tables_from_rows_of_bags() -> None:
    kept = filled()
    tables, bags = len(kept.table.index), len(kept.bag.index)
    snapshot = kept.state.snapshot()
    assert bags > 0
    assert (snapshot.keys, snapshot.live) == (tables, tables + bags)


def test_tasks_hold_the_groups_that_their_rows_come_from() -> None:
    numbers = pl.DataFrame({"k": np.arange(20_000)})
    groups = key_hashes(numbers, ["k"], SEED)[0] >> np.uint64(54)
    for tasks in (1, 2, 3, 7, 1024):
        ranges = [key_groups_of(task, tasks) for task in range(tasks)]
        assert (ranges[0].first, ranges[-1].end) == (0, KEY_GROUPS)
        assert all(before.end == after.first for before, after in pairwise(ranges))
        for group, task in zip(groups.tolist(), key_tasks(numbers, ["k"], tasks, SEED).tolist(), strict=True):
            assert ranges[task].first <= group < ranges[task].end


def refused(*tasks: list[Snapshot], into: Kept | None = None) -> str:
    with pytest.raises(StateError) as caught:
        (into or Kept(0, 1)).state.restore(*tasks)
    return str(caught.value)


def test_state_that_does_not_fit_is_refused() -> None:
    kept = filled()
    one, two, three = kept.state.snapshot(), kept.state.changes(), kept.state.changes()
    half = replace(one, groups=KeyGroups(0, 512))
    assert refused([two]) == "the state of toy begins with no whole snapshot"
    assert refused([one, three]) == "snapshot 3 of toy does not follow on snapshot 1"
    assert refused([replace(one, operator="other")]) == "this is the state of other, not of toy"
    assert "under version 9 of the hash" in refused([replace(one, hash_version=9)])
    assert "start the topology with its seed" in refused([replace(one, seed=1)])
    assert refused([half]) == "key group 512 of toy is in no snapshot"
    assert refused([half], [one]) == "key group 0 of toy comes twice"
    assert refused([half], into=Kept(1, 2)) == "key group 512 of toy is in no snapshot"
    assert "holds counts, but it keeps bag, counts, time" in refused(
        [replace(one, parts={"counts": one.parts["counts"]})]
    )
    later = replace(
        one, parts={**one.parts, "time": one.parts["time"].with_columns(value=5)}, groups=KeyGroups(512, 1024)
    )
    assert "different values of time (0, 5)" in refused([half], [later])
    other = {**one.parts, "counts": one.parts["counts"].cast({"column.n.n": pl.Int32})}
    assert (
        refused([replace(one, parts=other)])
        == "counts of toy was kept with other columns or types than now: column.n.n"
    )
    Kept(0, 2).state.restore([half])
