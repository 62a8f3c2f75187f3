"""How long a topology stands still while a component gets other numbers of tasks. One JSON line for a run.

    python -m bench.rescale --keys 1000000 --updates 4

The word count is submitted with so many distinct words, at 100,000 a second, and an epoch every three seconds; when all have come it is
updated from one task to four, to two, and so on. `pause_s` is from the last batch of results before the update to the first one after it,
as the files of the result say; `command_s` is what `ouzel update` takes from its start to its end. Both are medians, `_max_s` the longest.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

from ouzel.runtime import warm
from ouzel.runtime.cluster.submitted.attached import AttachedHandle
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.verbs import find_status, kill_topology
from ouzel.session import load
from ouzel.submitting import submit_job, update_parallelism

QUERY = """
CREATE TABLE words (word VARCHAR) WITH (
  'connector' = 'datagen', 'fields.word.cardinality' = '{keys}', 'fields.word.length' = '8', 'rate' = '{rate}', 'partitions' = '1');
SELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES;
"""
RATE, NAME, LOOK_S, FLOWS_S = 100_000, "rescaled", 0.002, 120.0
STEPS = (4, 2)
MARK_BYTES = 4_096
"""A mark, or the record of a roll back, takes less; a batch of rows takes more."""


class ResultWatch(Thread):
    """Notes when rows have come to the files of the result."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._folder, self._ends = folder, Event()
        self.grew: list[float] = []

    def run(self) -> None:
        """Look every few milliseconds."""
        size = -1
        while not self._ends.wait(LOOK_S):
            now = sum(path.stat().st_size for path in self._folder.glob("*/task-*/part-*.rows"))
            if now > size + MARK_BYTES:
                self.grew.append(time.monotonic())
            size = now

    def stop(self) -> None:
        """Look no more."""
        self._ends.set()
        self.join()


def longest_gap(moments: list[float]) -> float:
    """The longest time in which nothing grew."""
    return max(after - before for before, after in pairwise(moments))


def update(registry: Registry, tasks: int) -> tuple[float, float]:
    """Update it while rows flow; how long it stood still, and how long the command took."""
    watch = ResultWatch(registry.folder(NAME).results)
    watch.start()
    time.sleep(2.0)
    warm.prepare()
    began = time.monotonic()
    update_parallelism(NAME, {"count_by_word": tasks})
    took, known = time.monotonic() - began, len(watch.grew)
    deadline = time.monotonic() + FLOWS_S
    while len(watch.grew) < known + 3 and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    watch.stop()
    return longest_gap(watch.grew), took


def rows_in(registry: Registry) -> int:
    """How many rows it has read."""
    record = registry.find(NAME)
    status = record and find_status(registry, record)
    return status.rows_in if status else 0


def main() -> None:
    """Run once and print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000, help="distinct words")
    parser.add_argument("--updates", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rescale-") as folder:
        os.environ["OUZEL_HOME"] = folder
        file = Path(folder) / "words.sql"
        file.write_text(QUERY.format(keys=options.keys, rate=RATE), encoding="utf-8")
        handle = submit_job(load(file, (("containers", "1"), ("checkpoint.interval.ms", "3000"))), NAME)
        assert isinstance(handle, AttachedHandle)
        handle.let_go()
        registry = Registry()
        try:
            while rows_in(registry) < 3 * options.keys:
                time.sleep(0.5)
            gaps, took = zip(*(update(registry, STEPS[number % 2]) for number in range(options.updates)), strict=True)
            line = {
                "keys": options.keys,
                "updates": options.updates,
                "pause_s": round(statistics.median(gaps), 3),
                "pause_max_s": round(max(gaps), 3),
                "command_s": round(statistics.median(took), 3),
                "command_max_s": round(max(took), 3),
            }
        finally:
            kill_topology(registry, NAME)
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
