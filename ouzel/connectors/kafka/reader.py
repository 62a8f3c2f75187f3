"""One topic partition: its queue of records, and what becomes of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
import polars as pl

from ouzel.connectors.backlog import PartitionExtent
from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.connectors.formats.conversion import Change, convert_columns, parse_column
from ouzel.connectors.formats.csv.format import CsvDecoder
from ouzel.connectors.formats.json.names import EXACT
from ouzel.connectors.kafka.records import KafkaRecords, join, take_nothing, take_out, taken_beside
from ouzel.connectors.options import TableOptions, replaces_by_key
from ouzel.connectors.reading import BadRow, ReadBatch, ReadState, SourceRequest, Unreachable, before
from ouzel.errors import ConnectorError

_QUEUE_ROWS_MAX = 100_000
_QUEUE_BYTES_MAX = 256 << 20
_BATCH_BYTES = 16 << 20
"""Records that are long are read in batches of about so many bytes, and fetched until about so many of them wait."""

_SAMPLE = 16


class Fetches(Protocol):
    """What has the connection, as the reader of one partition knows it."""

    def fetch(self) -> None:
        """Hand what has arrived to the readers of its partitions."""

    def hold(self, place: tuple[str, int], paused: bool) -> None:
        """Stop or go on fetching a partition."""

    def away(self, place: tuple[str, int]) -> str:
        """Why the partition cannot be reached; empty if it can."""

    def seek(self, place: tuple[str, int], offset: int) -> None:
        """Fetch a partition from there."""

    def forget(self, place: tuple[str, int]) -> None:
        """A reader is done with its partition."""

    def last(self, place: tuple[str, int]) -> int | None:
        """The offset behind the partition's newest record, as the last fetch told it; None before the first."""


class KafkaReader:
    """Reads one partition up to `end`, or for ever. `pinned` is where it begins, if the options might say otherwise later."""

    def __init__(
        self, source: Fetches, place: tuple[str, int], start: int, end: int | None, decoder: RecordDecoder, pinned: bool
    ) -> None:
        self.pinned = start if pinned else None
        self._source, self._place, self._decoder = source, place, decoder
        self._at, self._end = start, end
        self._queue = deque[KafkaRecords]()
        self._queued = 0
        self._record_bytes = 1  # about, of those that came last
        self._reached = start
        self._held = False

    @property
    def position(self) -> int:
        """The offset that is read next."""
        return self._at

    def skip(self, end: int) -> None:
        """Pass over all records before that offset: those that have come, and those that would."""
        rest = [part.cut(part.before(end)) for part in self._queue if part.offsets[-1] >= end]
        self._queue, self._queued = deque(rest), sum(map(len, rest))
        self._at, self._reached = end, max(end, self._reached)
        if not rest:
            self._source.seek(self._place, end)
            self._held = False

    @property
    def finished(self) -> bool:
        """Whether everything before the end has been read."""
        return self._end is not None and self._at >= self._end

    def take(self, messages: Sequence[Any]) -> None:
        """Records of this partition, in order; those that have been passed over meanwhile may still come."""
        records = take_out(messages, self._decoder.beside)
        records = records.cut(records.before(self._at))
        if not len(records):
            return
        self._queue.append(records)
        self._queued += len(records)
        self._record_bytes = _estimate_bytes(records.values)
        if self._queued > min(_QUEUE_ROWS_MAX, _QUEUE_BYTES_MAX // self._record_bytes) and not self._held:
            self._source.hold(self._place, True)
            self._held = True

    def on_gap(self, offset: int) -> None:
        """There is nothing before `offset` that has not been handed over: control records leave gaps at the end."""
        self._reached = offset

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState | Unreachable:
        """The records that are here, at most `rows`."""
        if self.finished:
            self.close()
            return ReadState.END
        if self._queued < rows and not self._held:
            self._source.fetch()
        rows = min(rows, max(1, _BATCH_BYTES // self._record_bytes))
        start, limit = self._at, min((end for end in (self._end, until) if end is not None), default=None)
        records = self._take_before(limit, rows)
        if self._held and self._queued < rows:
            self._source.hold(self._place, False)
            self._held = False
        if records or (until is not None and self._at >= until):
            return self._batch(start, records)
        if self.finished:
            self.close()
            return ReadState.END
        reason = self._source.away(self._place)
        return Unreachable(reason) if reason else ReadState.WAIT

    def _batch(self, start: int, parts: Sequence[KafkaRecords]) -> ReadBatch:
        records = join(parts) if parts else take_nothing(self._place, self._decoder.beside)
        frame, bad, good = self._decoder.decode(records)
        return ReadBatch(frame, start, self._at, bad, good.where, self._decoder.notes)

    def _take_before(self, limit: int | None, rows: int) -> list[KafkaRecords]:
        """The next records, and the position behind them: gaps that are known to be empty are passed over."""
        taken, left = list[KafkaRecords](), rows
        while self._queue and left:
            part = self._queue.popleft()
            size = min(left, len(part))
            inside = size if limit is None else min(size, part.before(limit))
            if inside < len(part):
                self._queue.appendleft(part.cut(inside))
            if inside:
                taken.append(part.cut(0, inside))
                self._at = int(part.offsets[inside - 1]) + 1
            left, self._queued = left - inside, self._queued - inside
            if inside < size:
                assert limit is not None
                self._at = limit
                return taken
        if not self._queue:
            self._at = max(self._at, before(limit, self._reached))
        return taken

    def lag(self) -> int | None:
        """From what was read to the newest record, or to the end of the reading; gaps between offsets count."""
        extent = self.extent()
        return None if extent is None else max(0, extent.there - extent.read)

    def extent(self) -> PartitionExtent | None:
        """See Measured: in offsets."""
        last = self._source.last(self._place)
        return None if last is None else PartitionExtent(self._at, before(self._end, last))

    def close(self) -> None:
        """Fetch no more of this partition."""
        self._source.forget(self._place)


class RecordDecoder:
    """Makes rows of Kafka's records: the value by its format, the key and the metadata beside it.

    Where records replace each other by key, one without a value is a row too, of its key and NULLs.
    """

    def __init__(self, request: SourceRequest, options: TableOptions) -> None:
        self._request = request
        self._bad_tombstones = options.text("tombstone") == "bad"
        self._keeps_tombstones = replaces_by_key(request.options)
        self._keys = _KeyDecoder(request, options)
        own = {*request.metadata, *self._keys.columns}
        data = {name: kind for name, kind in request.columns.items() if name not in own}
        self.beside = taken_beside([*request.metadata.values()], bool(self._keys.columns))
        self.notes: Sequence[str] = ()
        self._values = open_decoder(
            options.text("format"), request.options, data, request.required & data.keys(), request.directory
        )
        if isinstance(self._values, CsvDecoder) and not self._values.names:
            raise ConnectorError(
                f"table '{request.table}': nothing says which CSV field is which column; list the fields in order in 'csv.columns'"
            )

    def decode(self, records: KafkaRecords) -> tuple[pl.DataFrame, list[BadRow], KafkaRecords]:
        """Rows of the good ones, where the bad ones are, and each row's record."""
        bad, every = list[BadRow](), records
        if None in records.values:
            gone = [place for place, value in enumerate(records.values) if value is None]
            if self._bad_tombstones:
                bad = [BadRow(records.where(place), "it has no value") for place in gone]
            records = records.pick(np.delete(np.arange(len(records)), gone))
        values = cast(Sequence[bytes], records.values)
        decoded = self._values.decode(Records.of(values))
        self.notes = decoded.notes
        bad += [BadRow(records.where(index), reason, values[index]) for index, reason in decoded.bad]
        good = records if decoded.kept is None else records.pick(decoded.kept)
        frame = decoded.weighed(decoded.frame, self._request.weight)
        if self._keeps_tombstones and len(records) < len(every):
            frame, good = _with_tombstones(frame, good, every)
        if not self._request.metadata and not self._keys.columns:
            return frame, bad, good
        return self._beside(frame, good, bad)

    def _beside(
        self, frame: pl.DataFrame, records: KafkaRecords, bad: list[BadRow]
    ) -> tuple[pl.DataFrame, list[BadRow], KafkaRecords]:
        """Put key and metadata columns where they belong."""
        request = self._request
        columns = {name: frame[name] for name in frame.columns}
        for name, key in request.metadata.items():
            columns[name] = records.column(key).cast(request.columns[name])
        names = [*request.columns, *(name for name in frame.columns if name == request.weight)]
        if self._keys.columns:
            keys = self._keys.decode(records.beside["key"])
            bad += [
                BadRow(records.where(index), f"its key: {reason}", records.values[index] or b"")
                for index, reason in keys.bad
            ]
            if keys.kept is not None:
                columns = {name: column.gather(keys.kept) for name, column in columns.items()}
                records = records.pick(keys.kept)
            columns |= {name: keys.frame[name] for name in keys.frame.columns}
        return pl.DataFrame([columns[name].alias(name) for name in names]), bad, records


class _KeyDecoder:
    """Makes columns of records' keys: of text one, of JSON those of the PRIMARY KEY."""

    def __init__(self, request: SourceRequest, options: TableOptions) -> None:
        asked = options.names("key.fields") if replaces_by_key(request.options) else (options.text("key.field"),)
        self.columns = {name: request.columns[name] for name in asked if name in request.columns}
        self._required = request.required & self.columns.keys()
        raw = options.get("key.format") == "raw" or (not options.get("key.format") and len(asked) == 1)
        if raw and len(asked) > 1:
            raise ConnectorError(
                f"table '{request.table}': a key of {len(asked)} columns is no single text; write 'key.format' = 'json'"
            )
        exact = {option: value for option, value in request.options.items() if option == EXACT}
        self._json = None if raw else open_decoder("json", exact, self.columns, self._required)

    def decode(self, keys: Sequence[bytes | None]) -> Decoded:
        """The records' keys; a record without one has NULL, or `{}`."""
        if self._json is not None:
            return self._json.decode(Records.of([key or b"{}" for key in keys]))
        ((name, kind),) = self.columns.items()
        texts = pl.Series(name, keys, pl.Binary())
        return convert_columns(pl.DataFrame([texts]), self.columns, {name: _key_change(kind)}, self._required)


def _estimate_bytes(values: Sequence[bytes | None]) -> int:
    """About how long a record is, at least 1, from a few of them."""
    some = values[:: -(-len(values) // _SAMPLE)]
    return max(1, sum(len(value) for value in some if value) // len(some))


def _with_tombstones(frame: pl.DataFrame, good: KafkaRecords, every: KafkaRecords) -> tuple[pl.DataFrame, KafkaRecords]:
    """The rows with one of NULLs for each record without a value, in the order of the records."""
    gone = every.pick([place for place, value in enumerate(every.values) if value is None])
    records = join([good, gone])
    order = np.argsort(records.offsets, kind="stable")
    if frame.width:
        frame = pl.concat([frame, frame.clear(len(gone))])[order]
    return frame, records.pick(order)


def _key_change(kind: pl.DataType) -> Change:
    if isinstance(kind, pl.Binary):
        return lambda keys: keys
    change = parse_column(kind)
    return lambda keys: change(keys.cast(pl.String, strict=False))
