"""One measured window of a run, as the JSON line that every bench prints."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

from bench.process_tree import ProcessTree
from ouzel.runtime.run import Handle, RunState, Status

POLL_S = 0.02

Counter = Callable[[], tuple[float, int]]
"""Reads (wall clock, rows so far), both of one moment."""


def acked_rows(handle: Handle, count: Callable[[Status], int] = lambda status: status.rows_acked) -> Counter:
    """Rows that the run's sources know to be wholly handled, at a moment when that number has just changed.

    `count` says how many a status counts, if not all.
    """

    def read() -> tuple[float, int]:
        before = handle.status().rows_acked
        deadline = time.time() + 10
        while (now := handle.status()).rows_acked == before and time.time() < deadline:
            if now.state in (RunState.FAILED, RunState.FINISHED, RunState.STOPPED):
                raise SystemExit(f"the run has ended early: {now.reason or now.state.value}")
            handle.wait_for_results(POLL_S)
            handle.results()
        return time.time(), count(now)

    return read


def measure(handle: Handle, rows: Counter, warm_up_s: float, seconds: float) -> dict[str, Any]:
    """Let it run for `warm_up_s` after the first rows, then take figures over `seconds`."""
    with ProcessTree(os.getpid()) as tree:
        await_first(handle, rows)
        time.sleep(warm_up_s)
        (start_s, first), before, failed = rows(), tree.cost(), handle.status().rows_failed
        time.sleep(seconds)
        (end_s, last), after, status = rows(), tree.cost(), handle.status()
    rate = (last - first) / (end_s - start_s)
    cpu_s, wall_s = after.cpu_s - before.cpu_s, after.time_s - before.time_s
    return {
        "rows": round(rate * wall_s),
        "seconds": round(wall_s, 3),
        "rows_per_s": round(rate),
        "cpu_seconds": round(cpu_s, 2),
        "rows_per_cpu_s": round(rate * wall_s / cpu_s),
        "max_rss_mb": tree.peak_mb,
        "others_cpu_s": round(max(0.0, after.machine_cpu_s - before.machine_cpu_s - cpu_s), 1),
        "p50_ms": status.p50_ms and round(status.p50_ms, 3),
        "p99_ms": status.p99_ms and round(status.p99_ms, 3),
        "failed": status.rows_failed - failed,
        "restarts": status.restarts,
    }


def print_line(description: dict[str, Any], figures: dict[str, Any]) -> None:
    """Print the line; what has no value is left out."""
    print(json.dumps({key: value for key, value in (description | figures).items() if value is not None}), flush=True)


def await_first(handle: Handle, rows: Counter, limit_s: float = 60) -> None:
    """Return when rows have been handled."""
    deadline = time.time() + limit_s
    while rows()[1] == 0:
        status = handle.status()
        if status.state is RunState.FAILED or time.time() > deadline:
            raise SystemExit(f"nothing was handled: {status.reason or status.state.value}")
        time.sleep(POLL_S)
