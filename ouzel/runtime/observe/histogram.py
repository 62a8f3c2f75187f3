"""A histogram of latencies in log buckets, 32 an octave: any quantile to 2 %, whatever the range; two of them add up."""

from __future__ import annotations

import math
from collections.abc import Mapping

BUCKETS_PER_OCTAVE = 32


def bucket_of(us: float) -> int:
    """The bucket of a latency in microseconds; everything up to 1 us is in bucket 0."""
    return max(0, round(math.log2(us) * BUCKETS_PER_OCTAVE)) if us > 1 else 0


def middle_of(bucket: int) -> float:
    """The latency in microseconds that a bucket stands for."""
    return float(2 ** (bucket / BUCKETS_PER_OCTAVE))


class Histogram:
    """Counts by bucket."""

    def __init__(self, buckets: Mapping[int, int] | None = None) -> None:
        self.buckets: dict[int, int] = dict(buckets or {})

    def add(self, us: float, count: int = 1) -> None:
        """Count a latency `count` times."""
        bucket = bucket_of(us)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    def merge(self, buckets: Mapping[int, int]) -> None:
        """Add the counts of another histogram."""
        for bucket, count in buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    def since(self, earlier: Mapping[int, int]) -> Histogram:
        """What was counted after `earlier`, a former state of this one."""
        grown = {bucket: count - earlier.get(bucket, 0) for bucket, count in self.buckets.items()}
        return Histogram({bucket: count for bucket, count in grown.items() if count > 0})

    def quantile(self, share: float) -> float | None:
        """The latency in microseconds that `share` (0 to 1) of the counts do not exceed; None when it is empty."""
        wanted = share * sum(self.buckets.values())
        seen = 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= wanted:
                return middle_of(bucket)
        return None
