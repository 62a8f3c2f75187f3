"""The loops of the keyed index, compiled by Numba once and kept in its cache.

Signatures are explicit, so nothing compiles for a new kind of array in the middle of a run; inputs may be read-only views of Arrow buffers.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from ouzel.loops import loop

INT = types.Array(types.int64, 1, "C", readonly=True)
WORD = types.Array(types.uint64, 1, "C", readonly=True)
INT_OUT = types.Array(types.int64, 1, "C")
WORD_OUT = types.Array(types.uint64, 1, "C")
PAIRS = types.Array(types.uint64, 2, "C")

NEXT, FREE, LIVE = 0, 1, 2
"""Places in an index's counts: slots ever used, slots on the free list, keys held."""

_FEW = 32
"""So many rows are sorted faster by insertion."""

_TAG = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


def kernel(signature: types.Type):  # type: ignore[no-untyped-def]
    """Compile for exactly `signature`, without the GIL, and cache on disk."""
    return loop(signature, nogil=True)


@numba.njit(inline="always")
def sort_run(values, codes, start, end):  # type: ignore[no-untyped-def]
    """Sort from `start` to `end` both by `codes`; those of equal codes stay in their order."""
    if end - start > _FEW:
        order = np.argsort(codes[start:end], kind="mergesort")
        values[start:end] = values[start:end][order]
        codes[start:end] = codes[start:end][order]
        return
    for row in range(start + 1, end):
        value, code, place = values[row], codes[row], row
        while place > start and codes[place - 1] > code:
            values[place], codes[place] = values[place - 1], codes[place - 1]
            place -= 1
        values[place], codes[place] = value, code


@kernel(types.int64(WORD_OUT, PAIRS, INT_OUT, INT_OUT, WORD, WORD, INT_OUT, types.int64))
def find_or_insert(table, keys, free, counts, low, high, slots, start):  # type: ignore[no-untyped-def]
    """Fill `slots` from row `start` on; returns the row at which the table or the slots were full, or the number of rows.

    `table` is open addressing with linear probing: the low half of `high` above slot + 1, or 0. `keys` has both words by slot.
    """
    mask = np.uint64(table.size - 1)
    most = table.size // 2
    for row in range(start, low.size):
        tag = high[row] & _TAG
        place = tag & mask
        while True:
            entry = table[place]
            if entry == _ZERO:
                if counts[LIVE] >= most or (counts[FREE] == 0 and counts[NEXT] == keys.shape[0]):
                    return row
                if counts[FREE] > 0:
                    counts[FREE] -= 1
                    slot = free[counts[FREE]]
                else:
                    slot = counts[NEXT]
                    counts[NEXT] += 1
                counts[LIVE] += 1
                keys[slot, 0], keys[slot, 1] = low[row], high[row]
                table[place] = (tag << _SHIFT) | np.uint64(slot + 1)
                break
            if entry >> _SHIFT == tag:
                slot = np.int64(entry & _TAG) - 1
                if keys[slot, 0] == low[row] and keys[slot, 1] == high[row]:
                    break
            place = (place + _ONE) & mask
        slots[row] = slot
    return low.size


@kernel(types.void(WORD_OUT, PAIRS, WORD, WORD, INT_OUT))
def find_slots(table, keys, low, high, slots):  # type: ignore[no-untyped-def]
    """Fill `slots`; -1 for a key that is not there."""
    mask = np.uint64(table.size - 1)
    for row in range(low.size):
        tag = high[row] & _TAG
        place = tag & mask
        slots[row] = -1
        while table[place] != _ZERO:
            entry = table[place]
            if entry >> _SHIFT == tag:
                slot = np.int64(entry & _TAG) - 1
                if keys[slot, 0] == low[row] and keys[slot, 1] == high[row]:
                    slots[row] = slot
                    break
            place = (place + _ONE) & mask


@kernel(types.void(WORD_OUT, PAIRS, INT_OUT, INT_OUT, INT))
def remove(table, keys, free, counts, slots):  # type: ignore[no-untyped-def]
    """Take each slot's key out and put the slot on the free list; later entries move up, so that no tombstones remain."""
    mask = np.uint64(table.size - 1)
    for slot in slots:
        place = keys[slot, 1] & _TAG & mask
        while table[place] & _TAG != np.uint64(slot + 1):
            place = (place + _ONE) & mask
        hole = place
        while True:
            place = (place + _ONE) & mask
            entry = table[place]
            if entry == _ZERO:
                break
            home = (entry >> _SHIFT) & mask
            if ((place - home) & mask) >= ((place - hole) & mask):
                table[hole] = entry
                hole = place
        table[hole] = _ZERO
        free[counts[FREE]] = slot
        counts[FREE] += 1
        counts[LIVE] -= 1


@kernel(types.void(WORD, WORD_OUT))
def rehash(old, new):  # type: ignore[no-untyped-def]
    """Copy all entries into a larger, empty table."""
    mask = np.uint64(new.size - 1)
    for entry in old:
        if entry != _ZERO:
            place = (entry >> _SHIFT) & mask
            while new[place] != _ZERO:
                place = (place + _ONE) & mask
            new[place] = entry


@kernel(types.void(WORD_OUT, WORD, types.uint64))
def combine(hashes, more, salt):  # type: ignore[no-untyped-def]
    """Fold the hashes of one more column into `hashes` (the finaliser is Stafford's mix 13, as in SplitMix64)."""
    for row in range(hashes.size):
        word = (hashes[row] ^ salt) * np.uint64(0x9E3779B97F4A7C15) + more[row]
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes[row] = word ^ (word >> np.uint64(31))


@kernel(types.int64(INT, INT_OUT, types.int64, INT_OUT, INT_OUT, INT_OUT))
def touch(slots, mark, base, groups, touched, first):  # type: ignore[no-untyped-def]
    """Number the distinct slots of a batch from 0 in order of appearance; returns how many.

    Fills `groups` (each row's number), `touched` (each number's slot) and `first` (its first row). `mark` is by slot and below `base` for
    slots not yet seen; the next batch's base is `base` + rows.
    """
    number = 0
    for row in range(slots.size):
        slot = slots[row]
        if mark[slot] < base:
            mark[slot] = base + number
            touched[number] = slot
            first[number] = row
            number += 1
        groups[row] = mark[slot] - base
    return number


@kernel(types.void(INT_OUT, INT, INT))
def add_amounts(total, slots, amounts):  # type: ignore[no-untyped-def]
    """Add each row's amount."""
    for row in range(slots.size):
        total[slots[row]] += amounts[row]


@kernel(types.void(INT, INT, INT_OUT, INT_OUT, INT_OUT, INT_OUT))
def link(nodes, owners, head, following, previous, owner):  # type: ignore[no-untyped-def]
    """Put each node at the head of its owner's list. Links and owners hold slot + 1; 0 is the end, and no owner."""
    for number in range(nodes.size):
        node, group = nodes[number], owners[number]
        owner[node] = group + 1
        following[node] = head[group]
        previous[node] = 0
        if head[group] != 0:
            previous[head[group] - 1] = node + 1
        head[group] = node + 1


@kernel(types.void(INT, INT_OUT, INT_OUT, INT_OUT, INT))
def unlink(nodes, head, following, previous, owner):  # type: ignore[no-untyped-def]
    """Take nodes out of their owners' lists."""
    for node in nodes:
        before, after = previous[node], following[node]
        if before != 0:
            following[before - 1] = after
        else:
            head[owner[node] - 1] = after
        if after != 0:
            previous[after - 1] = before


@kernel(types.int64(INT, INT, INT, INT_OUT))
def walk_lists(owners, head, following, found):  # type: ignore[no-untyped-def]
    """Fill `found` with the nodes of the owners' lists; returns how many."""
    number = 0
    for owner in owners:
        node = head[owner]
        while node != 0:
            found[number] = node - 1
            number += 1
            node = following[node - 1]
    return number


@kernel(types.int64(INT, INT, INT, INT_OUT, INT_OUT))
def walk_each_list(owners, head, following, found, ends):  # type: ignore[no-untyped-def]
    """As `walk_lists`, and `ends[i + 1]` is where the nodes of the i-th owner end."""
    number = 0
    for place in range(owners.size):
        node = head[owners[place]]
        while node != 0:
            found[number] = node - 1
            number += 1
            node = following[node - 1]
        ends[place + 1] = number
    return number
