"""How long after `kill -9` of the task that counts rows flow again, all having gone back to an epoch. One JSON line for a run.

    python -m bench.recovery --keys 1000000 --kills 20

The word count runs at `--rate` words a second (500,000) with so many distinct ones, and an epoch every three seconds.

`announced_s` is until the topology master has all go back, `flows_s` until rows that were read after that are wholly acked, and `beyond_s`
until rows are that nobody had read before the kill. From kill to kill it takes 11 s, for a process that dies again within ten is started
later and later.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
import time
from pathlib import Path

from bench.growth import LOOK_S, WORDS, Growth, figures, load_words
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.run import ROLLED_BACK
from ouzel.session import start

QUERY = f"""{WORDS}
CREATE TABLE counts (word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO counts SELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES;
"""
BETWEEN_S, FRESH_S = 11.0, 60.0


def kill_counting(handle: HeronHandle) -> None:
    """Kill the task that counts."""
    task = next(task for task in handle.job.topology.tasks() if task.component != "words")
    table = ProcessTable(handle.job.container(1))
    table.read()
    os.kill(table.entries[f"instance-{task.id}"].pid, signal.SIGKILL)


def times_gone_back(handle: HeronHandle) -> int:
    """How often all have gone back."""
    return sum(event.kind == ROLLED_BACK for event in handle.status().events)


def count_acked(handle: HeronHandle) -> int:
    """Up to which row of the source all are wholly acked."""
    return sum(end for _, end in handle.fresh_status(FRESH_S).ranges.get("words", {}).values())


def recover(handle: HeronHandle) -> tuple[float, float, float]:
    """Kill, and wait; how long it took until all went back, until rows flowed, and until there were rows that had not been before."""
    before, acked = times_gone_back(handle), count_acked(handle)
    began = time.monotonic()
    kill_counting(handle)
    while times_gone_back(handle) == before:
        time.sleep(LOOK_S)
    announced = time.monotonic() - began
    growth = Growth(lambda: count_acked(handle))
    growth.wait()
    flows = time.monotonic() - began
    if growth.last <= acked:
        growth.wait(beyond=acked)
    return announced, flows, time.monotonic() - began


def largest_snapshot(folder: Path) -> int:
    """Bytes of the largest file of one task."""
    return max((path.stat().st_size for path in (folder / "tasks").iterdir()), default=0)


def measure(handle: HeronHandle, keys: int, rate: int, kills: int) -> dict[str, float]:
    """Kill so many times, once most keys have come."""
    time.sleep(max(10.0, 4 * keys / rate))
    took = []
    for _ in range(kills):
        took.append(recover(handle))
        time.sleep(BETWEEN_S)
    announced, flows, beyond = zip(*took, strict=True)
    snapshot = {"snapshot_mb": round(largest_snapshot(handle.job.checkpoints) / 1e6, 1)}
    return snapshot | figures("announced", announced) | figures("flows", flows) | figures("beyond", beyond)


def main() -> None:
    """Run once and print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000, help="distinct words")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rate", type=int, default=500_000, help="words a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recovery-") as folder:
        query = QUERY.format(keys=options.keys, rate=options.rate)
        handle = start(load_words(Path(folder), query))
        assert isinstance(handle, HeronHandle)
        try:
            measured = measure(handle, options.keys, options.rate, options.kills)
        finally:
            handle.end()
    print(json.dumps({"engine": "ouzel", **vars(options)} | measured), flush=True)


if __name__ == "__main__":
    main()
