"""The loops of joins by time, compiled by Numba once and kept in its cache."""

from __future__ import annotations

from numba import types

from ouzel.runtime.state.kernels import INT, INT_OUT, kernel, sort_run


@kernel(types.void(INT_OUT, INT_OUT, INT))
def sort_by_time(slots, times, ends):  # type: ignore[no-untyped-def]
    """Sort the slots of each owner, which are between two `ends`, by their times. They come newest first, mostly."""
    for owner in range(ends.size - 1):
        start, end = ends[owner], ends[owner + 1]
        if end - start < 2:
            continue
        slots[start:end] = slots[start:end][::-1].copy()
        times[start:end] = times[start:end][::-1].copy()
        unsorted = 0
        for row in range(start + 1, end):
            unsorted += times[row] < times[row - 1]
        if unsorted:
            sort_run(slots, times, start, end)


@kernel(types.void(INT, INT, INT, INT, INT, INT_OUT, INT_OUT))
def find_spans(times, ends, owners, first, last, begins, counts):  # type: ignore[no-untyped-def]
    """Of each row, where the times from `first` to `last` of its owner begin, and how many they are."""
    for row in range(owners.size):
        start, end = ends[owners[row]], ends[owners[row] + 1]
        low, high = start, end
        while low < high:
            middle = (low + high) >> 1
            if times[middle] < first[row]:
                low = middle + 1
            else:
                high = middle
        begins[row], high = low, end
        while low < high:
            middle = (low + high) >> 1
            if times[middle] <= last[row]:
                low = middle + 1
            else:
                high = middle
        counts[row] = low - begins[row]
