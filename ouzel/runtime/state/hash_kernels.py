"""The loops of the hash of keys: each folds one column into two words a row. What they compute is told in `hashing`.

A column comes with its validity as Arrow keeps it: `bits`, one a row from bit `offset` on, or nothing where no row is NULL.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ouzel.runtime.state.kernels import INT, WORD, WORD_OUT, kernel

BITS = types.Array(types.uint8, 1, "C", readonly=True)

START, KEY, ABSENT, LAST = 0, 2, 4, 6
"""Places of a seed's words, two of each: where the lanes start, what each block meets, what stands for NULL, what ends a lane."""

VALUE, LONG, LIST = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
"""The second word of a block whose first is a number, the length of a long text, or the length of a list."""

_INLINE = np.uint64(12)
_LENGTH = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE, _THREE, _SEVEN = np.uint64(1), np.uint64(3), np.uint64(7)
_EIGHT, _SIXTEEN = np.uint64(8), np.uint64(16)


@intrinsic
def _multiply(context, first, second):  # type: ignore[no-untyped-def]
    """The 128-bit product of two words, its halves XORed."""

    def code(context, builder, signature, words):  # type: ignore[no-untyped-def]
        word, wide = ir.IntType(64), ir.IntType(128)
        product = builder.mul(builder.zext(words[0], wide), builder.zext(words[1], wide))
        upper = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), word)
        return builder.xor(builder.trunc(product, word), upper)

    return types.uint64(types.uint64, types.uint64), code


@intrinsic
def _load(context, address):  # type: ignore[no-untyped-def]
    """The eight bytes at an address, the first the lowest."""

    def code(context, builder, signature, words):  # type: ignore[no-untyped-def]
        return builder.load(builder.inttoptr(words[0], ir.IntType(64).as_pointer()), align=1)

    return types.uint64(types.uint64), code


@numba.njit(inline="always")
def _is_valid(bits, offset, row):  # type: ignore[no-untyped-def]
    if bits.size == 0:
        return True
    place = np.uint64(row + offset)
    return (bits[place >> _THREE] >> (place & _SEVEN)) & _ONE == _ONE


@numba.njit(inline="always")
def _block(lanes, keys, first, second):  # type: ignore[no-untyped-def]
    return _multiply(first ^ keys[0], second ^ lanes[0]), _multiply(first ^ keys[1], second ^ lanes[1])


@kernel(types.void(WORD_OUT, WORD_OUT, WORD, WORD, BITS, types.int64))
def fold_words(low, high, secret, words, bits, offset):  # type: ignore[no-untyped-def]
    """A column of numbers of up to 64 bits."""
    keys, absent = (secret[KEY], secret[KEY + 1]), (secret[ABSENT], secret[ABSENT + 1])
    for row in range(low.size):
        lanes = low[row], high[row]
        if _is_valid(bits, offset, row):
            low[row], high[row] = _block(lanes, keys, words[row], VALUE)
        else:
            low[row], high[row] = _block(lanes, keys, absent[0], absent[1])


@kernel(types.void(WORD_OUT, WORD_OUT, WORD, WORD, WORD, BITS, types.int64))
def fold_pairs(low, high, secret, first, second, bits, offset):  # type: ignore[no-untyped-def]
    """A column of two words each: decimals, or the hashes of what a ROW holds."""
    keys, absent = (secret[KEY], secret[KEY + 1]), (secret[ABSENT], secret[ABSENT + 1])
    for row in range(low.size):
        lanes = low[row], high[row]
        if _is_valid(bits, offset, row):
            low[row], high[row] = _block(lanes, keys, first[row], second[row])
        else:
            low[row], high[row] = _block(lanes, keys, absent[0], absent[1])


@kernel(types.void(WORD_OUT, WORD_OUT, WORD, WORD, WORD, BITS, types.int64))
def fold_views(low, high, secret, views, addresses, bits, offset):  # type: ignore[no-untyped-def]
    """A column of text or bytes as Arrow views, two words a row: 12 bytes at most are in the view, more are at one of `addresses`."""
    keys, absent = (secret[KEY], secret[KEY + 1]), (secret[ABSENT], secret[ABSENT + 1])
    for row in range(low.size):
        lanes = low[row], high[row]
        if not _is_valid(bits, offset, row):
            low[row], high[row] = _block(lanes, keys, absent[0], absent[1])
            continue
        first, second = views[2 * row], views[2 * row + 1]
        length = first & _LENGTH
        if length <= _INLINE:
            low[row], high[row] = _block(lanes, keys, first, second)
            continue
        lanes = _block(lanes, keys, length, LONG)
        place = addresses[second & _LENGTH] + (second >> _HALF)
        end = place + length
        while end - place > _SIXTEEN:
            lanes = _block(lanes, keys, _load(place), _load(place + _EIGHT))
            place += _SIXTEEN
        if length >= _SIXTEEN:
            place = end - _SIXTEEN
        low[row], high[row] = _block(lanes, keys, _load(place), _load(end - _EIGHT))


@kernel(types.void(WORD_OUT, WORD_OUT, WORD, INT, WORD, WORD, BITS, types.int64))
def fold_lists(low, high, secret, ends, first, second, bits, offset):  # type: ignore[no-untyped-def]
    """A column of lists: row i has the elements from `ends[i]` to `ends[i + 1]`, of which the hashes are given."""
    keys, absent = (secret[KEY], secret[KEY + 1]), (secret[ABSENT], secret[ABSENT + 1])
    for row in range(low.size):
        lanes = low[row], high[row]
        if _is_valid(bits, offset, row):
            lanes = _block(lanes, keys, np.uint64(ends[row + 1] - ends[row]), LIST)
            for element in range(ends[row], ends[row + 1]):
                lanes = _block(lanes, keys, first[element], second[element])
        else:
            lanes = _block(lanes, keys, absent[0], absent[1])
        low[row], high[row] = lanes


@kernel(types.void(WORD_OUT, WORD_OUT, WORD))
def finish(low, high, secret):  # type: ignore[no-untyped-def]
    """Mix both lanes once more, so that each bit depends on all."""
    last, other = secret[LAST], secret[LAST + 1]
    for row in range(low.size):
        low[row], high[row] = _multiply(low[row] ^ last, other ^ VALUE), _multiply(high[row] ^ other, last ^ VALUE)
