"""Reading a range of a Parquet file's rows. Polars decodes, and skips row groups whose statistics exclude the predicate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from ouzel.connectors.file.partitioned import Fixed, excludes, fixed_columns
from ouzel.connectors.file.unchanged import version_of
from ouzel.connectors.formats.conversion import Change, convert_columns
from ouzel.connectors.formats.widening import match_columns, widen
from ouzel.connectors.reading import BadRow, ReadBatch, ReadState, SourceRequest, before
from ouzel.errors import ConnectorError

_PIECE_ROWS = 1 << 17
_ROW = "$row"


def read_footer(path: str) -> pq.FileMetaData:
    """What the end of a file says of it.

    Raises:
        ConnectorError: it is not a Parquet file that can be read.
    """
    try:
        return pq.read_metadata(path)
    except (OSError, ValueError) as error:
        raise ConnectorError(f"{path} cannot be read as Parquet: {_first_line(error)}") from None


def file_types(footer: pq.FileMetaData) -> dict[str, pl.DataType]:
    """The file's columns and their types."""
    return dict(pl.Schema(footer.schema.to_arrow_schema()))


def row_ranges(footer: pq.FileMetaData, wanted: int) -> list[tuple[int, int]]:
    """The file's rows in at most `wanted` ranges [first, last) of whole row groups, about equally long."""
    ranges: list[tuple[int, int]] = []
    first = row = 0
    for group in range(footer.num_row_groups):
        row += footer.row_group(group).num_rows
        if row * wanted >= (len(ranges) + 1) * footer.num_rows and row > first:
            ranges.append((first, row))
            first = row
    return ranges or [(0, footer.num_rows)]


def content_version(path: str) -> str:
    """What changes with a file's content. An inode is not in it: not every file system keeps to one.

    A copy may have the time of its original, and a file system may tell seconds. So the bytes at both ends are in it.

    Raises:
        ConnectorError: it is gone, or is no file any more.
    """
    _, size, written_ns, ends = version_of(path)
    return f"{size}-{written_ns}-{ends}"


class ParquetReader:
    """Rows [at, last) of one file, decoded a piece at a time; a batch is a slice of a piece."""

    def __init__(
        self,
        request: SourceRequest,
        path: str,
        at: int,
        last: int,
        version: str = "",
        fixed: Fixed | None = None,
        names: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        """`version` is what the file was when its rows were counted; by default what it is now. `fixed`: columns it does not hold.

        `names` gives the file's own names of columns, where they may be others than the table's; a column that has none is not in the file.
        """
        self._request, self._path, self._at, self._last = request, path, at, last
        self._version, self._names = version or content_version(path), names
        self._piece = pl.DataFrame()
        self._numbers = np.empty(0, np.uint32)
        self._bad: list[tuple[int, str]] = []
        self._piece_end = at
        self._pushed: pl.Expr | None = None
        data = {name: kind for name, kind in request.columns.items() if name not in request.metadata}
        self._fixed = fixed_columns(fixed or {}, data, path)
        self._excluded = excludes(request.predicate, self._fixed)
        self._check_same()
        self._data, self._scan = data, pl.LazyFrame() if self._excluded else self._open(path, data)

    def _open(self, path: str, data: dict[str, pl.DataType]) -> pl.LazyFrame:
        try:
            scan = pl.scan_parquet(path, row_index_name=_ROW, glob=False)
            if self._names is not None:
                scan = scan.select(*(pl.col(own).alias(name) for name, own in self._names().items()), _ROW)
            schema = scan.collect_schema()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ConnectorError(f"{path} cannot be read as Parquet: {_first_line(error)}") from None
        fixed = {name.lower() for name in self._fixed.columns}
        held = {name: kind for name, kind in schema.items() if name != _ROW and name.lower() not in fixed}
        found = match_columns(held, data, path)
        values = self._fixed.row(0, named=True) if self._fixed.width else {}
        self._lacking = [pl.lit(values.get(name), kind).alias(name) for name, kind in data.items() if name not in found]
        self._changes = {name: _change(held[own], data[name]) for name, own in found.items() if held[own] != data[name]}
        scan = scan.select(*(pl.col(own).alias(name) for name, own in found.items()), *self._lacking, _ROW)
        predicate = self._request.predicate
        changed = self._changes.keys() | self._request.metadata.keys()
        if predicate is not None and not changed & set(predicate.meta.root_names()):
            self._pushed = predicate
        return scan

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """The next rows of the range: always [at, at + rows), less those that the predicate drops."""
        if self._at >= self._last:
            return ReadState.END
        start, end = self._at, min(before(until, self._at + rows), self._last)
        if end > self._piece_end:
            self._load(start, min(start + max(1, _PIECE_ROWS // rows) * rows, self._last))
        low, high = np.searchsorted(self._numbers, (start, end)).tolist()
        bad = [BadRow(f"{self._path}:{row + 1}", reason) for row, reason in self._bad if start <= row < end]
        self._at = end
        return ReadBatch(self._piece[low:high], start, end, bad)

    def _load(self, start: int, end: int) -> None:
        """Decode rows [start, end), unless none of them is asked for."""
        if self._excluded:
            self._piece_end, self._piece = end, pl.DataFrame(schema=self._request.columns)
            return
        query = self._scan.slice(start, end - start)
        if self._pushed is not None:
            query = query.filter(self._pushed)
        self._check_same()  # a pipe in its place would be waited for
        try:
            raw = query.select(*self._data, _ROW).collect()
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            self._check_same()
            raise ConnectorError(f"{self._path} cannot be read: {_first_line(error)}") from None
        self._check_same()
        if self._pushed is None and raw.height < end - start:
            raise ConnectorError(f"{self._path} holds fewer rows than when it was found; start the topology again")
        self._piece_end = end
        self._fit(raw)

    def _check_same(self) -> None:
        """See that the file is still the one whose end was read: each piece opens it anew, at places that only that one has."""
        if content_version(self._path) != self._version:
            raise ConnectorError(f"{self._path} was replaced or changed while it was read; start the topology again")

    def _fit(self, raw: pl.DataFrame) -> None:
        """Give the columns their types and order, and set aside rows that do not fit."""
        request = self._request
        decoded = convert_columns(raw, self._data, self._changes, request.required & self._data.keys())
        numbers = raw[_ROW] if decoded.kept is None else raw[_ROW][decoded.kept]
        self._bad = [(raw[_ROW][index], reason) for index, reason in decoded.bad]
        known = {"file": pl.Series([self._path]).new_from_index(0, len(numbers)), "row": numbers.cast(pl.Int64) + 1}
        added = [known[key].cast(request.columns[name]).alias(name) for name, key in request.metadata.items()]
        frame = pl.DataFrame([*decoded.frame, *added, numbers.alias(_ROW)])
        if request.predicate is not None and self._pushed is None:
            frame = frame.filter(request.predicate)
        self._numbers, self._piece = frame[_ROW].to_numpy(), frame.select(list(request.columns))

    def close(self) -> None:
        """Nothing stays open."""


def _change(held: pl.DataType, declared: pl.DataType) -> Change:
    return lambda values: values.to_frame().select(widen(pl.col(values.name), held, declared)).to_series()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
