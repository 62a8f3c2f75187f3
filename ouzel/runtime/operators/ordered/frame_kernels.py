"""The loops of OVER, compiled by Numba once and kept in its cache."""

from __future__ import annotations

from numba import types

from ouzel.runtime.state.kernels import INT_OUT, kernel

MASK = types.Array(types.boolean, 1, "C", readonly=True)


@kernel(types.void(MASK, INT_OUT, INT_OUT, INT_OUT))
def find_runs(first, numbers, begins, ends):  # type: ignore[no-untyped-def]
    """Of each row the number of its run, and where that begins and ends; `first` are the rows that begin one, and row 0 does."""
    number, begin = -1, 0
    for row in range(first.size):
        if first[row]:
            ends[begin:row] = row
            number, begin = number + 1, row
        numbers[row], begins[row] = number, begin
    ends[begin : first.size] = first.size
