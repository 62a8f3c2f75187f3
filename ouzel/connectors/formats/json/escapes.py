"""What a backslash says in a JSON string. Loops compiled by Numba."""

from __future__ import annotations

import numpy as np

from ouzel.connectors.formats.compiled import compiled

_BACKSLASH, _U, _ZERO, _NINE = map(ord, "\\u09")
_ESCAPES = np.frombuffer(b'"\\/bfnrt', np.uint8)
_MEANINGS = np.zeros(256, np.uint8)
for _letter, _meant in zip(b"bfnrt", b"\b\f\n\r\t", strict=True):
    _MEANINGS[_letter] = _meant


@compiled(inline=True)
def pass_escape(data, at, end):  # type: ignore[no-untyped-def]
    """Behind what follows a backslash; -1 for none, and for half of a surrogate pair."""
    if at >= end:
        return -1
    if data[at] != _U:
        for known in _ESCAPES:
            if data[at] == known:
                return at + 1
        return -1
    code = read_hex(data, at + 1, end)
    if code < 0 or 0xDC00 <= code < 0xE000:
        return -1
    if not 0xD800 <= code < 0xDC00:
        return at + 5
    if at + 6 >= end or data[at + 5] != _BACKSLASH or data[at + 6] != _U:
        return -1
    return at + 11 if 0xDC00 <= read_hex(data, at + 7, end) < 0xE000 else -1


@compiled(inline=True)
def read_hex(data, at, end):  # type: ignore[no-untyped-def]
    """The number that four hexadecimal digits make; -1 if they are none."""
    code = 0
    if at + 4 > end:
        return -1
    for place in range(at, at + 4):
        byte = data[place]
        if _ZERO <= byte <= _NINE:
            code = code * 16 + byte - _ZERO
        elif ord("a") <= byte | 32 <= ord("f"):
            code = code * 16 + (byte | 32) - ord("a") + 10
        else:
            return -1
    return code


@compiled(inline=True)
def unescape(data, at, end, text, to):  # type: ignore[no-untyped-def]
    """Write a string without its escapes, which are right; where it ends. It gets shorter."""
    while at < end:
        byte = data[at]
        if byte != _BACKSLASH:
            text[to] = byte
            at, to = at + 1, to + 1
        elif data[at + 1] != _U:
            meant = _MEANINGS[data[at + 1]]
            text[to] = meant if meant else data[at + 1]
            at, to = at + 2, to + 1
        else:
            code = read_hex(data, at + 2, end)
            at += 6
            if 0xD800 <= code < 0xDC00:
                code = 0x10000 + ((code - 0xD800) << 10) + read_hex(data, at + 2, end) - 0xDC00
                at += 6
            to = _write_letter(code, text, to)
    return to


@compiled(inline=True)
def _write_letter(code, text, to):  # type: ignore[no-untyped-def]
    """In UTF-8."""
    if code < 0x80:
        text[to] = code
        return to + 1
    more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    text[to] = (0xF00 >> more + 1 & 0xFF) | code >> 6 * more
    for place in range(1, more + 1):
        text[to + place] = 0x80 | (code >> 6 * (more - place) & 0x3F)
    return to + more + 1
