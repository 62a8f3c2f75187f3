"""The loops that fold a batch into accumulators by slot, compiled by Numba once and kept in its cache.

Every loop takes the rows' slots and weights; a row of weight 0 is skipped (its value is NULL, or a FILTER left it out).
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from ouzel.runtime.state.kernels import INT, INT_OUT, WORD, WORD_OUT, kernel
from ouzel.runtime.state.kernels import add_amounts as add_amounts

FLOAT = types.Array(types.float64, 1, "C", readonly=True)
FLOAT_OUT = types.Array(types.float64, 1, "C")

_LOW = 0xFFFFFFFF


@kernel(types.void(INT_OUT, INT_OUT, INT_OUT, INT, INT, INT))
def add_limbs(low, high, count, slots, values, weights):  # type: ignore[no-untyped-def]
    """Add 64-bit values to totals of two digits of 32 bits; `low` stays within [0, 2^32)."""
    for row in range(slots.size):
        weight = weights[row]
        if weight != 0:
            slot, value = slots[row], values[row]
            digit = low[slot] + (value & _LOW) * weight
            low[slot] = digit & _LOW
            high[slot] += (value >> 32) * weight + (digit >> 32)
            count[slot] += weight


@kernel(types.void(INT_OUT, INT_OUT, INT_OUT, INT_OUT, INT_OUT, INT, INT, INT, INT))
def add_wide_limbs(limb0, limb1, limb2, limb3, count, slots, lows, highs, weights):  # type: ignore[no-untyped-def]
    """Add 128-bit values, given in two words, to totals of four digits of 32 bits; all but the last stay within [0, 2^32)."""
    for row in range(slots.size):
        weight = weights[row]
        if weight != 0:
            slot, low, high = slots[row], lows[row], highs[row]
            digit = limb0[slot] + (low & _LOW) * weight
            limb0[slot] = digit & _LOW
            digit = limb1[slot] + ((low >> 32) & _LOW) * weight + (digit >> 32)
            limb1[slot] = digit & _LOW
            digit = limb2[slot] + (high & _LOW) * weight + (digit >> 32)
            limb2[slot] = digit & _LOW
            limb3[slot] += (high >> 32) * weight + (digit >> 32)
            count[slot] += weight


@numba.njit(inline="always")
def _two_sum(total, error, value):  # type: ignore[no-untyped-def]
    """Knuth's exact sum: total + value, and what its rounding lost added to `error`."""
    rounded = total + value
    part = rounded - total
    return rounded, error + ((total - (rounded - part)) + (value - part))


@kernel(types.void(FLOAT_OUT, FLOAT_OUT, INT_OUT, INT_OUT, INT_OUT, INT_OUT, INT, FLOAT, INT))
def add_floats(total, error, nan, infinity, minus_infinity, count, slots, values, weights):  # type: ignore[no-untyped-def]
    """Add finite values with their rounding error; count NaN and the infinities apart, so that they can be taken back."""
    for row in range(slots.size):
        weight = weights[row]
        if weight != 0:
            slot, value = slots[row], values[row]
            count[slot] += weight
            if np.isfinite(value):
                total[slot], error[slot] = _two_sum(total[slot], error[slot], value * weight)
            elif np.isnan(value):
                nan[slot] += weight
            elif value > 0:
                infinity[slot] += weight
            else:
                minus_infinity[slot] += weight


@kernel(types.void(INT_OUT, INT_OUT, INT, INT, INT, types.boolean))
def keep_extreme(best, seen, slots, values, weights, largest):  # type: ignore[no-untyped-def]
    """Keep the largest or the least value."""
    for row in range(slots.size):
        if weights[row] != 0:
            slot, value = slots[row], values[row]
            if seen[slot] == 0 or (value > best[slot] if largest else value < best[slot]):
                best[slot] = value
                seen[slot] = 1


@kernel(types.void(FLOAT_OUT, INT_OUT, INT, FLOAT, INT, types.boolean))
def keep_extreme_float(best, seen, slots, values, weights, largest):  # type: ignore[no-untyped-def]
    """Keep the largest or the least value; NaN is the largest."""
    for row in range(slots.size):
        if weights[row] != 0:
            slot, value = slots[row], values[row]
            held = best[slot]
            if largest:
                better = value > held or (np.isnan(value) and not np.isnan(held))
            else:
                better = value < held or (np.isnan(held) and not np.isnan(value))
            if seen[slot] == 0 or better:
                best[slot] = value
                seen[slot] = 1


@kernel(types.void(INT_OUT, INT, INT, INT, INT_OUT))
def cross_zero(held, slots, rows, weights, crossing):  # type: ignore[no-untyped-def]
    """Add the weights of these rows; put into `crossing` +1 where a slot's became positive by the row, -1 where it ceased to be."""
    for number in range(slots.size):
        slot, row = slots[number], rows[number]
        if weights[row] != 0:
            before = held[slot]
            held[slot] = before + weights[row]
            crossing[row] = np.int64(held[slot] > 0) - np.int64(before > 0)


@numba.njit(inline="always")
def _negate(low, high):  # type: ignore[no-untyped-def]
    return ~low + np.uint64(1), ~high + np.uint64(low == np.uint64(0))


@numba.njit(inline="always")
def _divide(low, high, divisor):  # type: ignore[no-untyped-def]
    """Long division of 128 bits by 63: (low and high word of the quotient, remainder)."""
    one, top = np.uint64(1), np.uint64(63)
    rest, quotient_low, quotient_high = np.uint64(0), np.uint64(0), np.uint64(0)
    for _ in range(128):
        rest = (rest << one) | (high >> top)
        high = (high << one) | (low >> top)
        low <<= one
        quotient_high = (quotient_high << one) | (quotient_low >> top)
        quotient_low <<= one
        if rest >= divisor:
            rest -= divisor
            quotient_low |= one
    return quotient_low, quotient_high, rest


@numba.njit(inline="always")
def _times_ten_plus(low, high, digit):  # type: ignore[no-untyped-def]
    one, three = np.uint64(1), np.uint64(3)
    high = (high << three | low >> np.uint64(61)) + (high << one | low >> np.uint64(63))
    tenfold = (low << three) + (low << one)
    high += np.uint64(tenfold < low << three)
    return tenfold + digit, high + np.uint64(tenfold + digit < digit)


@kernel(types.void(WORD, WORD, INT, types.int64, WORD_OUT, WORD_OUT))
def average_limbs(lows, highs, counts, digits, out_low, out_high):  # type: ignore[no-untyped-def]
    """Each 128-bit total (two's complement) divided by its positive count to so many more decimal digits, half away from zero."""
    for row in range(lows.size):
        low, high, count = lows[row], highs[row], np.uint64(counts[row])
        negative = high >> np.uint64(63) == np.uint64(1)
        if negative:
            low, high = _negate(low, high)
        low, high, rest = _divide(low, high, count)
        for _ in range(digits):
            digit = rest * np.uint64(10) // count
            rest = rest * np.uint64(10) - digit * count
            low, high = _times_ten_plus(low, high, digit)
        if rest >= count - rest:
            low += np.uint64(1)
            high += np.uint64(low == np.uint64(0))
        if negative:
            low, high = _negate(low, high)
        out_low[row], out_high[row] = low, high
