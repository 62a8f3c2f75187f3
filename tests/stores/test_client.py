"""A client store answers as if it had added up everything itself, and says what it lacks: Summingbird's laws over drawn histories."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from ouzel import monoid
from ouzel.errors import QueryError
from ouzel.monoid import Monoid
from ouzel.stores import BatchID, BatchRange, ClientStore, Disagreement, FixedBatcher, MemoryBatches, MemoryStream
from ouzel.stores.batcher import Batcher, parse_batcher
from tests.effort import seeds

START = datetime(2024, 3, 28)
MONOIDS: dict[str, Monoid[Any, Any, Any]] = {
    "sum": monoid.Sum(), "max": monoid.Max(), "mean": monoid.Mean(), "top": monoid.TopK(3), "map": monoid.MapOf(monoid.Sum()),
}  # fmt: skip


class History:
    """Events of some batches, each with a key and a value."""

    def __init__(self, seed: int, kind: str) -> None:
        self.dice = dice = Random(seed)
        self.batcher: Batcher = parse_batcher(dice.choice(["6 hours", "day Europe/Vienna", "1 day"]))
        self.monoid = MONOIDS[kind]
        self.first = self.batcher.batch_of(START)
        self.end = self.first + dice.randint(2, 8)
        self.boundary = self.first + dice.randint(1, self.end - self.first)
        self.events: dict[tuple[str, BatchID], list[Any]] = defaultdict(list)
        for batch in BatchRange(self.first, self.end):
            for _ in range(dice.randint(1, 6)):
                value: Any = dice.randint(-9, 9)
                self.events[dice.choice("abc"), batch].append({"x": value} if kind == "map" else value)

    def stream(self, lacks: set[BatchID] = frozenset()) -> MemoryStream[str, Any]:  # type: ignore[assignment]
        """What a stream has summed, event by event, of all batches but these."""
        store: MemoryStream[str, Any] = MemoryStream(self.batcher, self.monoid)
        for key, values in self.events.items():
            for value in values if key[1] not in lacks else ():
                store.merge_many({key: self.monoid.prepare(value)})
        return store

    def sums(self, batch: BatchID) -> dict[str, Any]:
        return {key: self.monoid.total(values) for (key, within), values in self.events.items() if within == batch}

    def batches(self, keep: int = 100) -> MemoryBatches[str, Any]:
        """What a batch job has computed up to the boundary, some batches at a time, and some again."""
        store: MemoryBatches[str, Any] = MemoryBatches(self.batcher, self.monoid, keep)
        at = self.first
        while at < self.boundary:
            begin = at - self.dice.randint(0, at - self.first)
            at = at + self.dice.randint(1, self.boundary - at)
            store.put({batch: self.sums(batch) for batch in BatchRange(begin, at)})
        return store

    def total(self, key: str, until: BatchID, lacks: set[BatchID]) -> Any:
        parts = [
            values
            for (one, batch), values in self.events.items()
            if one == key and batch < until and batch not in lacks
        ]
        return self.monoid.sum([value for values in parts for value in values]) if parts else None


@pytest.mark.parametrize("kind", MONOIDS)
@pytest.mark.parametrize("seed", seeds())
def test_both_sides_together_are_everything(seed: int, kind: str) -> None:
    history = History(seed, kind)
    client = ClientStore(history.batches(), history.stream(), history.monoid)
    for until in [None, *BatchRange(history.boundary, history.end.next)]:
        found = client.get_many("abcd", until)
        wanted = {key: history.total(key, until or history.end, set()) for key in "abcd"}
        assert dict(found.values) == {key: value for key, value in wanted.items() if value is not None}
        assert not found.holes
        assert found.boundary == history.batcher.earliest_time_of(history.boundary)
    assert not client.disagreements()


@pytest.mark.parametrize("seed", seeds())
def test_a_batch_that_neither_side_has_is_a_hole_and_never_skipped(seed: int) -> None:
    history = History(seed, "sum")
    lacks = {batch for batch in BatchRange(history.first, history.end) if history.dice.random() < 0.4}
    client = ClientStore(history.batches(), history.stream(lacks), history.monoid)
    asked = history.end
    missing = {batch for batch in lacks if batch >= history.boundary}
    found = client.get_many("abc", asked)
    assert set(found.holes) == missing
    first = min(missing, default=asked)
    assert found.complete_until == history.batcher.earliest_time_of(first)
    for key in "abc":
        assert found.values.get(key) == history.total(key, asked, missing)
        if missing:
            with pytest.raises(QueryError, match=f"nor the stream has anything of batch {first} "):
                client.get(key, asked)
    seen = BatchRange(history.boundary, max([history.boundary, *(b.next for b in client.stream.batches())]))
    assert set(client.get_many("a").holes) == missing & set(seen), (
        "behind the stream's last batch nothing is known to be missing"
    )


@pytest.mark.parametrize("seed", seeds())
def test_the_answer_for_a_time_before_the_last_version_comes_from_an_older_one(seed: int) -> None:
    history = History(seed, "sum")
    client = ClientStore(history.batches(), history.stream(), history.monoid)
    for until in BatchRange(history.first.next, history.boundary):
        try:
            found = client.get_many("abc", until)
        except QueryError as error:
            assert "keeps no version from before" in str(error)  # noqa: PT017
        else:
            assert dict(found.values) == {k: t for k in "abc" if (t := history.total(k, until, set())) is not None}


@pytest.mark.parametrize("seed", seeds())
def test_a_wrong_batch_shows_and_is_right_when_it_is_computed_again(seed: int) -> None:
    history = History(seed, "sum")
    store = history.batches()
    client = ClientStore(store, history.stream(), history.monoid)
    wrong = history.first + history.dice.randrange(history.boundary - history.first)
    right = history.sums(wrong)
    store.put({wrong: {"a": history.monoid.prepare(1000)}})
    assert {one.batch for one in client.disagreements()} == {wrong}
    assert all(isinstance(one, Disagreement) for one in client.disagreements())
    store.put({wrong: right})
    assert not client.disagreements()
    assert client.get("a") == history.total("a", history.end, set())


def test_a_batch_store_has_no_holes() -> None:
    days = FixedBatcher(timedelta(days=1))
    store: MemoryBatches[str, int] = MemoryBatches(days, monoid.Count())
    with pytest.raises(QueryError, match="the batch store is empty; compute its first batch"):
        store.version()
    store.put({BatchID(10): {"a": 1}})
    with pytest.raises(
        QueryError,
        match="holds the batches from 1970-01-11 00:00:00 to 1970-01-12 00:00:00, so it cannot go on with that of 1970-01-13",
    ):
        store.put({BatchID(12): {}})
    with pytest.raises(QueryError, match="by '1 day' and the stream store by '1 hour'; give both the same batcher"):
        ClientStore(store, MemoryStream(FixedBatcher(timedelta(hours=1)), monoid.Count()), monoid.Count())


def test_a_store_of_another_monoid_is_noticed() -> None:
    days = FixedBatcher(timedelta(days=1))
    sums, greatest = MemoryBatches[str, Any](days, monoid.Sum()), MemoryStream[str, Any](days, monoid.Max())
    with pytest.raises(QueryError, match=r"the stream store adds up by Max\(\), and the client store is given Sum\(\)"):
        ClientStore(sums, greatest, monoid.Sum())
    with pytest.raises(QueryError, match=r"the batch store adds up by Sum\(\), and the client store is given Max\(\)"):
        ClientStore(sums, greatest, monoid.Max())


def test_a_merge_gives_what_was_there_before() -> None:
    store: MemoryStream[str, int] = MemoryStream(FixedBatcher(timedelta(days=1)), monoid.Count())
    assert store.merge_many({("a", BatchID(0)): 2}) == {}
    assert store.merge_many({("a", BatchID(0)): 3, ("b", BatchID(0)): 1}) == {("a", BatchID(0)): 2}
    assert store.sums(BatchID(0)) == {"a": 5, "b": 1}
