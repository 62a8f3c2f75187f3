"""SideJoin: each batch of the stream meets a table that the task reads for itself, whole or for the batch's keys, and is not kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
import polars as pl

from ouzel.compiler.plan import SideJoin
from ouzel.runtime.operators.buffers import Ints
from ouzel.runtime.operators.joined.join import LEFT, RIGHT, Candidates, Delta, Joining, Side
from ouzel.runtime.state.hashing import key_hashes, row_hashes
from ouzel.runtime.state.index import Slots

_WORD = (1 << 64) - 1


class Answers(Protocol):
    """Who answers for a table that is asked by key."""

    rows: int
    """Of so many keys the answer may be remembered."""

    expires_ms: float
    """For so long."""

    def now_ms(self) -> float:
        """The clock."""

    def ask(self, keys: pl.Series) -> Iterable[pl.DataFrame]:
        """The rows of these keys, which are each given once, however long it takes.

        Raises:
            OuzelError: there is no answer.
        """


class SideJoining(Joining):
    """The operator of SideJoin. Whoever makes it gives it the table's rows before the stream's, or whom to ask.

    What it holds is no state: a task that starts again reads the table again.
    """

    stateful = False

    def __init__(self, node: SideJoin, seed: int) -> None:
        super().__init__(node, seed)
        assert self.state is not None
        key = {name: self._sides[LEFT].columns[name] for name in self._keys}
        self._remembered = self.state.table("remembered", key)
        self._until = self._remembered.columns("until", {"ms": np.float64})
        self.state = None
        self._loaded = False
        self._places: tuple[Slots, Ints] | None = None
        self._answers: Answers | None = None

    def load(self, frames: Iterable[pl.DataFrame]) -> None:
        """Take the rows of the table."""
        for frame in frames:
            super().process(frame, RIGHT)
        self._loaded, self._places = True, None

    def ask_of(self, answers: Answers) -> None:
        """Have the table asked by key."""
        self._answers, self._loaded = answers, True

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows of the stream with what they meet."""
        assert self._loaded, "the table has not been read"
        if self._answers is None:
            return super().process(frame, LEFT)
        touched = self._find_out(frame.drop_nulls(self._keys), self._answers)
        made = super().process(frame, LEFT)
        self._forget(touched, self._answers)
        if made is not None:
            told = np.add.reduce(row_hashes(made, made.columns, 0))
            self.answers = (self.answers * 31 + int(told)) & _WORD
        return made

    def _meet(self, own: Side, other: Side, frame: pl.DataFrame, weights: Ints) -> Iterator[pl.DataFrame]:
        """Of a table that is read whole nothing changes any more: keys are found, and none is put beside them."""
        if own.port == RIGHT or self._answers is not None:
            yield from super()._meet(own, other, frame, weights)
            return
        kept, ends = self._sorted_by_key(other)
        key = key_hashes(frame, own.keys, self._seed)
        owners = self._table.index.find(*key)
        begins, counts = ends[owners], np.where(owners < 0, 0, ends[owners + 1] - ends[owners])
        yield from self._meet_candidates(
            own, other, Delta(frame, weights, owners, key), Candidates(kept, begins, counts)
        )

    def _sorted_by_key(self, other: Side) -> tuple[Slots, Ints]:
        """The slots of the table's rows, and where those of each key begin, by the slot of the key, with the end of the last."""
        if self._places is None:
            limit = self._table.index.limit
            self._places = (
                other.bag.list_slots(np.arange(limit)) if limit else (np.empty(0, np.int64), np.zeros(1, np.int64))
            )
        return self._places

    def _find_out(self, frame: pl.DataFrame, answers: Answers) -> Slots:
        """Ask for those keys of the batch whose answer is not remembered, or no more."""
        touched = self._remembered.enter(frame, self._keys).touched
        until = self._until["ms"]
        now = answers.now_ms()
        unknown = touched[until[touched] <= now]
        if unknown.size:
            self._drop(unknown)
            self.load(answers.ask(self._remembered.keys(unknown).to_series()))
            until = self._until["ms"]
            until[unknown] = now + answers.expires_ms
        return touched

    def _forget(self, touched: Slots, answers: Answers) -> None:
        """Keep no more answers than are allowed: those of this batch, if they are not too many."""
        if len(self._remembered.index) > answers.rows:
            kept = touched if len(touched) <= answers.rows else touched[:0]
            gone = np.setdiff1d(self._remembered.index.slots(), kept)
            self._drop(gone)
            self._remembered.remove(gone)

    def _drop(self, slots: Slots) -> None:
        """Forget the rows of these keys."""
        owners = self._table.enter(self._remembered.keys(slots), self._keys).touched
        self._table.remove(owners)

    def _keep(self, own: Side, part: Delta, matches: Ints) -> None:
        if own.port == RIGHT:
            super()._keep(own, part, matches)
