"""Join: each batch of one input meets the rows kept of the other, and is kept.

What has been said is at every moment a function of the rows kept, whatever their order: the pairs, each with the product of both weights,
and the rows that have no match. A batch changes one input, so what leaves is the difference (the delta rule of incremental views: Gupta,
Mumick and Subrahmanian, SIGMOD 1993; with weights as in DBSP: Budiu et al., VLDB 2023, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ouzel.compiler.plan import LEFT_ONLY, PADDED, WEIGHT, Join, JoinKind
from ouzel.compiler.types import to_polars
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, valid_rows
from ouzel.runtime.operators.keyed.groups import row_weights
from ouzel.runtime.operators.rowwise.rows import Selection
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.hashing import Words
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import filter_rows, make_nulls, take_rows
from ouzel.runtime.state.row_bag import RowBag

MOST_PAIRS = 1 << 19
"""So many pairs are made at once; a batch that makes more is taken in parts."""

LEFT, RIGHT = 0, 1


class Side:
    """One input: its columns, those that are keys, those without which a row matches nothing, and its rows.

    `matches` counts the rows of the other side that each of them meets.
    """

    def __init__(self, node: Join, port: int) -> None:
        self.port, self.keys = port, [pair[port] for pair in node.keys]
        self.never_null = list(self.keys)
        self.columns = node.inputs[port].schema.polars()
        self.counts_matches = (1 - port) in PADDED[node.kind] or (port == LEFT and node.kind in LEFT_ONLY)

    def keep(self, bag: RowBag) -> None:
        """Keep the rows in this bag."""
        self.bag = bag
        if self.counts_matches:
            self.matches = bag.columns("matches", {"rows": np.int64})


class Delta(NamedTuple):
    """A part of a batch of one side: rows whose keys are not NULL, what each weighs, and the slots and hashes of its keys."""

    rows: pl.DataFrame
    weights: Ints
    owners: Slots
    key: tuple[Words, Words]

    def cut(self, rows: slice) -> Delta:
        """These of its rows."""
        return Delta(self.rows[rows], self.weights[rows], self.owners[rows], (self.key[0][rows], self.key[1][rows]))


class Candidates(NamedTuple):
    """Slots of rows of the other side, and where among them those begin that each row of the batch may meet, and how many they are."""

    slots: Slots
    begins: Ints
    counts: Ints


class RowPairs(NamedTuple):
    """The number of a row of the batch, and the slot of a row of the other side that it meets."""

    row: Ints
    slot: Slots


class Joining(Operator):
    """The operator of Join."""

    stateful = True

    def __init__(self, node: Join, seed: int) -> None:
        super().__init__()
        self._node, self._seed = node, seed
        self._kind, self._retracts = node.kind, node.retracts
        self._sides = (Side(node, LEFT), Side(node, RIGHT))
        self._keys = self._sides[LEFT].keys
        self.state = StateContext(node.stable_id, seed, self._keys)
        self._table = self.state.table("keys", {key: self._sides[LEFT].columns[key] for key in self._keys})
        for side, name in zip(self._sides, ("left", "right"), strict=True):
            side.keep(self.state.bag(name, self._table, side.columns))
        self._condition = None if node.condition is None else Selection(node.condition)
        self._schema = {field.name: to_polars(field.type) for field in node.schema}

    def fresh(self) -> Operator:
        return Joining(self._node, self._seed)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What this batch of one input adds to the answer and takes from it."""
        own, other = self._sides[port], self._sides[1 - port]
        weights = row_weights(frame)
        made: list[pl.DataFrame] = []
        if any(frame[key].null_count() for key in own.never_null):
            valid = [mask for key in own.never_null if (mask := valid_rows(frame[key])) is not None]
            has_key = np.logical_and.reduce(valid)
            made += self._alone(own, filter_rows(frame, ~has_key), weights[~has_key])
            frame, weights = filter_rows(frame, has_key), weights[has_key]
        if frame.height:
            made += self._meet(own, other, frame[list(own.columns)], weights)
        return pl.concat(made) if made else None

    def _meet(self, own: Side, other: Side, frame: pl.DataFrame, weights: Ints) -> Iterator[pl.DataFrame]:
        key, owners, groups, touched = self._table.enter(frame, own.keys)
        delta = Delta(frame, weights, owners, key)
        yield from self._meet_candidates(own, other, delta, self._candidates(other, touched, groups, frame))
        self._table.release(touched)

    def _meet_candidates(self, own: Side, other: Side, delta: Delta, candidates: Candidates) -> Iterator[pl.DataFrame]:
        """What becomes of rows and those that they may meet, so many pairs at a time."""
        slots, begins, counts = candidates
        for start, end in cuts_of_pairs(counts):
            part, pairs = delta.cut(slice(start, end)), pair_up(slots, begins[start:end], counts[start:end])
            yield from self._step(own, other, part, self._meeting(own, part.rows, other, pairs))

    def _candidates(self, other: Side, owners: Slots, groups: Ints, frame: pl.DataFrame) -> Candidates:
        """The rows of the other side that have the key."""
        kept, ends = other.bag.list_slots(owners)
        return Candidates(kept, ends[groups], np.diff(ends)[groups])

    def _meeting(self, own: Side, rows: pl.DataFrame, other: Side, pairs: RowPairs) -> RowPairs:
        """Those pairs of equal keys that meet the condition."""
        if self._condition is None or not len(pairs.row):
            return pairs
        both = self._beside(own, rows, other, pairs).hstack([pl.Series("$pair", np.arange(len(pairs.row)))])
        met = self._condition.process(both)["$pair"].to_numpy()
        self.refused += self._condition.refused
        self._condition.refused.clear()
        return RowPairs(pairs.row[met], pairs.slot[met])

    def _step(self, own: Side, other: Side, part: Delta, pairs: RowPairs) -> Iterator[pl.DataFrame]:
        matches = self._count(own, other, part, pairs)
        yield from self._answer(own, other, part, pairs, matches)
        if other.counts_matches and len(pairs.row):
            yield from self._cross(other, pairs, part.weights)
        self._keep(own, part, matches)

    def _count(self, own: Side, other: Side, part: Delta, pairs: RowPairs) -> Ints:
        """How many rows of the other side each row meets, where that is asked."""
        if not own.counts_matches:
            return np.empty(0, np.int64)
        return np.bincount(pairs.row, other.bag.weights[pairs.slot], len(part.weights)).astype(np.int64)

    def _answer(self, own: Side, other: Side, part: Delta, pairs: RowPairs, matches: Ints) -> Iterator[pl.DataFrame]:
        """What the rows of the batch are joined to, and those that stand alone."""
        if self._kind not in LEFT_ONLY and len(pairs.row):
            weights = part.weights[pairs.row] * other.bag.weights[pairs.slot]
            yield from self._weigh(self._beside(own, part.rows, other, pairs), weights)
        if own.counts_matches:
            chosen = (matches > 0) == (self._kind is JoinKind.SEMI)
            yield from self._weigh(pad(filter_rows(part.rows, chosen), self._schema), part.weights[chosen])

    def _keep(self, own: Side, part: Delta, matches: Ints) -> None:
        slots = own.bag.find_or_put(part.key, part.owners, part.rows)
        if own.counts_matches:
            own.matches["rows"][slots] = matches
        own.bag.add(slots, part.weights)
        own.bag.sweep(slots)

    def _cross(self, side: Side, pairs: RowPairs, weights: Ints) -> Iterator[pl.DataFrame]:
        """The rows of the other side that have their first match now, or have it no more."""
        groups, slots, _ = side.bag.touch(pairs.slot)
        counts = side.matches["rows"]
        before = counts[slots] > 0
        counts[slots] += np.bincount(groups, weights[pairs.row], len(slots)).astype(np.int64)
        side.bag.mark_changed(slots)
        crossing = (counts[slots] > 0).astype(np.int64) - before
        slots, sign = slots[crossing != 0], crossing[crossing != 0]
        if self._kind is not JoinKind.SEMI:
            sign = -sign
        yield from self._weigh(pad(side.bag.frame(slots), self._schema), sign * side.bag.weights[slots])

    def _alone(self, side: Side, rows: pl.DataFrame, weights: Ints) -> Iterator[pl.DataFrame]:
        """Rows with NULL in a key: they match nothing."""
        if side.counts_matches and self._kind is not JoinKind.SEMI:
            yield from self._weigh(pad(rows, self._schema), weights)

    def _beside(self, own: Side, rows: pl.DataFrame, other: Side, pairs: RowPairs) -> pl.DataFrame:
        one_each = len(pairs.row) == rows.height and (pairs.row == np.arange(rows.height)).all()
        ours, theirs = rows if one_each else take_rows(rows, pairs.row), other.bag.frame(pairs.slot)
        return ours.hstack(theirs) if own.port == LEFT else theirs.hstack(ours)

    def _weigh(self, rows: pl.DataFrame, weights: Ints) -> Iterator[pl.DataFrame]:
        """The rows with their weights, each as often as it weighs."""
        if not rows.height or not weights.any():
            return
        times = np.abs(weights)
        if (times != 1).any():
            rows, weights = take_rows(rows, np.repeat(np.arange(len(times)), times)), np.repeat(weights, times)
        yield rows.hstack([pl.Series(WEIGHT, np.sign(weights))]) if self._retracts else rows


def pad(rows: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Rows of one side under the columns of `schema`, NULL in those of the other."""
    own = set(rows.columns)
    return pl.DataFrame(
        [rows[name] if name in own else make_nulls(name, kind, rows.height) for name, kind in schema.items()]
    )


def pair_up(kept: Slots, begins: Ints, counts: Ints) -> RowPairs:
    """Each row with as many slots of `kept` as it has, from where its own begin."""
    row = np.repeat(np.arange(len(counts)), counts)
    before = np.append(0, np.cumsum(counts)[:-1])
    return RowPairs(row, kept[np.arange(len(row)) + (begins - before)[row]])


def cuts_of_pairs(counts: Ints) -> Iterator[tuple[int, int]]:
    """Cuts of a batch that make about MOST_PAIRS pairs each, a row by itself if it alone makes more."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + MOST_PAIRS, "right")))
        yield start, end
        start = end
