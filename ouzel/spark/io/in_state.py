"""Our operators inside Spark's state: `transformWithState`, keyed by bucket, one call for each bucket in a micro-batch.

Beside the driver Spark starts a process for each operator that only asks what state it declares; so what is heavy is imported where it is
used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import Accumulator
    from pyspark.sql import DataFrame

    from ouzel.spark.io.bucket_numbers import Buckets

LateCounts = dict[tuple[str, int, int], int]
"""(digest of the operator, bucket, number of the call for this bucket) -> rows that it dropped as late."""

PACKED = "bucket int, port int, packed binary"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.exchange.reuse": "false",
}
"""The only state store that has `transformWithState`; and no shuffle that is read twice, for behind one Spark 4.3 loses the watermark:
an aggregate of windows there never closes any."""


def in_state(
    operator: str,
    columns: str,
    *others: DataFrame,
    late: Accumulator[LateCounts] | None = None,
    buckets: Buckets,
) -> Callable[[DataFrame], DataFrame]:
    """What makes of a frame, the first input, the rows of the operator that the text holds; `columns` are these in Spark's DDL.

    `others` are its other inputs. A frame holds the columns of its input, and WEIGHT if that takes rows back.
    `late` is told of the rows that the operator drops as late. `buckets` are those that its state has from the first micro-batch on.
    """
    from ouzel.spark.io.buckets import read_operator
    from ouzel.spark.wheel import hand_on

    node = read_operator(operator).operator

    def compute(first: DataFrame) -> DataFrame:
        spark, frames = first.sparkSession, (first, *others)
        hand_on(spark)
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        packed = [frame.mapInArrow(_packing(operator, port, buckets), PACKED) for port, frame in enumerate(frames)]
        mode = "EventTime" if any(node.waits) else "None"
        made = (
            reduce(lambda one, other: one.union(other), packed)
            .groupBy("bucket")
            .transformWithState(InBuckets(operator, late), "packed binary", "Append", mode)
        )
        return made.mapInArrow(_unpacking(operator), columns)

    return compute


def _packing(
    operator: str, port: int, buckets: Buckets
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ouzel.spark.io.buckets import pack_batches

        yield pack_batches(operator, port, buckets, batches)

    return pack


def _unpacking(operator: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ouzel.spark.io.buckets import unpack_batches

        yield from unpack_batches(operator, batches)

    return unpack


class InBuckets(StatefulProcessor):  # type: ignore[misc]
    """Keeps for each bucket what its operator keeps, and when it is next to be told of event time."""

    def __init__(self, operator: str, late: Accumulator[LateCounts] | None) -> None:
        self._operator, self._late = operator, late

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._kept = handle.getValueState("kept", "timer_ms bigint, state binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Rows have come."""
        packed = [(row.port, bytes(row.packed)) for row in rows]
        yield from self._handle_bucket(key[0], packed, timerValues.getCurrentWatermarkInMs(), expired=False)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        """Event time has moved, and no row has come."""
        yield from self._handle_bucket(key[0], [], timerValues.getCurrentWatermarkInMs(), expired=True)

    def _handle_bucket(
        self, number: int, packed: list[tuple[int, bytes]], watermark_ms: int, expired: bool
    ) -> Iterator[Row]:
        from ouzel.spark.io.buckets import Bucket, pack_rows, read_operator

        held = read_operator(self._operator)
        node = held.operator
        timer_ms, state = self._kept.get() or (0, None)
        bucket = Bucket(held, None if state is None else bytes(state))
        made = bucket.handle(packed, watermark_ms)
        if bucket.late and self._late is not None:
            self._late.add({(node.stable_id, number, bucket.calls): bucket.late})
        if any(node.waits):
            timer_ms = self._next_timer(timer_ms, watermark_ms, expired)
        self._kept.update((timer_ms, bucket.keep()))
        if made is not None:
            yield Row(packed=pack_rows(made))

    def _next_timer(self, timer_ms: int, watermark_ms: int, expired: bool) -> int:
        """Be called when the watermark next moves: a timer for each bucket, for what it knows of time is its operator's own."""
        from ouzel.spark.io.buckets import END_MS

        if timer_ms > watermark_ms:
            return timer_ms
        if timer_ms and not expired:  # Spark takes away those that have expired
            self._handle.deleteTimer(timer_ms)
        if watermark_ms >= END_MS:  # everything has been read
            return 0
        self._handle.registerTimer(watermark_ms + 1)
        return watermark_ms + 1

    def close(self) -> None:
        """Nothing is open."""
