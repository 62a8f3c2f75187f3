"""One bucket of keys of an operator in Spark's state: rows in, rows out, and what it keeps as bytes. Knows nothing of Spark.

Rows travel packed: many of them as one Arrow IPC stream, so that no value is turned into an object of Python on its way.
"""

from __future__ import annotations

import json
import pickle
import secrets
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.compiler.plan import WEIGHT, Node
from ouzel.compiler.plan.distribution import DistributionKind
from ouzel.compiler.types import BIGINT, Field, Schema
from ouzel.errors import OuzelError
from ouzel.exits import in_user_code
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.build import OPERATORS
from ouzel.runtime.operators.consolidate import net_changes
from ouzel.runtime.protocol.groupings import RowPositions, key_tasks, split_frame
from ouzel.runtime.protocol.messages import END_OF_TIME
from ouzel.runtime.state.context import KeyGroups, Snapshot
from ouzel.runtime.state.state_parts import read_state_part, write_state_part
from ouzel.spark.io.arrow import arrow_schema, record_batches
from ouzel.spark.io.bucket_numbers import Buckets

if TYPE_CHECKING:
    from ouzel.spark.lowering.held import HeldOperator

ROUTING_SEED = 0
"""Of the hash that deals keys to buckets: state must be found again whoever reads it. Inside a bucket keys are hashed under a seed of its
own."""


END_MS = 10**15
"""Spark's watermark when everything has been read."""


@lru_cache(64)
def read_operator(text: str) -> HeldOperator:
    """The operator that the text holds."""
    held: HeldOperator = pickle.loads(b64decode(text))
    return held


def deal_rows(frame: pl.DataFrame, node: Node, port: int, buckets: Buckets) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of one input by bucket. Of what is to be in one place, so that there is a row even of nothing, an empty frame goes, too."""
    spread = node.distribution[port]
    if spread.kind is DistributionKind.SINGLE:
        yield buckets[0], frame
        return
    chosen: RowPositions = np.arange(frame.height, dtype=np.int64) % len(buckets)
    if spread.kind is DistributionKind.KEYS:
        chosen = key_tasks(frame, spread.keys, len(buckets), ROUTING_SEED)
    yield from ((buckets[place], rows) for place, rows in split_frame(frame, chosen, len(buckets)))


def pack_rows(frame: pl.DataFrame) -> bytes:
    """The rows as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    write_state_part(sink, frame)
    return bytes(sink.getvalue())


def unpack_rows(packed: bytes) -> pl.DataFrame:
    """The rows that `pack_rows` packed."""
    return read_state_part(pa.BufferReader(packed))


def weighted_schema(node: Node) -> Schema:
    """The columns of a node's frames."""
    return Schema((*node.schema, *((Field(WEIGHT, BIGINT),) if node.retracts else ())))


def pack_batches(operator: str, port: int, buckets: Buckets, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """A partition of one input, packed by bucket."""
    node = read_operator(operator).operator
    kinds = pl.Schema(weighted_schema(node.inputs[port]).polars())
    given = [rows for rows in map(pl.from_arrow, batches) if isinstance(rows, pl.DataFrame)]
    rows = pl.concat([rows.select(list(kinds)).cast(kinds) for rows in given] or [pl.DataFrame(schema=kinds)])
    dealt = [(bucket, port, pack_rows(part)) for bucket, part in deal_rows(rows, node, port, buckets)]
    columns = zip(*dealt, strict=True) if dealt else ((), (), ())
    arrays = [pa.array(list(held), kind) for held, kind in zip(columns, _KINDS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=["bucket", "port", "packed"])


_KINDS = (pa.int32(), pa.int32(), pa.binary())


def unpack_batches(operator: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows that an operator gave, as Spark has them."""
    schema = arrow_schema(weighted_schema(read_operator(operator).gives))
    for batch in batches:
        for packed in batch.column(0):
            yield from record_batches(unpack_rows(packed.as_py()), schema)


class Bucket:
    """An operator with the state of one bucket. `calls` is how often the bucket was handled before."""

    def __init__(self, held: HeldOperator, kept: bytes | None) -> None:
        """`kept` is what `keep` gave the last time; None for a bucket that is new."""
        node = held.operator
        self._node, self._held = node, held
        before = read_snapshot(kept) if kept else None
        seed = before.seed if before else secrets.randbits(63)
        self._operator: Operator = OPERATORS[type(node)](node, seed)
        self._late: Operator | None = OPERATORS[type(held.gives)](held.gives, seed) if held.gives.reads_late else None
        self.calls = before.number if before else 0
        if before is not None and self._operator.state is not None:
            self._operator.state.restore([before])
            self._operator.on_restored()

    def handle(self, packed: Iterable[tuple[int, bytes]], watermark_ms: int) -> pl.DataFrame | None:
        """The changes that these rows of inputs, and then event time, make, or those of the rows that are late.

        The watermark is Spark's, 0 for none.

        Raises:
            OuzelError: a row could not be computed.
        """
        frames: dict[int, list[pl.DataFrame]] = {}
        for port, rows in packed:
            frames.setdefault(port, []).append(unpack_rows(rows))
        with in_user_code():
            # A bucket whose first rows these are must know, too, which of them are late.
            told = self._advance(watermark_ms) if self._held.of_tables and watermark_ms < END_MS else ()
            made = [*told, *self._process(frames), *self._advance(watermark_ms), self._operator.flush_on_pause()]
            if not any(self._node.waits):  # the one row of an aggregate without keys is there from the beginning
                made.append(self._operator.finish())
        if self._operator.refused:
            first = self._operator.refused[0]
            raise OuzelError("\n".join(filter(None, [f"{first.reason}: {first.row}", first.detail])))
        some = [frame for frame in self._take(made) if frame is not None and frame.height]
        if not some:
            return None
        return net_changes(some) if WEIGHT in some[0].columns else pl.concat(some)

    def _take(self, made: list[pl.DataFrame | None]) -> list[pl.DataFrame | None]:
        """What of a call is asked for: what the operator has made, or what it has dropped."""
        return made if self._late is None else [self._late.process(rows) for rows in self._operator.late_frames]

    def _process(self, frames: Mapping[int, Sequence[pl.DataFrame]]) -> Iterator[pl.DataFrame | None]:
        for port, parts in sorted(frames.items()):
            rows = pl.concat(parts)
            if rows.height:
                yield self._operator.process(rows, port)

    def _advance(self, watermark_ms: int) -> Iterator[pl.DataFrame | None]:
        """Spark's watermark says that rows of this very time may come; ours that none does."""
        if not any(self._node.waits) or watermark_ms <= 0:
            return
        is_over = watermark_ms >= END_MS
        time_us = END_OF_TIME if is_over else watermark_ms * 1000 - 1 - self._held.lag_us
        for port in range(len(self._node.inputs)):
            yield self._operator.advance_port(port, time_us)
        yield self._operator.advance(time_us)
        if is_over:
            yield self._operator.finish()

    @property
    def late(self) -> int:
        """Rows that were dropped as late."""
        return self._operator.counters.late

    def keep(self) -> bytes:
        """All that the operator keeps."""
        if self._operator.state is None:
            return b""
        return write_snapshot(replace(self._operator.state.snapshot(), number=self.calls + 1))


def write_snapshot(snapshot: Snapshot) -> bytes:
    """A whole snapshot as bytes: a line of JSON, then an Arrow IPC stream for each part in the line's order."""
    header = {
        "operator": snapshot.operator, "seed": snapshot.seed, "number": snapshot.number,
        "hash_version": snapshot.hash_version, "parts": list(snapshot.parts),
    }  # fmt: skip
    return b"".join([json.dumps(header).encode(), b"\n", *map(pack_rows, snapshot.parts.values())])


def read_snapshot(kept: bytes) -> Snapshot:
    """The snapshot that `write_snapshot` wrote."""
    line, _, streams = bytes(kept).partition(b"\n")
    header, source = json.loads(line), pa.BufferReader(streams)
    parts = {name: read_state_part(source) for name in header.pop("parts")}
    return Snapshot(**header, groups=KeyGroups(), whole=True, parts=parts)
