"""Both answers as one: what a batch job has computed up to a boundary, and what a stream has summed since."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from math import isclose, isnan
from typing import Any, Generic, TypeVar

from ouzel.errors import QueryError
from ouzel.monoid import Monoid
from ouzel.stores.batcher import Batcher, BatchID, BatchRange
from ouzel.stores.store import BatchStore, StreamStore, SummingStore

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class MergedTotals(Generic[K, R]):
    """What both sides know of some keys.

    Attributes:
        values: of the keys that any side knows what they add up to.
        boundary: when the stream's part begins; before it all is the batch job's.
        complete_until: before this moment nothing is missing. The stream's last batch may still grow.
        holes: batches after the boundary, and before the stream's last, that the stream has nothing of.
    """

    values: Mapping[K, R]
    boundary: datetime
    complete_until: datetime
    holes: tuple[BatchID, ...]


@dataclass(frozen=True)
class Disagreement(Generic[K, R]):
    """A key in a batch of which both sides have another total; None is none."""

    batch: BatchID
    key: K
    of_batch: R | None
    of_stream: R | None


@dataclass(frozen=True)
class ClientStore(Generic[K, T, R]):
    """Reads a batch store up to its last version, and a stream store from there on.

    Args:
        batch: what the batch job has computed.
        stream: what the stream has summed.
        monoid: how totals add up.

    Raises:
        QueryError: the two cut time in other ways, or one adds up otherwise.
    """

    batch: BatchStore[T]
    stream: StreamStore[T]
    monoid: Monoid[Any, T, R] = field(repr=False)

    def __post_init__(self) -> None:
        if str(self.batch.batcher) != str(self.stream.batcher):
            raise QueryError(
                f"the batch store cuts time by '{self.batch.batcher}' and the stream store by '{self.stream.batcher}'",
                instead="give both the same batcher",
            )
        for side, store in (("batch", self.batch), ("stream", self.stream)):
            if isinstance(store, SummingStore) and store.monoid != self.monoid:
                raise QueryError(
                    f"the {side} store adds up by {store.monoid}, and the client store is given {self.monoid}",
                    instead="give it the store's own monoid",
                )

    def get_many(self, keys: Iterable[K], until: BatchID | None = None) -> MergedTotals[K, R]:
        """What the keys add up to, now or before the batch `until`.

        A missing batch of the stream adds nothing to the totals, and is listed among the holes of the answer.

        Raises:
            QueryError: the batch store keeps no version that is old enough.
        """
        version, wanted = self.batch.version(until), list(dict.fromkeys(keys))
        present = self.stream.batches()
        since = BatchRange(version.batches.end, _end(version.batches.end, present, until))
        live = self.stream.get_many([(key, batch) for key in wanted for batch in since])
        totals = dict(version.get_many(wanted))
        for key in wanted:
            parts = [live[key, batch] for batch in since if (key, batch) in live]
            if parts:
                totals[key] = reduce(self.monoid.plus, parts, totals.get(key, self.monoid.zero))
        values = {key: self.monoid.present(totals[key]) for key in wanted if key in totals}
        holes = tuple(batch for batch in since if batch not in present)
        return MergedTotals(values, self._time(since.start), self._complete(since, holes, until), holes)

    def get(self, key: K, until: BatchID | None = None) -> R | None:
        """What one key adds up to; None if no side knows it.

        Raises:
            QueryError: a batch is missing, or the batch store keeps no version that is old enough.
        """
        found = self.get_many([key], until)
        refuse_holes(self.batch.batcher, found.holes)
        return found.values.get(key)

    def disagreements(self, batches: Container[BatchID] | None = None) -> list[Disagreement[K, R]]:
        """Where the two differ over a batch that both have: often it was computed before its input was whole.

        Args:
            batches: which to look at; by default all.
        """
        found, end = [], self.batch.version().batches.end
        seen = (one for one in self.stream.batches() if one < end and (batches is None or one in batches))
        for batch in sorted(seen):
            computed, summed = self.batch.sums(batch), self.stream.sums(batch)
            for key in dict.fromkeys([*(computed or {}), *summed]) if computed is not None else ():
                one, other = (self._present(side, key) for side in (computed or {}, summed))
                if not _alike(one, other):
                    found.append(Disagreement(batch, key, one, other))
        return found

    def _present(self, totals: Mapping[K, T], key: K) -> R | None:
        return self.monoid.present(totals[key]) if key in totals else None

    def _complete(self, since: BatchRange, holes: tuple[BatchID, ...], until: BatchID | None) -> datetime:
        if holes:
            return self._time(holes[0])
        return self._time(since.end if until is not None or not since else since[-1])

    def _time(self, batch: BatchID) -> datetime:
        return self.batch.batcher.earliest_time_of(batch)


def _alike(one: Any, other: Any) -> bool:
    """Whether two results are the same; floats to nine digits."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9) or (isnan(one) and isnan(other))
    return bool(one == other)


def _end(start: BatchID, present: Iterable[BatchID], until: BatchID | None) -> BatchID:
    """Behind the last batch that is asked for: `until`, or what the stream has."""
    return until if until is not None else max([start, *(batch.next for batch in present)])


def refuse_holes(batcher: Batcher, holes: Iterable[BatchID]) -> None:
    """Raise a QueryError that names the batches, if there are any."""
    missing = list(holes)
    if missing:
        raise QueryError(
            missing_text(batcher, missing),
            instead="advance the batch job over it, or take the answer as it is with get_many()",
        )


def missing_text(batcher: Batcher, missing: Sequence[BatchID]) -> str:
    """That these batches are missing on both sides, in words."""
    named = ", ".join(f"{batch} (from {batcher.earliest_time_of(batch)})" for batch in missing[:5])
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return f"neither the batch job nor the stream has anything of batch {named}{more}"
