"""Which record a row came from that could not be computed. Looked for only then, by computing ever smaller parts of the batch again."""

from __future__ import annotations

import polars as pl

from ouzel.connectors.dead_letters import RefusedRecord
from ouzel.connectors.reading import ReadBatch
from ouzel.runtime.operators.base import RefusedRow
from ouzel.runtime.operators.chain import Chain

MOST_PLACED = 16
"""Of one batch so many records are looked for, if each is kept; other rows get the place of the batch."""


def locate_records(
    refused: list[RefusedRecord], chain: Chain, batch: ReadBatch, partition: str, most: int
) -> list[RefusedRecord]:
    """The same rows in the order of their records, the first `most` with the record's place, the others with that of the batch."""
    if not refused:
        return refused
    search = _Search(chain.trial(), most)
    search.look(batch.frame, 0)
    whole = f"{partition}, offsets {batch.start} to {batch.end}"
    places = [whole if row is None else place_of(batch, partition, row) for row, _ in search.found]
    if len(places) != len(refused):  # an operator with state refused some
        return [RefusedRecord(whole, one.reason, one.raw, one.detail) for one in refused]
    details = {one.reason: one.detail for one in refused}
    return [
        RefusedRecord(place, one.reason, one.row, details.get(one.reason, ""))
        for place, (_, one) in zip(places, search.found, strict=True)
    ]


def place_of(batch: ReadBatch, partition: str, row: int) -> str:
    """The place of one row of a batch."""
    if batch.place is not None:
        return batch.place(row)
    dense = batch.frame.height == batch.end - batch.start
    return f"{partition}@{batch.start + row}" if dense else f"{partition}, offsets {batch.start} to {batch.end}"


class _Search:
    """Halves a batch until it has each row by itself that is refused."""

    def __init__(self, chain: Chain, most: int) -> None:
        self._chain, self._most = chain, most
        self.found: list[tuple[int | None, RefusedRow]] = []

    def look(self, frame: pl.DataFrame, first: int) -> None:
        """Find what is refused of these rows, the first of which is number `first` of the batch."""
        self._chain.process(frame)
        refused = self._chain.take_refused()
        if not refused:
            return
        if frame.height == 1 or len(self.found) >= self._most:
            self.found += [(first if frame.height == 1 else None, row) for row in refused]
            return
        half = frame.height // 2
        self.look(frame[:half], first)
        self.look(frame[half:], first + half)
