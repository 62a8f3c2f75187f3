"""Publishing epochs to a table: the rows of an epoch and its number are one commit.

Two properties of the table say of each publisher which epoch is its newest, and its generation, which grows whenever a task takes over.
Not the snapshots say it, for they expire. Iceberg has no condition on properties, so a takeover makes a snapshot, too, an empty one, and a
commit asks that `main` be where it was when the properties were read: so a task that others have taken over from commits no more, whenever
it wakes up.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from pyiceberg.table import Table

from ouzel.connectors.iceberg.sink import CatalogTable
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError


class IcebergPublisher:
    """See writing.EpochPublisher."""

    def __init__(self, request: SinkRequest) -> None:
        self._target = CatalogTable(request)
        self._publisher = request.publisher
        self._epochs = f"ouzel.{self._publisher}.epoch"
        self._generations = f"ouzel.{self._publisher}.generation"
        self._generation = self._published = 0

    def last_published(self) -> int:
        def take_over(table: Table) -> dict[str, str] | None:
            """Of a commit whose answer was lost the next one is a takeover from ourselves."""
            self._generation = _number(table, self._generations) + 1
            self._published = _number(table, self._epochs)
            return {self._generations: str(self._generation)}

        self._target.append([], take_over, {"ouzel.publisher": self._publisher})
        return self._published

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        def note(table: Table) -> dict[str, str] | None:
            if _number(table, self._generations) != self._generation:
                raise ConnectorError(
                    f"table '{self._target.name}': another task has taken over from '{self._publisher}'; what this one had begun is not "
                    "visible"
                )
            if _number(table, self._epochs) >= epoch:
                return None  # an earlier try was committed, and the answer has not arrived
            return {self._epochs: str(epoch)}

        self._target.append(frames, note, {"ouzel.publisher": self._publisher, "ouzel.epoch": str(epoch)})

    def close(self) -> None:
        """Nothing stays open; what is not committed is invisible."""


def _number(table: Table, name: str) -> int:
    return int(table.properties.get(name, 0))
