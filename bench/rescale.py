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
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from bench.growth import WORDS, Growth, figures, load_words
from ouzel.runtime import warm
from ouzel.runtime.cluster.submitted.attached import AttachedHandle
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.verbs import find_status, kill_topology
from ouzel.submitting import submit_job, update_parallelism

QUERY = f"{WORDS}\nSELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES;"
RATE, NAME, LOOK_S, FLOWS_S = 100_000, "rescaled", 0.01, 120.0
STEPS = (4, 2)
MARK_BYTES = 4_096
"""A mark, or the record of a roll back, takes less; a batch of rows takes more."""


def update(registry: Registry, tasks: int) -> tuple[float, float]:
    """Update it while rows flow; how long it stood still, and how long the command took."""
    results = registry.folder(NAME).results
    growth = Growth(lambda: sum(map(size, results.glob("*/task-*/part-*.rows"))), least=MARK_BYTES)
    with growth.watched():
        time.sleep(2.0)
        warm.prepare()
        began = time.monotonic()
        update_parallelism(NAME, {"count_by_word": tasks})
        took, known = time.monotonic() - began, len(growth.moments)
        deadline = time.monotonic() + FLOWS_S
        while len(growth.moments) < known + 3 and time.monotonic() < deadline:
            time.sleep(LOOK_S)
    return growth.longest_gap, took


def size(path: Path) -> int:
    """Bytes of a file; none when it has just been folded into another one."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


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
        handle = submit_job(load_words(Path(folder), QUERY.format(keys=options.keys, rate=RATE)), NAME)
        assert isinstance(handle, AttachedHandle)
        handle.let_go()
        registry = Registry()
        try:
            while rows_in(registry) < 3 * options.keys:
                time.sleep(0.5)
            gaps, took = zip(*(update(registry, STEPS[number % 2]) for number in range(options.updates)), strict=True)
            line = vars(options) | figures("pause", gaps) | figures("command", took)
        finally:
            kill_topology(registry, NAME)
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
