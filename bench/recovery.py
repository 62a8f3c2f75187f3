"""How long after `kill -9` of the task that counts rows flow again, all having gone back to an epoch. One JSON line for a run.

    python -m bench.recovery --keys 1000000 --kills 20

The word count runs at 500,000 words a second with so many distinct ones, and an epoch every three seconds. `announced_s` is until the
topology master has all go back, `flows_s` until rows that were read after that are wholly acked. From kill to kill it takes 11 s, for a
process that dies again within ten is started later and later.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import tempfile
import time
from pathlib import Path

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.run import ROLLED_BACK
from ouzel.session import load, start

QUERY = """
CREATE TABLE words (word VARCHAR) WITH (
  'connector' = 'datagen', 'fields.word.cardinality' = '{keys}', 'fields.word.length' = '8', 'rate' = '{rate}');
CREATE TABLE counts (word VARCHAR, n BIGINT, PRIMARY KEY (word) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO counts SELECT word, COUNT(*) AS n FROM words GROUP BY word EMIT CHANGES;
"""
RATE, BETWEEN_S, FRESH_S = 500_000, 11.0, 60.0


def kill_counting(handle: HeronHandle) -> None:
    """Kill the task that counts."""
    task = next(task for task in handle.job.topology.tasks() if task.component != "words")
    table = ProcessTable(handle.job.container(1))
    table.read()
    os.kill(table.entries[f"instance-{task.id}"].pid, signal.SIGKILL)


def times_gone_back(handle: HeronHandle) -> int:
    """How often all have gone back."""
    return sum(event.kind == ROLLED_BACK for event in handle.status().events)


def recover(handle: HeronHandle) -> tuple[float, float]:
    """Kill, and wait; how long it took until all went back, and until rows flowed."""
    before, began = times_gone_back(handle), time.monotonic()
    kill_counting(handle)
    while times_gone_back(handle) == before:
        time.sleep(0.002)
    announced = time.monotonic() - began
    acked = handle.fresh_status(FRESH_S).rows_acked
    while handle.fresh_status(FRESH_S).rows_acked <= acked:
        pass
    return announced, time.monotonic() - began


def largest_snapshot(folder: Path) -> int:
    """Bytes of the largest file of one task."""
    return max((path.stat().st_size for path in (folder / "tasks").iterdir()), default=0)


def main() -> None:
    """Run once and print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000, help="distinct words")
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recovery-") as folder:
        file = Path(folder) / "words.sql"
        file.write_text(QUERY.format(keys=options.keys, rate=RATE), encoding="utf-8")
        handle = start(load(file, (("containers", "1"), ("checkpoint.interval.ms", "3000"))))
        assert isinstance(handle, HeronHandle)
        try:
            time.sleep(max(10.0, 4 * options.keys / RATE))
            took = []
            for _ in range(options.kills):
                took.append(recover(handle))
                time.sleep(BETWEEN_S)
            flows = sorted(flows for _, flows in took)
            line = {
                "keys": options.keys,
                "kills": options.kills,
                "snapshot_mb": round(largest_snapshot(handle.job.checkpoints) / 1e6, 1),
                "announced_s": round(statistics.median(announced for announced, _ in took), 3),
                "flows_s": round(statistics.median(flows), 3),
                "flows_p95_s": round(flows[int(0.95 * (len(flows) - 1))], 3),
                "flows_max_s": round(flows[-1], 3),
            }
        finally:
            handle.end()
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
