"""Value: one value of an operator, the same in all its tasks, for example how far event time has come."""

from __future__ import annotations

import polars as pl

from ouzel.errors import StateError
from ouzel.runtime.state.table import GONE


class Value:
    """A number or a truth value. Markers travel with watermarks, so all tasks of an operator hold the same when a snapshot is taken."""

    def __init__(self, name: str, initial: int | bool) -> None:
        self.name = name
        self.value: int = initial

    def part(self) -> pl.DataFrame:
        """The value as part of a snapshot."""
        return pl.DataFrame({GONE: [False], "value": [self.value]})

    def load(self, parts: list[pl.DataFrame]) -> None:
        """Take the value that all tasks' parts hold.

        Raises:
            StateError: they hold different ones.
        """
        values = {part["value"][0] for part in parts}
        if len(values) != 1:
            told = ", ".join(map(str, sorted(values)))
            raise StateError(
                f"the tasks kept different values of {self.name} ({told}), so their snapshots are not of one moment"
            )
        self.value = values.pop()
