"""Rows that have been delivered and will come again: a multiset, of which rows that come are taken away."""

from __future__ import annotations

import numpy as np
import polars as pl
from polars import selectors

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.operators.buffers import Ints
from ouzel.runtime.state.hashing import PRIVATE_SEED, Words, key_hashes
from ouzel.runtime.state.index import KeyIndex
from ouzel.runtime.state.positions import take_rows

DIGITS = 9
"""So many digits of floating-point numbers are compared."""

_HASHES = "$hash", "$other hash"
"""The columns of a frame that stands for rows, of which nothing else is kept."""


def shorten(frames: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """One frame that stands for these in `OwedRows`, or of changes one with what is left of them, if there are any."""
    if not frames:
        return []
    if WEIGHT in frames[0].columns:
        from ouzel.runtime.operators.consolidate import net_changes

        return [net_changes(frames)]
    short = (frame if _is_short(frame) else dict(zip(_HASHES, _hashes(frame), strict=True)) for frame in frames)
    return [pl.concat([pl.DataFrame(one) for one in short], rechunk=True)]


def _is_short(frame: pl.DataFrame) -> bool:
    return tuple(frame.columns) == _HASHES


class OwedRows:
    """How often each row is still to come. Rows are equal as keys are (see state.hashing), and only their hashes are kept.

    A total of floating-point numbers has other last digits when rows are added in another order: of such a number the first digits count.
    """

    def __init__(self) -> None:
        self._index = KeyIndex()
        self._owed: Ints = np.zeros(0, np.int64)
        self._total = 0

    def __len__(self) -> int:
        return self._total

    def add(self, frame: pl.DataFrame) -> None:
        """These rows, or those that stand for such, have been delivered and will come again."""
        hashes = (frame[name].to_numpy() for name in _HASHES) if _is_short(frame) else _hashes(frame)
        slots = self._index.find_or_insert(*hashes)
        owed = np.bincount(slots, minlength=self._index.limit)
        owed[: self._owed.size] += self._owed
        self._owed, self._total = owed, self._total + frame.height

    def take_from(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of the frame that were not owed; the others are no longer."""
        slots = self._index.find(*_hashes(frame))
        known = slots >= 0
        places = np.flatnonzero(known)
        again = places[_ranks(slots[places]) < self._owed[slots[places]]]
        if not again.size:
            return frame
        self._owed -= np.bincount(slots[again], minlength=self._owed.size)
        self._total -= again.size
        return take_rows(frame, np.delete(np.arange(frame.height), again))


def _hashes(frame: pl.DataFrame) -> tuple[Words, Words]:
    return key_hashes(frame.with_columns(selectors.float().round_sig_figs(DIGITS)), frame.columns, PRIVATE_SEED)


def _ranks(values: Ints) -> Ints:
    """How many equal ones are before each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    places = np.arange(values.size)
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: values.size]
    ranks = np.empty(values.size, np.int64)
    ranks[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return ranks
