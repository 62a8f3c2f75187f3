"""Batches of time, what is kept of each, and both answers as one.

A batch job computes whole batches, and a stream what has come since. `ClientStore` reads both, and says which batch neither of them has.
"""

from ouzel.stores.batcher import (
    Batcher,
    BatchID,
    BatchRange,
    CalendarBatcher,
    CombinedBatcher,
    FixedBatcher,
    parse_batcher,
)
from ouzel.stores.client import ClientStore, Disagreement, MergedTotals
from ouzel.stores.folder import FolderStore
from ouzel.stores.keyed import KeyedStream, KeyedTotals, keyed_stream, keyed_totals
from ouzel.stores.rolling import advance
from ouzel.stores.rows import stored_stream
from ouzel.stores.store import BatchStore, MemoryBatches, MemoryStream, StreamStore, Version

__all__ = [
    "BatchID", "BatchRange", "BatchStore", "Batcher", "CalendarBatcher", "ClientStore", "CombinedBatcher", "Disagreement", "FixedBatcher",
    "FolderStore", "KeyedStream", "KeyedTotals", "MemoryBatches", "MemoryStream", "MergedTotals", "StreamStore", "Version", "advance",
    "keyed_stream", "keyed_totals", "parse_batcher", "stored_stream",
]  # fmt: skip
