"""Numbers for the buckets of our operators, such that each shuffle partition of Spark has as many of them as every other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

from ouzel.runtime.state.hashing import KEY_GROUPS

Buckets = Sequence[int]
"""Numbers of the buckets to which the keys of an operator are dealt. There is one call for each in each micro-batch, and each keeps its
state as one value."""

FORMER_BUCKETS: Buckets = range(64)
"""Those of checkpoints that do not say theirs."""

BUCKETS_MAX, EACH_MAX = 64, 8
"""A query has most `BUCKETS_MAX` buckets, or one a partition, and `EACH_MAX` a partition. Each is a call in each micro-batch, of 2 to 6 ms
of CPU; and its state is one value, which Spark limits to 2 GiB."""

SPARK_SEED = 42


def choose_buckets(partitions: int) -> tuple[int, ...]:
    """The buckets of a query whose shuffles have so many partitions."""
    each = max(1, min(EACH_MAX, BUCKETS_MAX // partitions))
    return tuple(_take_evenly(min(partitions * each, KEY_GROUPS), partitions, each))


def _take_evenly(buckets: int, partitions: int, each: int) -> Iterator[int]:
    taken = Counter[int]()
    for number in count():
        place = spark_hash(number) % partitions
        if taken.total() == buckets:
            return
        if taken[place] < each:
            taken[place] += 1
            yield number


def spark_hash(number: int) -> int:
    """What Spark's `hash` gives for an INT that is not negative: MurmurHash3 (Appleby) of 32 bits. Spark deals rows by it."""
    mixed = _rotate(number * 0xCC9E2D51, 15) * 0x1B873593 & WORD
    state = _rotate(SPARK_SEED ^ mixed, 13) * 5 + 0xE6546B64 & WORD
    state ^= INT_BYTES
    state = (state ^ state >> 16) * 0x85EBCA6B & WORD
    state = (state ^ state >> 13) * 0xC2B2AE35 & WORD
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


WORD, INT_BYTES = 0xFFFFFFFF, 4


def _rotate(number: int, bits: int) -> int:
    number &= WORD
    return (number << bits | number >> 32 - bits) & WORD
