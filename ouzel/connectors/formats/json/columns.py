"""JSON records to columns of any type, nested or not: `scan` finds the places of all values, and each leaf is made as one column."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.conversion import parse_column
from ouzel.connectors.formats.json import scan as scan
from ouzel.connectors.formats.json.leaves import make_decimals, make_texts
from ouzel.connectors.formats.json.times import make_times
from ouzel.connectors.formats.json.values import FLOAT_WORDS, map_parts

_SLICE_BYTES = 1 << 22
"""Records are read so many bytes at a time: what is noted of them is five times as much."""

_TEXTS = 1 << scan.STRING | 1 << scan.ESCAPED
_NUMBERS = 1 << scan.WHOLE | 1 << scan.FRACTION
_ANYTHING = _TEXTS | _NUMBERS | 1 << scan.TRUE | 1 << scan.FALSE | 1 << scan.CONSTANT | 1 << scan.NESTED
_BITS: dict[type[pl.DataType], int] = {pl.Int8: 8, pl.Int16: 16, pl.Int32: 32, pl.Int64: 64, pl.Duration: 64}


@dataclass
class ColumnNode:
    """A `column`, or a part of one: what is wanted there, and where its parts stand in the tree."""

    name: str
    kind: pl.DataType
    dimension: int
    children: list[int] = field(default_factory=list)
    inner: int = 0
    is_key: bool = False
    any_case: bool = False
    column: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """The shape, and what it takes."""
        match self.kind:
            case pl.List():
                return (scan.MAP if map_parts(self.kind) else scan.LIST), 0
            case pl.Struct():
                return scan.ROW, 0
            case pl.String():
                return scan.LEAF, _ANYTHING
            case pl.Float32() | pl.Float64():
                return scan.FLOAT, _NUMBERS | _TEXTS | 1 << scan.CONSTANT
            case pl.Boolean():
                return scan.LEAF, 1 << scan.TRUE | 1 << scan.FALSE
            case pl.Decimal():
                return scan.LEAF, _NUMBERS | _TEXTS
        return (scan.INTEGER, 1 << scan.WHOLE) if type(self.kind) in _BITS else (scan.LEAF, _TEXTS)

    def parts(self) -> list[tuple[str, pl.DataType]]:
        """What is inside."""
        if isinstance(self.kind, pl.Struct):
            return [(part.name, _make(part.dtype)) for part in self.kind.fields]
        pair = map_parts(self.kind)
        if pair:
            return [("key", _make(pair[0])), ("value", _make(pair[1]))]
        return [("", _make(self.kind.inner))] if isinstance(self.kind, pl.List) else []


def _make(kind: object) -> pl.DataType:
    made: pl.DataType = kind() if isinstance(kind, type) else kind  # type: ignore[assignment]
    return made


class ColumnReader:
    """Reads records into columns."""

    def __init__(self, columns: Mapping[str, pl.DataType], exact: Collection[str] = ()) -> None:
        self._columns, self._exact = dict(columns), exact
        self._nodes = [ColumnNode("", pl.Struct(self._columns), 0)]
        self._dimensions = 1
        for node in self._nodes:  # which grows: children stand side by side
            self._expand(node)
        self._tree, self._names = self._make_tree()
        self._words = self._make_words()

    def _expand(self, node: ColumnNode) -> None:
        dimension = node.dimension
        if isinstance(node.kind, pl.List):
            dimension = node.inner = self._dimensions
            self._dimensions += 1
        for name, kind in node.parts():
            is_key = bool(map_parts(node.kind)) and not node.children
            node.children.append(len(self._nodes))
            column = node.column or name
            path = f"{column}.{name}" if node.column else name
            any_case = isinstance(node.kind, pl.Struct) and path not in self._exact
            self._nodes.append(ColumnNode(name, kind, dimension, is_key=is_key, any_case=any_case, column=column))

    def _make_tree(self) -> tuple[np.ndarray, np.ndarray]:
        """The tree without its bases, and the bytes of all names."""
        names = [node.name.encode() for node in self._nodes]
        tree = np.zeros((len(self._nodes), scan.BASE + 1), np.int64)
        name_at = 0
        for number, (node, name) in enumerate(zip(self._nodes, names, strict=True)):
            high = (1 << _BITS.get(type(node.kind), 64) - 1) - 1
            first, last = (node.children[0], node.children[-1] + 1) if node.children else (0, 0)
            bounds = (-high - 1, high, name_at, name_at + len(name))
            tree[number, : scan.WORDS_AT] = (
                *node.shape,
                first,
                last,
                node.inner,
                *bounds,
                node.dimension,
                node.any_case,
            )
            name_at += len(name)
        return tree, np.frombuffer(b"".join(names) or b"\0", np.uint8)

    def _make_words(self) -> np.ndarray:
        """What stands before the values of a ROW's fields, eight bytes a word, with masks; none for a name that would need escapes."""
        fields = {child for node in self._nodes if isinstance(node.kind, pl.Struct) for child in node.children}
        words: list[tuple[int, int]] = []
        for number, node in enumerate(self._nodes):
            written = json.dumps(node.name, ensure_ascii=False).encode() + b":"
            self._tree[number, scan.WORDS_AT] = len(words)
            if number in fields and len(written) == len(node.name.encode()) + 3:
                for at in range(0, len(written), 8):
                    part = written[at : at + 8]
                    words.append((int.from_bytes(part, "little"), (1 << 8 * len(part)) - 1))
            self._tree[number, scan.WORDS_END] = len(words)
        return np.array(words or [(0, 0)], np.uint64)

    def read(self, records: Records) -> tuple[pl.DataFrame, np.ndarray]:
        """The rows of those records that are beyond doubt, and their indices. The blob is valid UTF-8."""
        data = np.frombuffer(records.blob, np.uint8)
        frames, found = [pl.DataFrame(schema=self._columns)], [np.empty(0, np.int64)]
        for first, last in _slices(records):
            start = int(records.starts[first])
            part = data[start : int(records.ends[last - 1])]
            frame, good = self._read(part, records.starts[first:last] - start, records.ends[first:last] - start)
            frames.append(frame)
            found.append(good + first)
        height = sum(map(len, found))
        frame = pl.concat(frames, rechunk=False) if self._columns else pl.DataFrame(height=height)
        return frame, np.concatenate(found)

    def _read(self, data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[pl.DataFrame, np.ndarray]:
        elements = scan.count_elements(data) if self._dimensions > 1 else 0
        room = np.where(self._tree[:, scan.DIMENSION] == 0, len(starts), elements)
        self._tree[:, scan.BASE] = np.append(0, np.cumsum(room)[:-1])
        size = int(room.sum())  # what is not touched costs nothing
        cells = np.zeros(size, np.uint8), np.empty(size, np.int64), np.empty(size, np.int64)
        sides = np.zeros((self._dimensions, 3), np.int64)
        sides[:, scan.ROW_BASE] = (np.arange(self._dimensions) - 1) * elements
        rows, good = np.empty((self._dimensions - 1) * elements, np.int64), np.empty(len(starts), np.int64)
        work = np.empty(scan.STACK_SHAPE, np.int64), np.empty(scan.NAME_MAX, np.uint8)
        count = scan.scan(data, starts, ends, self._tree, self._names, self._words, *cells, sides, rows, *work, good)
        made = _Columns(self._nodes, data, self._tree, cells, sides, rows)
        frame = pl.DataFrame([made.series(child) for child in self._nodes[0].children])
        good = good[:count]
        if made.doubtful:
            kept = np.delete(np.arange(count), sorted(made.doubtful))
            return frame[kept], good[kept]
        return frame, good


class _Columns:
    """Columns of what was found; `doubtful` are rows with a value that does not become one of its column."""

    def __init__(
        self,
        nodes: list[ColumnNode],
        data: np.ndarray,
        tree: np.ndarray,
        cells: tuple[np.ndarray, np.ndarray, np.ndarray],
        sides: np.ndarray,
        rows: np.ndarray,
    ) -> None:
        self._nodes, self._data, self._tree, self._cells = nodes, data, tree, cells
        self._sides, self._rows = sides, rows
        self.doubtful: set[int] = set()

    def series(self, number: int) -> pl.Series:
        """The column of this node."""
        node, base = self._nodes[number], int(self._tree[number, scan.BASE])
        count = int(self._sides[node.dimension, scan.COUNT])
        kind, begin, size = (cells[base : base + count] for cells in self._cells)
        kind[kind == scan.SAID_NULL] = scan.NULL
        made = self._read_nested(node, kind, size) if node.children else self._leaf(node, kind, begin, size)
        return made.alias(node.name)

    def _read_nested(self, node: ColumnNode, kind: np.ndarray, size: np.ndarray) -> pl.Series:
        children = [self.series(child) for child in node.children]
        is_null = kind == scan.NULL
        mask = _to_arrow(pl.Series(is_null)) if is_null.any() else None
        if not isinstance(node.kind, pl.List):
            return _from_arrow(_struct(children, mask), node.kind)
        values = _struct(children, None) if map_parts(node.kind) else _to_arrow(children[0])
        offsets = np.append(0, np.cumsum(np.where(is_null, 0, size)))
        return _from_arrow(pa.LargeListArray.from_arrays(_to_arrow(pl.Series(offsets)), values, mask=mask), node.kind)

    def _leaf(self, node: ColumnNode, kind: np.ndarray, begin: np.ndarray, size: np.ndarray) -> pl.Series:
        match node.kind:
            case pl.String():
                return make_texts(self._data, kind, begin, size)
            case _ if node.is_key:
                made = self._parse(node.kind, kind, begin, size)
            case pl.Boolean():
                return _with_gaps(kind == scan.TRUE, kind)
            case pl.Float32() | pl.Float64():
                made = self._floats(kind, begin, size).cast(node.kind)
            case pl.Decimal():
                made = make_decimals(self._data, kind, begin, size, node.kind)
            case _ if type(node.kind) in _BITS:
                return _numbers(begin, kind, node.kind)
            case pl.Date() | pl.Datetime(time_unit="us"):
                made = self._times(kind, begin, size, node.kind)
            case _:
                made = self._parse(node.kind, kind, begin, size)
        if made.null_count() > np.count_nonzero(kind == scan.NULL):
            self._doubt(node, made.is_null().to_numpy() & (kind != scan.NULL))
        return made

    def _parse(self, type_: pl.DataType, kind: np.ndarray, begin: np.ndarray, size: np.ndarray) -> pl.Series:
        return parse_column(type_)(make_texts(self._data, kind, begin, size))

    def _times(self, kind: np.ndarray, begin: np.ndarray, size: np.ndarray, type_: pl.Date | pl.Datetime) -> pl.Series:
        made, good = make_times(self._data, kind, begin, size, type_)
        if good.all():
            return made
        made = made.set(pl.Series(~good), None)
        left = np.flatnonzero(~good & (kind != scan.NULL))
        return made.scatter(left, self._parse(type_, kind[left], begin[left], size[left])) if len(left) else made

    def _floats(self, kind: np.ndarray, begin: np.ndarray, size: np.ndarray) -> pl.Series:
        made = _numbers(begin.view(np.float64), kind, pl.Float64())
        left = np.flatnonzero((kind != scan.NULL) & (kind != scan.REAL))
        if not len(left):
            return made
        texts = make_texts(self._data, kind[left], begin[left], size[left])
        words = texts.replace_strict(FLOAT_WORDS, default=None, return_dtype=pl.Float64)
        is_number = pl.Series((kind[left] == scan.WHOLE) | (kind[left] == scan.FRACTION))
        numbers = texts.set(~is_number, None).cast(pl.Float64, strict=False)
        return made.scatter(left, words.fill_null(numbers))

    def _doubt(self, node: ColumnNode, failed: np.ndarray) -> None:
        entries = np.flatnonzero(failed)
        if node.dimension:
            entries = self._rows[self._sides[node.dimension, scan.ROW_BASE] + entries]
        self.doubtful.update(entries.tolist())


def _numbers(values: np.ndarray, kind: np.ndarray, type_: pl.DataType) -> pl.Series:
    return _with_gaps(values, kind).cast(type_)


def _with_gaps(values: np.ndarray, kind: np.ndarray) -> pl.Series:
    """NULL where there is none; by Polars, for pyarrow's `array` imports Pandas."""
    is_null = kind == scan.NULL
    made = pl.Series(values)
    return made.set(pl.Series(is_null), None) if is_null.any() else made


def _struct(children: list[pl.Series], mask: pa.Array | None) -> pa.Array:
    return pa.StructArray.from_arrays(
        [_to_arrow(child) for child in children], names=[child.name for child in children], mask=mask
    )


def _to_arrow(series: pl.Series) -> pa.Array:
    return series.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())


def _from_arrow(array: pa.Array, kind: pl.DataType) -> pl.Series:
    made = pl.from_arrow(array)
    assert isinstance(made, pl.Series)
    return made if made.dtype == kind else made.cast(kind)


def _slices(records: Records) -> Iterator[tuple[int, int]]:
    """Cut into runs of about as many bytes."""
    first = 0
    while first < len(records):
        behind = int(np.searchsorted(records.ends, records.starts[first] + _SLICE_BYTES, "right"))
        last = max(behind, first + 1)
        yield first, last
        first = last
