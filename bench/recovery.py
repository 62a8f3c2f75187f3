"""How long after `kill -9` of the task that counts the next result comes, all having gone back to an epoch. One JSON line for a run.

    python -m bench.recovery --keys 1000000 --kills 20

The word count runs at `--rate` words a second (500,000) with so many distinct ones, and an epoch every three seconds. Whoever takes the
result looks at what each frame has counted. `first_s` is from the kill to the first frame after it, and `beyond_s` to the first that
counts a word which nobody had counted before. Both are medians, with the 95th percentile and the longest. From kill to kill it takes 11
s, for a process that dies again within ten is started later and later.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
import time
from pathlib import Path

from bench.growth import figures, load_words
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.session import start

QUERY = """CREATE TABLE words (word VARCHAR, number BIGINT) WITH ('connector' = 'datagen', 'fields.word.cardinality' = '{keys}',
  'fields.word.length' = '8', 'fields.number.kind' = 'sequence', 'rate' = '{rate}', 'partitions' = '1');
SELECT word, COUNT(*) AS n, MAX(number) AS newest FROM words GROUP BY word EMIT CHANGES;
"""
BETWEEN_S, LIMIT_S, LOOK_S = 11.0, 120.0, 0.02
IN_FLIGHT_S = 0.1
"""What arrives so soon after the kill had left the task before; nothing can have been started again by then."""


class Results:
    """What has come of the result: the newest word that was counted in any of it."""

    def __init__(self, handle: HeronHandle) -> None:
        self._handle = handle
        self.newest = -1

    def take(self) -> list[int]:
        """Wait for more, not for long: the newest word of each frame."""
        self._handle.wait_for_results(LOOK_S)
        found = [int(frame["newest"].max() or 0) for frame in self._handle.results() if frame.height]  # type: ignore[arg-type]
        self.newest = max((self.newest, *found))
        return found

    def take_for(self, seconds: float) -> None:
        """All that comes meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.take()

    def wait(self, beyond: int = -1) -> None:
        """Until a frame comes that has counted a newer word than that."""
        until = time.monotonic() + LIMIT_S
        while not any(newest > beyond for newest in self.take()):
            if time.monotonic() > until:
                raise SystemExit(f"no result came within {LIMIT_S:g} s")


def kill_counting(handle: HeronHandle) -> None:
    """Kill the task that counts."""
    task = next(task for task in handle.job.topology.tasks() if task.component != "words")
    table = ProcessTable(handle.job.container(1))
    table.read()
    os.kill(table.entries[f"instance-{task.id}"].pid, signal.SIGKILL)


def recover(handle: HeronHandle, results: Results) -> tuple[float, float]:
    """Kill, and wait; how long it took until a result came, and until one did that had not been before."""
    began = time.monotonic()
    kill_counting(handle)
    results.take_for(IN_FLIGHT_S)
    before = results.newest
    results.wait()
    first = time.monotonic() - began
    if results.newest <= before:
        results.wait(beyond=before)
    return first, time.monotonic() - began


def largest_snapshot(folder: Path) -> int:
    """Bytes of the largest file of one task."""
    return max((path.stat().st_size for path in (folder / "tasks").iterdir()), default=0)


def measure(handle: HeronHandle, rows: float, rate: int, kills: int) -> dict[str, float]:
    """Kill so many times, once so many rows have come."""
    results = Results(handle)
    results.wait()
    results.take_for(max(10.0, rows / rate))
    took = []
    for _ in range(kills):
        took.append(recover(handle, results))
        results.take_for(BETWEEN_S)
    first, beyond = zip(*took, strict=True)
    snapshot = {"snapshot_mb": round(largest_snapshot(handle.job.checkpoints) / 1e6, 1)}
    return snapshot | figures("first", first) | figures("beyond", beyond)


def main() -> None:
    """Run once and print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000, help="distinct words")
    parser.add_argument("--fill", type=float, default=4, help="kill once so many times as many rows as keys have come")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rate", type=int, default=500_000, help="words a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recovery-") as folder:
        query = QUERY.format(keys=options.keys, rate=options.rate)
        handle = start(load_words(Path(folder), query))
        assert isinstance(handle, HeronHandle)
        try:
            measured = measure(handle, options.fill * options.keys, options.rate, options.kills)
        finally:
            handle.end()
    print(json.dumps({"engine": "ouzel", **vars(options)} | measured), flush=True)


if __name__ == "__main__":
    main()
