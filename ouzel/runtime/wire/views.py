"""Strings as Arrow views (16 bytes a value, those up to 12 bytes inside it), without the text that nobody points at any more.

A column of values picked from a larger one shares the text of all of it; sent as it is, a few rows would drag megabytes along.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ouzel.loops import loop

SLACK_BYTES = 4 << 10
"""So much unused text is not worth a copy."""

BUFFERS_MAX = 16
"""Text in more pieces than this is better sent with offsets."""

_INLINE = 12


def compact(array: pa.Array) -> pa.Array | None:
    """The same values with little more text than they show; None if that cannot be done quickly."""
    validity, buffer, *texts = array.buffers()
    if not texts:
        return array
    views = np.frombuffer(buffer, np.uint32).reshape(-1, 4)[array.offset : array.offset + len(array)]
    rows, shown = _long_rows(views)
    if sum(text.size for text in texts if text is not None) <= shown + shown // 4 + SLACK_BYTES:
        return array
    if len(texts) > BUFFERS_MAX or (array.offset and array.null_count):
        return None
    fresh, text = views.copy(), np.empty(shown, np.uint8)
    end = 0
    for number, old in enumerate(texts):
        if old is not None:
            end = _gather(views, rows, number, np.frombuffer(old, np.uint8), fresh, text, end)
    buffers = [validity if array.null_count else None, pa.py_buffer(fresh), pa.py_buffer(text)]
    return pa.Array.from_buffers(array.type, len(array), buffers, array.null_count)


def load_kernels() -> None:
    """Load the kernels, so that the processes forked from this one have them."""
    views = np.frombuffer(bytes(16), np.uint32).reshape(-1, 4)  # not writable, as Arrow's are
    rows, _ = _long_rows(views)
    _gather(views, rows, 0, np.frombuffer(b"-", np.uint8), views.copy(), np.zeros(1, np.uint8), 0)


@loop(nogil=True)
def _long_rows(views: np.ndarray) -> tuple[np.ndarray, int]:
    """The rows whose text does not fit into the view, and how much text that is."""
    count = total = 0
    for row in range(views.shape[0]):
        count += views[row, 0] > _INLINE
    rows = np.empty(count, np.int64)
    count = 0
    for row in range(views.shape[0]):
        if views[row, 0] > _INLINE:
            rows[count] = row
            count += 1
            total += views[row, 0]
    return rows, total


@loop(nogil=True)
def _gather(
    views: np.ndarray, rows: np.ndarray, number: int, old: np.ndarray, fresh: np.ndarray, text: np.ndarray, end: int
) -> int:
    """Copy what those rows show of text `number` behind `end`, and point `fresh` there; the new end.

    A view that points outside belongs to a NULL: its bytes mean nothing, and it becomes empty.
    """
    for row in rows:
        if views[row, 2] != number:
            continue
        length, start = views[row, 0], views[row, 3]
        if start + length > old.size or end + length > text.size:
            fresh[row, 0] = 0
            continue
        for place in range(length):
            text[end + place] = old[start + place]
        fresh[row, 2] = 0
        fresh[row, 3] = end
        end += length
    return end
