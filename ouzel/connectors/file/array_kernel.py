"""A loop over the bytes of a JSON array, compiled by Numba."""

from __future__ import annotations

from numba import types

from ouzel.connectors.file.array_facts import BEFORE, BEHIND, COUNT, DEPTH, FULL, INSIDE, NOWHERE, PLACE, TEXT
from ouzel.connectors.formats.compiled import compiled

BYTES = types.Array(types.uint8, 1, "C")
FACTS = types.Array(types.int64, 1, "C")

_LF, _CR, _BLANK, _TAB, _QUOTE, _COMMA, _BACKSLASH = 10, 13, 32, 9, 34, 44, 92
_OPEN, _CLOSE, _OPEN_OBJECT, _CLOSE_OBJECT = 91, 93, 123, 125
_MARK = 0xBB


@compiled(types.void(BYTES, FACTS))
def split_elements(data, facts):  # type: ignore[no-untyped-def]
    """Put a line end where an element ends, and none inside; what does not belong between elements stays.

    A missing or malformed element thus becomes a line that is no JSON.
    """
    where, depth, text, full, count = facts[PLACE], facts[DEPTH], facts[TEXT], facts[FULL], facts[COUNT]
    for at in range(data.size):
        byte = data[at]
        blank = byte in (_BLANK, _TAB, _LF, _CR)
        if where == INSIDE and text:
            text = 2 if text == 1 and byte == _BACKSLASH else 0 if text == 1 and byte == _QUOTE else 1
        elif blank:  # as a line that holds nothing where there may be no element
            data[at] = _BLANK if where == INSIDE and (full or count) else _LF
        elif where == BEFORE:
            if byte == _OPEN:
                where = INSIDE
                data[at] = _BLANK
            elif byte not in (0xEF, _MARK, 0xBF):  # a byte order mark
                where = NOWHERE
        elif where == INSIDE:
            ends = depth == 0 and byte in (_COMMA, _CLOSE)
            if ends and (full or (byte == _CLOSE and count == 0)):
                data[at] = _LF
                count += full
                full = 0
            else:
                full = 1
            if byte == _QUOTE:
                text = 1
            elif depth == 0 and byte == _CLOSE:
                where = BEHIND
            elif byte in (_OPEN, _OPEN_OBJECT):
                depth += 1
            elif depth > 0 and byte in (_CLOSE, _CLOSE_OBJECT):
                depth -= 1
    facts[PLACE], facts[DEPTH], facts[TEXT], facts[FULL], facts[COUNT] = where, depth, text, full, count
