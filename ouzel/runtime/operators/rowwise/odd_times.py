"""What the first times of a stream show of a unit that was mistaken: for an engine any time is as good as another."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

from ouzel.runtime.operators.buffers import Ints

SECOND_US = 1_000_000

EARLIEST_US, LATEST_US = 10**12, 2 * 10**12
"""A thousandth of the times from 2001 to 2033: the 12th to the 24th of January 1970."""

LEAST_DELAY_US = 1_000
"""A delay of a millisecond is how others spell one of nothing."""

FEW = 3
"""So many different times say something of their unit."""

_EPOCH = datetime(1970, 1, 1)


def find_thousandths(times_us: Ints, column: str) -> str:
    """What to say of times all of which are a thousandth of one of this century; empty if they are not.

    Times that somebody has written by hand are of whole seconds.
    """
    if not len(times_us) or times_us.min() < EARLIEST_US or times_us.max() >= LATEST_US:
        return ""
    broken = times_us[times_us % SECOND_US != 0]
    if not len(broken):
        return ""
    shown, meant = (_EPOCH + timedelta(microseconds=int(broken[0]) * factor) for factor in (1, 1_000))
    of = f" of '{column}'" if column else ""
    return (
        f"the first event times{of} are of January 1970, as {shown}; a thousand times that is {meant.replace(microsecond=0)}: leave a "
        "division by 1000 out; seconds are read by TO_TIMESTAMP_LTZ(seconds, 0), and where a table reads numbers as times timestamp.epoch "
        "names too small a unit"
    )


def find_short_delay(times_us: Ints, delay_us: int) -> str:
    """What to say of a delay below a second where the first times are all of whole seconds; empty if they are not."""
    if not LEAST_DELAY_US < delay_us < SECOND_US or not _are_whole(times_us):
        return ""
    return (
        f"the delay of the event time is {delay_us / 1_000:g} ms, and its first times are all of whole seconds, so that none is so little "
        f"late; {delay_us / 1_000:g} s may be meant"
    )


def find_short_windows(times_us: Ints, size_us: int) -> str:
    """What to say of windows below a second where the first times are all of whole seconds; empty if they are not."""
    if size_us >= SECOND_US or not _are_whole(times_us):
        return ""
    return (
        f"the windows are of {size_us / 1_000:g} ms, and the first times are all of whole seconds, each of which has windows of its "
        f"own; {size_us / 1_000:g} s may be meant"
    )


def _are_whole(times_us: Ints) -> bool:
    return not (times_us % SECOND_US).any() and len(np.unique(times_us)) >= FEW
