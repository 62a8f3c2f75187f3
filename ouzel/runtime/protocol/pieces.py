"""Frames too large to travel as one are cut into several, the same ones in every attempt: the cut depends on their values alone."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

PIECE_BYTES = 64 << 20
"""Rows of more than that travel in several frames; a frame on the wire may be four times as large (wire/stream.py)."""

_WIDEST = 16
"""Bytes that a value is taken to have which has no length of its own, and a text beside its letters: never 16 times what it has."""


def pieces(frame: pl.DataFrame, part: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], pl.DataFrame]]:
    """The rows in order, in parts that can travel, each with what it adds to the frame's id: nothing where there is but one."""
    if frame.height < 2 or _may_travel(frame):
        yield part, frame
        return
    half = frame.height // 2
    yield from pieces(frame[:half], (*part, 1))
    yield from pieces(frame[half:], (*part, 2))


def _may_travel(frame: pl.DataFrame) -> bool:
    """Whether its values are few enough. What Polars estimates is no less than they take, and more where buffers are shared."""
    most = frame.estimated_size() * _WIDEST
    return most <= PIECE_BYTES or sum(map(value_bytes, frame.get_columns())) <= PIECE_BYTES


def value_bytes(values: pl.Series) -> int:
    """About how many bytes the values take, wherever they lie in memory; what takes less than one counts as none."""
    match values.dtype:
        case pl.String():
            return len(values) * _WIDEST + int(values.str.len_bytes().sum())
        case pl.Binary():
            return len(values) * _WIDEST + int(values.bin.size().sum())
        case pl.List():
            inner = values.drop_nulls().explode(empty_as_null=False)
            return len(values) * _WIDEST + value_bytes(inner)
        case pl.Struct():
            return sum(map(value_bytes, values.struct.unnest().get_columns()))
        case pl.Boolean() | pl.Null() | pl.Object():
            return 0
    return len(values) * _WIDEST
