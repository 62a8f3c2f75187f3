"""Reading files of lines: JSON lines, CSV, raw. Offsets are line numbers, from 0; a record starts on the line that its offset says.

A raw line ends where Hadoop's and so Spark's ends: with LF, CR LF, or a CR alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ouzel.connectors.backlog import Backlog, PartitionExtent
from ouzel.connectors.file.array import ArrayContent
from ouzel.connectors.file.content import Content, is_packed, open_content
from ouzel.connectors.file.followed import Followed
from ouzel.connectors.file.headers import advise_of_others
from ouzel.connectors.file.partitioned import Fixed, fixed_columns
from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.connectors.formats.csv.format import CsvDecoder, Dialect, LackingColumn
from ouzel.connectors.formats.raw import RawDecoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import BadRow, OffsetRange, ReadBatch, ReadState, SourceRequest
from ouzel.errors import ConnectorError

Opens = Callable[[], Content]
"""Opens a file."""

_BLOCK_BYTES = 4 << 20
_RECORD_BYTES_MAX = 16 << 20
_BATCH_BYTES = 16 << 20
"""With so much in whole records no more is read for a batch, however few they are: what waits is searched again with each block."""

_LINE_BYTES_MAX = 256 << 20
"""A line that is longer is none: it would have to be held whole."""

_LF, _CR = 10, 13
_BOM = b"\xef\xbb\xbf"


@dataclass
class _Block:
    """Bytes of the file from `at` on; `ends` are the places of line ends that end a record, `lines` the line that follows each."""

    data: bytes
    at: int
    ends: np.ndarray
    lines: np.ndarray


class TextReader:
    """Lines of one file from an offset on, decoded a batch at a time."""

    def __init__(
        self,
        request: SourceRequest,
        options: TableOptions,
        path: str,
        offset: int | None,
        content: Opens | None = None,
        fixed: Fixed | None = None,
        others: Callable[[], Sequence[str]] = list,
    ) -> None:
        """`path` is what the file is called; `content` opens it, by default under that name. `fixed`: columns it does not hold;
        `others` gives the files of the same table, of which an error may speak."""
        self._request, self._path, self._others = request, path, others
        self._follow = options.flag("follow")
        if self._follow and is_packed(path):
            raise ConnectorError(
                f"{path} is compressed, and such a file cannot be followed; leave it out of 'path', or leave out 'follow'"
            )
        self._opens = content or (lambda: open_content(path))
        own = {name: kind for name, kind in request.columns.items() if name not in request.metadata}
        self._fixed = fixed_columns(fixed or {}, own, path)
        data = {name: kind for name, kind in own.items() if name not in self._fixed.columns}
        lacking = (one.name for one in self._fixed if one.has_nulls() and one.name in request.required)
        self._lacking = next(lacking, "")
        self._decoder = open_decoder(options.text("format"), request.options, data, request.required & data.keys())
        self._dialect: Dialect | None = None
        self._headed = False
        self._array = options.flag("json.array")
        self._raw = isinstance(self._decoder, RawDecoder)
        if isinstance(self._decoder, CsvDecoder):
            self._headed = self._decoder.dialect.header
            self._dialect = self._decoder.dialect if self._decoder.dialect.quote else None
        self._content: Content | None = (
            None  # open from the first block to the last: a process may not have thousands of files open
        )
        self._block = _Block(b"", 0, np.empty(0, np.int64), np.empty(0, np.int64))
        self._taken = 0  # records of the block that were given out
        self._line = 0  # the line that the next record starts on
        self._sought = self._given_to = offset or 0
        self._ended = False
        self._grew = False
        self._left_out = ""  # what the user is told of the last line
        self._backlog: Backlog | None = None  # as of the last look

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """The next records: the `rows` that follow, less at what is the end of the file now, or where they are long."""
        if not self._seek():
            self._check_reached()
            return self._nothing()
        while not self._has(rows) and self._more():
            pass
        first, last = self._taken, min(self._taken + rows, len(self._block.ends))
        if until is not None and last > first:  # the first begins on this line, each other where the one before it ends
            begins = self._block.lines[first : last - 1]
            last = first + (self._line < until) + int(np.searchsorted(begins, until))
        if first == last:
            return self._nothing()
        batch = self._batch(first, last)
        if self._left_out and self._taken == len(self._block.ends):
            batch.notes, self._left_out = [*batch.notes, self._left_out], ""
        return batch

    def _check_reached(self) -> None:
        """See that a file of which nothing more comes has the line where reading is to go on."""
        if self._is_over and self._line < self._sought:
            raise ConnectorError(
                f"{self._path} has {self._line:,} lines now, and {self._sought:,} were read of it: rows of it are lost, or others have "
                "taken their place; start again, and let nobody write to it meanwhile"
            )

    @property
    def _is_over(self) -> bool:
        return self._ended and self._taken == len(self._block.ends)

    @property
    def given_to(self) -> int | None:
        """The line before which all records were given out; None while some that were read wait to be."""
        return self._given_to if self._taken == len(self._block.ends) else None

    def lag(self) -> int | None:
        """Of a file that is followed, once it was looked into: the records that were found, and of the bytes behind these about so many as
        lines are long in the mean; one at least, if there are any."""
        content, here = self._content, len(self._block.ends) - self._taken
        if not isinstance(content, Followed):
            self._backlog = None
            return None
        looked_into, size = self._block.at + len(self._block.data), content.find_size()
        beyond = max(0, size - looked_into)
        records = here + (math.ceil(beyond / (self._line_bytes() or beyond)) if beyond else 0)
        self._backlog = Backlog(self._path, records, max(0, size - self._start()))
        return records

    def backlogs(self) -> list[Backlog]:
        """See Backlogged."""
        return [self._backlog] if self._backlog else []

    def extent(self) -> PartitionExtent | None:
        """See Measured: in bytes."""
        waits = self._backlog.bytes if self._backlog else None
        return None if waits is None else PartitionExtent(self._start(), self._start() + waits)

    def _line_bytes(self) -> float:
        """The mean length of the lines that were found so far; 0 before the first."""
        block = self._block
        if not len(block.ends):
            return block.at / self._line if self._line else 0.0
        return (block.at + int(block.ends[-1]) + 1) / int(block.lines[-1])

    def _nothing(self) -> ReadState:
        over = self._is_over
        if over and self._left_out:  # there is no batch to say it with
            raise ConnectorError(self._left_out)
        return ReadState.WAIT if self._follow and not over else ReadState.END

    def _has(self, rows: int) -> bool:
        """Whether enough for a batch has been read."""
        block, waiting = self._block, len(self._block.ends) - self._taken
        return waiting >= rows or (waiting > 0 and block.at + block.ends[-1] - self._start() >= _BATCH_BYTES)

    @property
    def line(self) -> int:
        """The line that the next record starts on."""
        return max(self._line, self._sought)

    def skip(self, rows: int) -> OffsetRange:
        """Pass over the records that `read` would give, without decoding them."""
        there = self._seek()
        start = self.line
        while there and rows:
            last = min(self._taken + rows, len(self._block.ends))
            if last > self._taken:
                rows -= last - self._taken
                self._taken, self._line = last, int(self._block.lines[last - 1])
            there = self._taken < len(self._block.ends) or self._more()
        return OffsetRange(start, self.line, self._ended and self._taken == len(self._block.ends))

    def _name_fields(self, decoder: CsvDecoder) -> None:
        try:
            decoder.name_fields(self._block.data[: self._block.ends[0]], self._path)
        except LackingColumn as error:
            if error.is_answered:
                raise
            columns, directory = list(decoder.columns), self._request.directory
            raise advise_of_others(error, self._path, self._others(), columns, decoder.dialect, directory) from None

    def _seek(self) -> bool:
        """Read the header and go to the line that was asked for; False while the file is too short for it."""
        if self._headed and isinstance(self._decoder, CsvDecoder):
            while not len(self._block.ends):
                if not self._more():
                    return False
            self._name_fields(self._decoder)
            self._headed, self._taken, self._line = False, 1, int(self._block.lines[0])
        while self._line < self._sought:
            left = self._block.lines[self._taken :]
            passed = int(np.searchsorted(left, self._sought, "right"))
            if passed:
                self._line = int(left[passed - 1])
                self._taken += passed
            if self._line < self._sought and not self._more():
                return False
        return True

    def _more(self) -> bool:
        """Read on by a block; False if there is nothing more now."""
        if self._ended:
            return False
        block, start = self._block, self._start()
        rest = block.data[start - block.at :]
        size = _BLOCK_BYTES
        if self._taken == len(block.ends):
            size = max(size, len(rest))  # it is one record so far, which is searched again with each block
            if len(rest) > _LINE_BYTES_MAX:
                raise ConnectorError(
                    f"{self._path}: line {self._line + 1} is longer than {_LINE_BYTES_MAX >> 20} MB; is this a file of lines?"
                )
        fresh = self._read(block.at + len(block.data), size)
        self._ended = len(fresh) < size and not self._may_grow
        if self._ended:
            self._grew = self._content is not None and self._content.grew
            self.close()
        elif not fresh and start == block.at:
            return False
        data = rest + fresh
        if start == 0 and data.startswith(_BOM):
            data, start = data[len(_BOM) :], len(_BOM)
        if self._ended and data and not data.endswith(b"\n"):
            data = self._without_half(data) if self._grew else data + b"\n"
        self._block, self._taken = self._index(data, start), 0
        return bool(fresh)

    def _without_half(self, data: bytes) -> bytes:
        """Leave out a last line whose end may not have been written yet: as it is it may be another row."""
        whole = max(data.rfind(b"\n"), data.rfind(b"\r") if self._raw else -1) + 1
        if whole < len(data):
            self._leave_out()
        return data[:whole]

    def _leave_out(self) -> None:
        self._left_out = (
            f"{self._path} grew while it was read, and its last line, which has no end yet, is left out; start again when it is written, "
            "or go on with it: 'follow' = 'true'"
        )

    def _start(self) -> int:
        block = self._block
        return block.at + (int(block.ends[self._taken - 1]) + 1 if self._taken else 0)

    def _read(self, at: int, size: int) -> bytes:
        if self._content is None:
            content = self._opens()
            self._content = ArrayContent(content, self._path) if self._array else content
        return self._content.read(at, size)

    @property
    def _may_grow(self) -> bool:
        """Whether more may come of a file that has been read to its end: it is followed, and not gone."""
        return self._follow and not (isinstance(self._content, Followed) and self._content.is_over)

    def _index(self, data: bytes, at: int) -> _Block:
        """Where the records of `data` end. Inside quotes a line end is part of a CSV field."""
        view = np.frombuffer(data, np.uint8)
        breaks = np.flatnonzero(view == _LF)
        if self._raw and b"\r" in data:
            followed = view[:-1] == _CR  # the last byte may be half of a CR LF
            breaks = np.sort(np.concatenate((breaks, np.flatnonzero(followed & (view[1:] != _LF)))))
        lines = self._line + 1 + np.arange(len(breaks))
        if self._dialect is not None and self._dialect.quote.encode() in data:
            breaks, counted = self._dialect.cut(view, _RECORD_BYTES_MAX)
            lines = self._line + counted
            if self._ended and data and (not len(breaks) or breaks[-1] < len(data) - 1):  # a quote that nothing closes
                if self._grew:
                    self._leave_out()
                else:
                    breaks = np.append(breaks, len(data) - 1)
                    lines = np.append(lines, self._line + data.count(b"\n"))
        return _Block(data, at, breaks, lines)

    def _batch(self, first: int, last: int) -> ReadBatch:
        block, start_line = self._block, self._line
        start = int(block.ends[first - 1]) + 1 if first else 0
        ends = block.ends[first:last] - start
        starts = np.concatenate(([0], ends[:-1] + 1))
        lines = np.concatenate(([start_line], block.lines[first : last - 1]))
        data = block.data[start : int(block.ends[last - 1]) + 1]
        self._taken, self._line = last, int(block.lines[last - 1])
        self._given_to = self._line
        if self._raw:
            return self._decode(_raw_lines(data) if b"\r" in data else Records(data, starts, ends), lines, start_line)
        return self._decode(*_without_blank(Records(data, starts, ends), lines), start_line)

    def _decode(self, records: Records, lines: np.ndarray, start_line: int) -> ReadBatch:
        decoded = self._decoder.decode(records)
        if self._lacking:
            decoded = _without_rows(decoded, len(records), f"column '{self._lacking}' may not be NULL")
        bad = [_bad_row(self._path, int(lines[index]) + 1, reason, records[index]) for index, reason in decoded.bad]
        lines = lines if decoded.kept is None else lines[decoded.kept]
        frame = self._complete(decoded.frame, lines)
        frame = decoded.weighed(frame, self._request.weight)
        predicate = self._request.predicate
        rows = frame if predicate is None else frame.filter(predicate)

        def place(row: int) -> str:
            passed = (
                lines if predicate is None else lines[frame.select(predicate).to_series().fill_null(False).to_numpy()]
            )
            return f"{self._path}:{passed[row] + 1}"

        return ReadBatch(rows, start_line, self._line, bad, place, decoded.notes)

    def _complete(self, frame: pl.DataFrame, lines: np.ndarray) -> pl.DataFrame:
        """All columns in order: those of the records, of their places, and of the folder."""
        request, size = self._request, len(lines)
        if not request.metadata and not self._fixed.width:
            return frame
        known = {
            "file": pl.Series([self._path]).new_from_index(0, size),
            "row": pl.Series(lines + 1, dtype=pl.Int64),
        }
        added = {name: known[key].cast(request.columns[name]) for name, key in request.metadata.items()}
        added |= {column.name: column.new_from_index(0, size) for column in self._fixed}
        return pl.DataFrame([(added[name] if name in added else frame[name]).alias(name) for name in request.columns])

    def close(self) -> None:
        """Close the file."""
        if self._content is not None:
            self._content.close()
            self._content = None


def _without_rows(decoded: Decoded, records: int, reason: str) -> Decoded:
    """As if all records were bad."""
    weights = None if decoded.weights is None else decoded.weights[:0]
    bad = [(index, reason) for index in range(records)]
    return Decoded(decoded.frame.clear(), np.empty(0, np.int64), bad, decoded.notes, weights)


def _raw_lines(data: bytes) -> Records:
    """The lines, whatever they end with."""
    data = data.replace(b"\r\n", b"\n")
    view = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero((view == _LF) | (view == _CR))
    return Records(data, np.concatenate(([0], ends[:-1] + 1)), ends)


def _without_blank(records: Records, lines: np.ndarray) -> tuple[Records, np.ndarray]:
    """Blank lines are nothing at all, where a record is more than its line."""
    lengths = records.ends - records.starts
    short = np.flatnonzero(lengths <= 1)
    blank = [index for index in short.tolist() if not records[index].strip()]
    if not blank:
        return records, lines
    left = np.delete(np.arange(len(records)), blank)
    return records.pick(left.tolist()), lines[left]


def _bad_row(path: str, line: int, reason: str, record: bytes) -> BadRow:
    more = record.count(b"\n")
    return BadRow(f"{path}:{line}", f"{reason} (a record of lines {line} to {line + more})" if more else reason, record)
