"""Arrays that a snapshot reads while their owner goes on: copied when the owner next writes, if they are still read then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import ref

import polars as pl


class Loans:
    """Who may still read an array as it was: frozen objects, each until it is let go of.

    Only the owner's thread adds and takes. Another may let go of a frozen object at any time, for it has read what it needs then.
    """

    def __init__(self) -> None:
        self._frozen: list[ref[Any]] = []

    def __bool__(self) -> bool:
        return bool(self._frozen)

    def add(self, frozen: object) -> None:
        """This one reads the array as it is now."""
        self._frozen.append(ref(frozen))

    def take(self) -> bool:
        """Whether any of them is still there: then the owner leaves the array to them, and goes on with a copy. Now there are none."""
        some = any(one() is not None for one in self._frozen)
        self._frozen.clear()
        return some


class SnapshotParts(Mapping[str, pl.DataFrame]):
    """The parts of a snapshot, each made when it is first asked for, and what it is made from let go of then. For one thread at a time."""

    def __init__(self, makers: Mapping[str, Callable[[], pl.DataFrame]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._made:
            self._made[name] = self._makers[name]()
            self._makers[name] = _none
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def _none() -> pl.DataFrame:
    raise AssertionError("a part is made once")
