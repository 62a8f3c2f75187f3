"""Loops over Protobuf's wire format, compiled by Numba: where the values of a message's fields lie in many records.

A record that is not plainly of the message's form is *odd*: cut off, with a group, or a message in two pieces. What becomes of it
Protobuf's own library decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, int64, types, uint8, uint64, void

from ouzel.connectors.formats.compiled import compiled

VARINT, FIXED64, SIZED, FIXED32 = 0, 1, 2, 5
"""Wire types: numbers of seven bits a byte, eight bytes, a size and so many bytes, four bytes."""

ONCE, REPEATED, PACKED, MESSAGE = 0, 1, 2, 3
"""How a field is found: the last value counts; each does; each, and many may stand in one piece; a message, which may come once."""

_NUMBER_MAX = 2**29 - 1
_BITS, _SHORT = 64, 32
_BLOB = types.Array(uint8, 1, "C", readonly=True)
_I, _W = int64[::1], uint64[::1]
_SLOTS, _GRID, _WORDS = int64[:, ::1], int64[:, ::1], uint64[:, ::1]


@compiled(inline=True)
def _varint(blob: Any, at: int, end: int, bits: int) -> tuple[Any, int]:
    """The number that begins here, and where it ends; -1 if it does not, or is longer than one of so many bits."""
    value, shift = uint64(0), uint64(0)
    while at < end and shift < bits:
        byte = uint64(blob[at])
        value |= (byte & uint64(127)) << shift if shift < 64 else uint64(0)
        at += 1
        if byte < 128:
            return value, (-1 if shift == 63 and byte > 1 else at)
        shift += uint64(7)
    return value, -1


@compiled(inline=True)
def _fixed(blob: Any, at: int, size: int) -> Any:
    value = uint64(0)
    for place in range(size):
        value |= uint64(blob[at + place]) << uint64(8 * place)
    return value


@compiled(inline=True)
def _value(blob: Any, at: int, end: int, wire: int) -> tuple[Any, int, int]:
    """The value of a field (of what has a size: where it begins), where that ends, and where the next tag is; -1 if it is odd."""
    if wire == VARINT:
        value, after = _varint(blob, at, end, _BITS)
        return value, after, after
    if wire == SIZED:
        size, start = _varint(blob, at, end, _SHORT)
        if start < 0 or size > uint64(end - start):
            return size, -1, -1
        return uint64(start), start + int64(size), start + int64(size)
    width = 8 if wire == FIXED64 else 4
    if wire not in (FIXED64, FIXED32) or at + width > end:
        return uint64(0), -1, -1
    return _fixed(blob, at, width), at + width, at + width


@compiled(inline=True)
def _elements(blob: Any, at: int, end: int, wire: int) -> int:
    """How many packed values there are; -1 if it is not a whole number of them."""
    if wire != VARINT:
        width = 8 if wire == FIXED64 else 4
        return -1 if (end - at) % width else (end - at) // width
    count = 0
    while at < end:
        _, at = _varint(blob, at, end, _BITS)
        if at < 0:
            return -1
        count += 1
    return count


@compiled(boolean(_BLOB, _I, _I, _I, _SLOTS, _WORDS, _GRID, _GRID))
def scan_messages(
    blob: Any, starts: Any, ends: Any, slot_of: Any, slots: Any, values: Any, value_ends: Any, counts: Any
) -> bool:
    """Whether all records are plain. Of each slot and record: the value, where it ends if it has a size, and how many there are.

    Args:
        slot_of: field number -> slot, or -1; a number beyond is no field.
        slots: of each slot its wire type, how it is found, and the number of its `oneof`, or -1.
    """
    for record in range(len(starts)):
        at, end = starts[record], ends[record]
        while at < end:
            tag, at = _varint(blob, at, end, _SHORT)
            number, wire = int64(tag >> uint64(3)), int64(tag & uint64(7))
            if at < 0 or number == 0 or number > _NUMBER_MAX:
                return False
            value, value_end, after = _value(blob, at, end, wire)
            if after < 0:
                return False
            at = after
            slot = slot_of[number] if number < len(slot_of) else -1
            if slot < 0:
                continue
            own, found = slots[slot, 0], slots[slot, 1]
            if found == PACKED and wire == SIZED:
                many = _elements(blob, int64(value), value_end, own)
                if many < 0:
                    return False
                counts[slot, record] += many
            elif wire == own and found != ONCE and found != MESSAGE:
                counts[slot, record] += 1
            elif wire == own:
                if found == MESSAGE and counts[slot, record]:
                    return False
                if slots[slot, 2] >= 0:
                    for other in range(len(slots)):
                        if slots[other, 2] == slots[slot, 2]:
                            values[other, record], value_ends[other, record], counts[other, record] = 0, 0, 0
                values[slot, record], value_ends[slot, record], counts[slot, record] = value, value_end, 1
    return True


@compiled(void(_BLOB, _I, _I, int64, int64, _W, _I))
def gather_repeated(blob: Any, starts: Any, ends: Any, number: int, own: int, values: Any, value_ends: Any) -> None:
    """The values of one repeated field of records that are plain, all in a row."""
    place = 0
    for record in range(len(starts)):
        at, end = starts[record], ends[record]
        while at < end:
            tag, at = _varint(blob, at, end, _SHORT)
            wire = int64(tag & uint64(7))
            value, value_end, after = _value(blob, at, end, wire)
            at = after
            if int64(tag >> uint64(3)) != number:
                continue
            if wire == own:
                values[place], value_ends[place] = value, value_end
                place += 1
            elif wire == SIZED:
                inner = int64(value)
                while inner < value_end:
                    values[place], value_ends[place], inner = _value(blob, inner, value_end, own)
                    place += 1


@compiled(void(_BLOB, _I, _I, types.Array(uint8, 1, "C")))
def copy_pieces(blob: Any, starts: Any, ends: Any, into: Any) -> None:
    """The pieces side by side."""
    place = 0
    for piece in range(len(starts)):
        for at in range(starts[piece], ends[piece]):
            into[place] = blob[at]
            place += 1


@compiled(boolean(_BLOB, _I, _I))
def are_texts(blob: Any, starts: Any, ends: Any) -> bool:
    """Whether each piece is UTF-8: no number too long, no surrogate, none above the last."""
    for piece in range(len(starts)):
        at, end = starts[piece], ends[piece]
        while at < end:
            byte = blob[at]
            at += 1
            if byte < 0x80:
                continue
            more = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
            if byte < 0xC2 or byte > 0xF4 or at + more > end:
                return False
            least = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
            most = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
            if blob[at] < least or blob[at] > most:
                return False
            for place in range(at + 1, at + more):
                if blob[place] < 0x80 or blob[place] > 0xBF:
                    return False
            at += more
    return True


def copied(blob: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pieces side by side, and where each begins, with the end of the last."""
    offsets = np.concatenate([[0], np.cumsum(ends - starts)])
    into = np.empty(offsets[-1], np.uint8)
    copy_pieces(blob, starts, ends, into)
    return into, offsets
