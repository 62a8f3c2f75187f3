"""Numbers, objects and arrays that JSON has where a VARCHAR is asked for: letter by letter as they are written.

Polars' reader would write them anew: 1.50 as 1.5, {"a":1} with a space. Spark gives the very text, and so do we.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.compiled import compiled

_QUOTE, _BACKSLASH, _COMMA, _SPACE = map(ord, '"\\, ')
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST, _MINUS, _ZERO, _NINE = map(ord, "{}[]-09")


def as_written(raw: pl.DataFrame, names: Sequence[str], records: Records) -> pl.DataFrame:
    """`raw`, a row for each record, where the columns `names` hold what was no string as it is written in the record."""
    keys = [name.encode() for name in names]
    key_ends = np.cumsum([len(key) for key in keys])
    blob = np.frombuffer(records.blob, np.uint8)
    places = _places(blob, records.starts, records.ends, np.frombuffer(b"".join(keys), np.uint8), key_ends)
    return raw.with_columns(
        pl.when(pl.Series(lengths > 0)).then(_texts(blob, begins, lengths)).otherwise(pl.col(name)).alias(name)
        for name, (begins, lengths) in zip(names, places, strict=True)
        if lengths.any()
    )


def _texts(blob: np.ndarray, begins: np.ndarray, lengths: np.ndarray) -> pl.Series:
    """The text at each of these places."""
    offsets = np.append(0, np.cumsum(lengths))
    text = _gather(blob, begins, lengths, offsets)
    series = pl.from_arrow(pa.LargeStringArray.from_buffers(len(begins), pa.py_buffer(offsets), pa.py_buffer(text)))
    assert isinstance(series, pl.Series)
    return series


@compiled()
def _places(
    blob: np.ndarray, starts: np.ndarray, ends: np.ndarray, keys: np.ndarray, key_ends: np.ndarray
) -> np.ndarray:
    """For each key and record where the number, object or array of that name begins, and its length; 0 where there is none.

    Records are valid JSON objects; only their own fields count, not those of objects inside. Of a name that comes twice the last counts.
    """
    places = np.zeros((key_ends.size, 2, starts.size), np.int64)
    for record in range(starts.size):
        at, end = _past_space(blob, starts[record], ends[record]) + 1, ends[record]
        while True:
            at = _past_space(blob, at, end)
            if at >= end or blob[at] != _QUOTE:
                break
            name = at + 1
            at = _past_string(blob, at, end)
            name_end = at - 1
            at = _past_space(blob, _past_space(blob, at, end) + 1, end)
            begin = at
            at = _past_value(blob, at, end)
            key = _key(blob, name, name_end, keys, key_ends)
            if key >= 0:
                first = blob[begin] if begin < end else _SPACE
                told = first in (_OPEN, _OPEN_LIST, _MINUS) or _ZERO <= first <= _NINE
                places[key, 0, record] = begin
                places[key, 1, record] = at - begin if told else 0
            at = _past_space(blob, at, end)
            if at >= end or blob[at] != _COMMA:
                break
            at += 1
    return places


@compiled()
def _key(blob: np.ndarray, start: int, end: int, keys: np.ndarray, key_ends: np.ndarray) -> int:
    """Which of the keys the name is; -1 if none."""
    begin = 0
    for number in range(key_ends.size):
        length = key_ends[number] - begin
        if length == end - start:
            same = 0
            while same < length and blob[start + same] == keys[begin + same]:
                same += 1
            if same == length:
                return number
        begin = key_ends[number]
    return -1


@compiled()
def _past_space(blob: np.ndarray, at: int, end: int) -> int:
    while at < end and blob[at] <= _SPACE:
        at += 1
    return at


@compiled()
def _past_string(blob: np.ndarray, at: int, end: int) -> int:
    at += 1
    while at < end and blob[at] != _QUOTE:
        at += 2 if blob[at] == _BACKSLASH else 1
    return min(at + 1, end)


@compiled()
def _past_value(blob: np.ndarray, at: int, end: int) -> int:
    depth = 0
    while at < end:
        letter = blob[at]
        if letter == _QUOTE:
            at = _past_string(blob, at, end)
            if depth == 0:
                return at
            continue
        if letter in (_OPEN, _OPEN_LIST):
            depth += 1
        elif letter in (_CLOSE, _CLOSE_LIST):
            depth -= 1
            if depth == 0:
                return at + 1
            if depth < 0:
                return at
        elif depth == 0 and (letter == _COMMA or letter <= _SPACE):
            return at
        at += 1
    return end


@compiled()
def _gather(blob: np.ndarray, begins: np.ndarray, lengths: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The text at these places, one after the other."""
    text = np.empty(offsets[-1], np.uint8)
    for row in range(begins.size):
        start = offsets[row]
        for place in range(lengths[row]):
            text[start + place] = blob[begins[row] + place]
    return text
