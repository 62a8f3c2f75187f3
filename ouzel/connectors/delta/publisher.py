"""Publishing epochs to a table: the rows of an epoch and its number are one commit.

A commit holds two transaction ids of Delta's (PROTOCOL.md, "Transaction Identifiers"): the publisher's newest epoch, and its generation,
which grows whenever a task takes over. The table was read before a commit, and Delta refuses one whose ids another has changed since: so a
task that others have taken over from commits no more, whenever it wakes up.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from deltalake import CommitProperties, Transaction
from deltalake.exceptions import DeltaError

from ouzel.connectors.delta.sink import AppendedTable
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_TAKEOVERS = 20
"""Others may take over in the same moment; whoever comes last has the table."""


class DeltaPublisher:
    """See writing.EpochPublisher."""

    def __init__(self, request: SinkRequest) -> None:
        self._target = AppendedTable(request)
        self._epochs = f"ouzel-{request.publisher}"
        self._generations = f"{self._epochs}-generation"
        self._generation = 0

    def last_published(self) -> int:
        for attempt in range(1, _TAKEOVERS + 1):
            try:
                return self._take_over()
            except DeltaError as error:
                if attempt == _TAKEOVERS:
                    raise self._target.make_error(error) from None
        raise AssertionError

    def _take_over(self) -> int:
        table = self._target.table
        table.update_incremental()
        generation = self._told(self._generations) + 1
        noted = CommitProperties(app_transactions=[Transaction(self._generations, generation)])
        table.create_write_transaction([], "append", table.schema(), commit_properties=noted)
        self._generation = generation
        table.update_incremental()
        return self._told(self._epochs)

    def _told(self, name: str) -> int:
        return self._target.table.transaction_version(name) or 0

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        target = self._target
        try:
            target.table.update_incremental()
        except DeltaError as error:
            raise target.make_error(error) from None
        if self._told(self._generations) != self._generation:
            raise ConnectorError(
                f"table '{target.name}': another task has taken over from '{self._epochs}'; what this one had begun is not visible"
            )
        if self._told(self._epochs) >= epoch:
            return  # an earlier try was committed, and the answer has not arrived
        ids = [Transaction(self._epochs, epoch), Transaction(self._generations, self._generation)]
        target.append(frames, CommitProperties(app_transactions=ids))

    def close(self) -> None:
        """Nothing stays open; what is not committed is invisible."""
