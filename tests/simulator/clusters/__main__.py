"""Runs clusters from many seeds: `python -m tests.simulator.clusters FIRST COUNT`; `make simulate SEEDS=N`."""

from __future__ import annotations

import sys
import time

from tests.simulator.clusters.questions import tell_failure


def main(first: int, count: int) -> int:
    """Run so many seeds from the first on; print those that fail."""
    began, failed = time.monotonic(), 0
    for number, seed in enumerate(range(first, first + count), 1):
        if told := tell_failure(seed):
            failed += 1
            print(told, flush=True)
        if number % 100 == 0 or number == count:
            pace = number / (time.monotonic() - began)
            print(f"{number} of {count} seeds, {failed} failed, {pace:.1f} seeds a second", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
