"""The loops of Top-N, compiled by Numba once and kept in its cache.

The rows of a group are those that are held, numbered from 0, and the new ones of a batch, numbered behind them. Each has a code that never
falls in the order of rows: a place is a row's number in its group, by code, the held before the new where codes are equal.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ouzel.runtime.state.kernels import INT, INT_OUT, kernel, sort_run


@kernel(types.int64(INT, INT, INT, INT, types.int64, INT_OUT, INT_OUT, INT_OUT))
def order_groups(held_ends, held, groups, codes, most, ends, numbers, ordered):  # type: ignore[no-untyped-def]
    """Fill `numbers` and `ordered` with the rows and codes of each group in order, and `ends` with where each begins; returns how many.

    The held rows of group g are between two `held_ends`. A new row that is behind `most` held ones is left out.
    """
    number = held_ends.size - 1
    worst, size = np.empty((2, number), np.int64)
    for group in range(number):
        start, end = held_ends[group], held_ends[group + 1]
        size[group] = end - start
        worst[group] = np.iinfo(np.int64).max
        if end > start and end - start >= most:
            worst[group] = np.max(held[start:end])
    for row in range(groups.size):
        size[groups[row]] += codes[row] <= worst[groups[row]]
    ends[0] = 0
    for group in range(number):
        ends[group + 1] = ends[group] + size[group]
        place = ends[group]
        for row in range(held_ends[group], held_ends[group + 1]):
            numbers[place], ordered[place] = row, held[row]
            place += 1
        size[group] = place
    for row in range(groups.size):
        group = groups[row]
        if codes[row] <= worst[group]:
            numbers[size[group]], ordered[size[group]] = held.size + row, codes[row]
            size[group] += 1
    for group in range(number):
        sort_run(numbers, ordered, ends[group], ends[group + 1])
    return ends[number]


@kernel(types.int64(INT, INT, INT, types.int64, types.int64, types.boolean, INT_OUT, INT_OUT))
def find_ties(ends, numbers, ordered, held, most, placed, places, runs):  # type: ignore[no-untyped-def]
    """Fill `places` with where rows of equal codes stand whose order matters, and `runs` with which belong together; returns how many.

    It matters if some of them are among the first `most` and some are not, or if all `placed` are told apart: then also behind the first
    `most` where several are held, as the places that these had are said again.
    """
    number = run = 0
    for group in range(ends.size - 1):
        first, end = ends[group], ends[group + 1]
        last = min(end, first + most)
        start = first
        while start < (end if placed else last):
            stop, before = start + 1, numbers[start] < held
            while stop < end and ordered[stop] == ordered[start]:
                before += numbers[stop] < held
                stop += 1
            if stop > start + 1 and (stop > last > start or (placed and (start < last or before > 1))):
                for place in range(start, stop):
                    places[number], runs[number] = place, run
                    number += 1
                run += 1
            start = stop
    return number


@kernel(
    types.void(
        INT,
        INT,
        types.int64,
        types.int64,
        types.int64,
        types.boolean,
        INT_OUT,
        INT_OUT,
        INT_OUT,
        INT_OUT,
        INT_OUT,
        INT_OUT,
    )
)
def compare_places(ends, numbers, held, skip, most, named, gone, gone_at, come, come_at, moved, counts):  # type: ignore[no-untyped-def]
    """What changes about the rows that are shown, whose places are from `skip` to before `most`; `held` is how many rows are held.

    `gone` are rows that were shown, at `gone_at`, and `come` those that are now, at `come_at`; if places are `named` a row at another place
    is both. `moved` are first the held rows that are kept no more, then, from its end backwards, the new ones that are. `counts` says how
    many each of the four are.
    """
    gones = comes = leaving = entering = 0
    for group in range(ends.size - 1):
        before = 0
        for row in range(ends[group], ends[group + 1]):
            number, place, at = numbers[row], row - ends[group], -1
            if number < held:
                at = before
                before += 1
                if place >= most:
                    moved[leaving] = number
                    leaving += 1
            elif place < most:
                entering += 1
                moved[moved.size - entering] = number - held
            was, now = at >= skip, skip <= place < most
            stays = was and now and (at == place or not named)
            if was and not stays:
                gone[gones], gone_at[gones] = number, at
                gones += 1
            if now and not stays:
                come[comes], come_at[comes] = number, place
                comes += 1
    counts[0], counts[1], counts[2], counts[3] = gones, comes, leaving, entering
