"""What stores of totals promise, and those in the memory of this process. Totals are a monoid's: see `ouzel.monoid`.

A batch store has versions: one holds what all batches before its end add up to. A stream store has the total of each key in each batch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from ouzel.errors import QueryError
from ouzel.monoid import Monoid
from ouzel.stores.batcher import Batcher, BatchID, BatchRange

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Kept_co = TypeVar("Kept_co", covariant=True)


class Version(Protocol[Kept_co]):
    """What some batches add up to, whole; it stays as it is, whatever becomes of its store."""

    @property
    def batches(self) -> BatchRange:
        """The batches that are in it."""

    def get_many(self, keys: Iterable[Any]) -> Mapping[Any, Kept_co]:
        """The totals of those of the keys that there are."""


class BatchStore(Protocol[Kept_co]):
    """What a batch job has computed."""

    @property
    def batcher(self) -> Batcher:
        """How time is cut."""

    def version(self, until: BatchID | None = None) -> Version[Kept_co]:
        """The newest version, or the newest that holds no batch from `until` on.

        Raises:
            QueryError: no such version is kept.
        """

    def sums(self, batch: BatchID) -> Mapping[Any, Kept_co] | None:
        """What one batch alone adds up to, by key; None if it was not computed."""


class StreamStore(Protocol[Kept_co]):
    """What a stream has summed, batch by batch."""

    @property
    def batcher(self) -> Batcher:
        """How time is cut."""

    def batches(self) -> frozenset[BatchID]:
        """The batches that it has something of."""

    def get_many(self, keys: Iterable[tuple[Any, BatchID]]) -> Mapping[tuple[Any, BatchID], Kept_co]:
        """The totals of those of the keys in their batches that there are."""

    def sums(self, batch: BatchID) -> Mapping[Any, Kept_co]:
        """What one batch adds up to, by key."""


@runtime_checkable
class SummingStore(Protocol):
    """A store of either kind that says how its totals add up; one of your own need not."""

    @property
    def monoid(self) -> Monoid[Any, Any, Any]:
        """How its totals add up."""


@dataclass
class MemoryStream(Generic[K, T]):
    """A stream store in memory, which takes what is new and adds it up.

    Args:
        batcher: how time is cut.
        monoid: how totals add up.
    """

    batcher: Batcher
    monoid: Monoid[Any, T, Any]
    _totals: dict[tuple[K, BatchID], T] = field(default_factory=dict, repr=False)

    def batches(self) -> frozenset[BatchID]:
        """The batches that it has something of."""
        return frozenset(batch for _, batch in self._totals)

    def get_many(self, keys: Iterable[tuple[K, BatchID]]) -> dict[tuple[K, BatchID], T]:
        """The totals of those of the keys in their batches that there are."""
        return {key: self._totals[key] for key in keys if key in self._totals}

    def sums(self, batch: BatchID) -> dict[K, T]:
        """What one batch adds up to, by key."""
        return {key: total for (key, within), total in self._totals.items() if within == batch}

    def merge_many(self, deltas: Mapping[tuple[K, BatchID], T]) -> dict[tuple[K, BatchID], T]:
        """Add these to the totals; what they were before, of those that there were."""
        before = self.get_many(deltas)
        for key, delta in deltas.items():
            self._totals[key] = self.monoid.plus(before[key], delta) if key in before else delta
        return before


@dataclass(frozen=True)
class MemoryVersion(Generic[K, T]):
    """A version in memory."""

    batches: BatchRange
    totals: Mapping[K, T] = field(repr=False)

    def get_many(self, keys: Iterable[K]) -> dict[K, T]:
        """The totals of those of the keys that there are."""
        return {key: self.totals[key] for key in keys if key in self.totals}


@dataclass
class MemoryBatches(Generic[K, T]):
    """A batch store in memory.

    Args:
        batcher: how time is cut.
        monoid: how totals add up.
        keep: how many versions are kept.
    """

    batcher: Batcher
    monoid: Monoid[Any, T, Any]
    keep: int = 2
    _sums: dict[BatchID, Mapping[K, T]] = field(default_factory=dict, repr=False)
    _versions: list[MemoryVersion[K, T]] = field(default_factory=list, repr=False)

    def version(self, until: BatchID | None = None) -> MemoryVersion[K, T]:
        """The newest version, or the newest that holds no batch from `until` on.

        Raises:
            QueryError: no such version is kept.
        """
        return newest(self._versions, self.batcher, until)

    def sums(self, batch: BatchID) -> Mapping[K, T] | None:
        """What one batch alone adds up to, by key; None if it was not computed."""
        return self._sums.get(batch)

    def put(self, sums: Mapping[BatchID, Mapping[K, T]]) -> None:
        """Take what batches that follow each other add up to, each alone: the next ones, or others in place of those that there are.

        Raises:
            QueryError: a batch would be missing.
        """
        held = self._versions[-1].batches if self._versions else None
        whole = extend(held, BatchRange(min(sums), max(sums).next), self.batcher)
        self._sums |= sums
        self._versions = [one for one in self._versions if one.batches.end <= min(sums)]
        start = self._versions[-1] if self._versions else MemoryVersion(BatchRange(whole.start, whole.start), {})
        totals = dict(start.totals)
        for batch in BatchRange(start.batches.end, whole.end):
            for key, delta in self._sums[batch].items():
                totals[key] = self.monoid.plus(totals[key], delta) if key in totals else delta
        self._versions = [*self._versions, MemoryVersion(whole, totals)][-self.keep :]


class _HasBatches(Protocol):
    @property
    def batches(self) -> BatchRange: ...


V = TypeVar("V", bound=_HasBatches)


def newest(versions: Iterable[V], batcher: Batcher, until: BatchID | None) -> V:
    """The last of the versions, which are in order, or the last that holds no batch from `until` on.

    Raises:
        QueryError: there is none.
    """
    known = list(versions)
    found = [one for one in known if until is None or one.batches.end <= until]
    if found:
        return found[-1]
    if not known:
        raise QueryError("the batch store is empty", instead="compute its first batch")
    oldest, asked = known[0].batches.end, batcher.earliest_time_of(until) if until else ""
    raise QueryError(
        f"the batch store keeps no version from before {asked}",
        instead=f"ask for {batcher.earliest_time_of(oldest)} or later, or let the store keep more versions",
    )


def extend(held: BatchRange | None, given: BatchRange, batcher: Batcher) -> BatchRange:
    """The batches of a store once it has got others.

    Raises:
        QueryError: a batch would be missing, before or between.
    """
    if held is None:
        return given
    if given.start < held.start or given.start > held.end:
        start, end = batcher.earliest_time_of(held.start), batcher.earliest_time_of(held.end)
        raise QueryError(
            f"the store holds the batches from {start} to {end}, so it cannot go on with that of {batcher.earliest_time_of(given.start)}",
            instead=f"begin at {end}, or at a batch that is in it to compute that again",
        )
    return BatchRange(held.start, max(held.end, given.end))
