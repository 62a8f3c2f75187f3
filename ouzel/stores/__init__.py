"""Batches of time, and what is kept of each."""

from ouzel.stores.batcher import (
    Batcher,
    BatchID,
    BatchRange,
    CalendarBatcher,
    CombinedBatcher,
    FixedBatcher,
    parse_batcher,
)

__all__ = ["BatchID", "BatchRange", "Batcher", "CalendarBatcher", "CombinedBatcher", "FixedBatcher", "parse_batcher"]
