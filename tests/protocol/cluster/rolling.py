"""A topology that rolls back, as those see it who take its result: what several tasks say, in any order in which it may be heard."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl
from hypothesis import strategies as st

from ouzel.compiler.plan import WEIGHT

NAN, ZERO = float("nan"), 0.0
PALETTE = pl.DataFrame(
    {
        "number": [1.5, None, NAN, ZERO, -ZERO, ZERO, 1.5],
        "text": ["a", None, "b", "a rather long text", "a rather long text", None, "a"],
        "parts": [[{"x": 1}], None, [], [{"x": None}], [{"x": None}], [None], [{"x": 2}]],
    },
    schema={"number": pl.Float64(), "text": pl.String(), "parts": pl.List(pl.Struct({"x": pl.Int64()}))},
)
"""Rows of which some differ only in what is easily taken for equal, and two, only in the sign of zero, are equal."""


def counted(frames: Sequence[pl.DataFrame]) -> Counter[str]:
    """How often each row is there, by its weights if it has such."""
    found = Counter[str]()
    for frame in frames:
        weights = frame[WEIGHT] if WEIGHT in frame.columns else [1] * frame.height
        for row, weight in zip(frame.drop(WEIGHT, strict=False).rows(), weights, strict=True):
            found[repr(tuple(0.0 if value == 0 else value for value in row))] += weight
    return Counter({row: number for row, number in found.items() if number})


@dataclass
class Rows:
    """A result that only grows: row i is one of the palette."""

    def changes(self, before: int, end: int) -> pl.DataFrame:
        """What a batch of the rows from `before` to `end` is."""
        return PALETTE[[(7 * place + place // 3) % PALETTE.height for place in range(before, end)]]


@dataclass
class Counts:
    """A result that takes rows back: of each row of the palette how often it was there, as it stands after each batch."""

    def changes(self, before: int, end: int) -> pl.DataFrame:
        """What a batch of the rows from `before` to `end` changes."""
        old, new = Counter(place % 3 for place in range(before)), Counter(place % 3 for place in range(end))
        moved = [key for key in new if new[key] != old[key]]
        changes = [(key, old[key], -1) for key in moved if old[key]] + [(key, new[key], 1) for key in moved]
        return pl.DataFrame(changes, {"key": pl.Int64(), "seen": pl.Int64(), WEIGHT: pl.Int64()}, orient="row")


class Receiver(Protocol):
    """Who takes the result of all tasks: what it gives is delivered."""

    def on_rows(self, task: int, frame: pl.DataFrame) -> pl.DataFrame | None: ...

    def on_mark(self, task: int, epoch: int, kept: int) -> None: ...

    def on_roll_back(self, task: int, epoch: int, generation: int) -> pl.DataFrame | None: ...


Said = Callable[[Receiver], pl.DataFrame | None]


@dataclass
class RollingTopology:
    """Sources that start anew at an epoch, and tasks of a sink, each with a connection on which what it said waits to be read."""

    result: Rows | Counts
    receiver: Receiver
    tasks: int = 3
    delivered: list[pl.DataFrame] = field(default_factory=list)
    place: int = 0
    generation: int = 0
    epoch: int = 0
    places: dict[int, int] = field(default_factory=lambda: {0: 0})
    complete: list[int] = field(default_factory=lambda: [0])

    def __post_init__(self) -> None:
        self.said: list[deque[Said]] = [deque() for _ in range(self.tasks)]
        self.restored = 0
        for task in range(self.tasks):
            self.start(task)

    def start(self, task: int) -> None:
        """The task's process starts, the first time or, as one without state, anew: it says again where it is."""
        epoch, generation = self.restored, self.generation
        self._say(task, lambda receiver: receiver.on_roll_back(task, epoch, generation))

    def _say(self, task: int, what: Said) -> None:
        self.said[task].append(what)

    def write(self, rows: int, task: int) -> None:
        frame = self.result.changes(self.place, self.place + rows)
        self.place += rows
        self._say(task, lambda receiver: receiver.on_rows(task, frame))

    def mark(self, completes: bool) -> None:
        self.epoch += 1
        epoch, kept = self.epoch, self.complete[0]
        self.places[epoch] = self.place
        for task in range(self.tasks):
            self._say(task, lambda receiver, task=task: receiver.on_mark(task, epoch, kept))
        if completes:
            self.complete = [*self.complete[-1:], epoch]

    def roll_back(self, back: int) -> None:
        """Go back to the newest complete epoch, or the one before it if that is still kept."""
        epoch = self.complete[-1 - back % len(self.complete)]
        self.complete = self.complete[: self.complete.index(epoch) + 1]
        self.generation += 1
        self.epoch, self.place = max(epoch, self.epoch - back % 2), self.places[epoch]
        self.restored = epoch
        for task in range(self.tasks):
            self.start(task)

    def read(self, task: int, number: int) -> None:
        for _ in range(min(number, len(self.said[task]))):
            rows = self.said[task].popleft()(self.receiver)
            if rows is not None:
                assert rows.height
                self.delivered.append(rows)

    def end(self, at: int) -> None:
        for place in range(self.place, at, 4):
            self.write(min(4, at - place), place % self.tasks)
        for task in range(self.tasks):
            self.read(task, len(self.said[task]))


STEP = st.one_of(
    st.tuples(st.just("write"), st.integers(1, 9), st.integers(0, 2)),
    st.tuples(st.just("mark"), st.booleans()),
    st.tuples(st.just("roll_back"), st.integers(0, 3)),
    st.tuples(st.just("start"), st.integers(0, 2)),
    st.tuples(st.just("read"), st.integers(0, 2), st.integers(1, 8)),
)
