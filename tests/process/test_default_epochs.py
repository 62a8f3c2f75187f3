"""What a run without any setting does when a task with state dies, for other queries than windows, and for two runs in one folder."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import ROLLED_BACK, STATE_LOST, RunState
from ouzel.session import load_text, start
from tests.law.compare import plain_fold
from tests.process import test_epochs
from tests.process.gates import GATED, Gate, through_gate
from tests.process.topologies import pid_of
from tests.servers.waiting import collect, wait_until

pytestmark = pytest.mark.server

ROWS, GATE_ROWS = 6_000, 3_500
TICKS = f"""
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '{ROWS}', 'rate' = '3000', 'partitions' = '1',
  'fields.n.kind' = 'sequence', 'fields.n.min' = '0');
""" + through_gate("ticks")
SETTINGS = (("batch.rows", "100"), ("containers", "1"), ("parallelism", "2"), *GATED)

Answer = Counter[tuple[int, ...]]


def counts(of: range) -> Answer:
    return Counter((k, len(range(k, len(of), 7)), sum(range(k, len(of), 7))) for k in range(7))


QUERIES: dict[str, tuple[str, Callable[[], Answer]]] = {
    "EMIT AFTER DELAY": (
        "SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM ticks GROUP BY n % 7 EMIT AFTER DELAY INTERVAL '1' SECOND;",
        lambda: counts(range(ROWS)),
    ),
    "LIMIT": ("SELECT n FROM ticks LIMIT 3000;", lambda: Counter((n,) for n in range(3_000))),
    "Top-N": (
        "SELECT n % 7 AS k, COUNT(*) AS many, SUM(n) AS total FROM ticks GROUP BY n % 7 ORDER BY total DESC LIMIT 3 EMIT CHANGES;",
        lambda: Counter(dict(sorted(counts(range(ROWS)).items(), key=lambda one: -one[0][2])[:3])),
    ),
}


def kill_keepers(handle: HeronHandle) -> None:
    """`kill -9` of each task that is neither a source nor the gate, and wait until all have gone back."""
    topology = handle.job.topology
    for task in topology.tasks():
        if not topology.component(task.component).is_spout and task.component != "gate":
            container = handle.job.packing.container_of(task.id).id
            os.kill(pid_of(handle, f"{container}/instance-{task.id}"), signal.SIGKILL)
    wait_until(lambda: any(event.kind == ROLLED_BACK for event in handle.status().events), told=handle.status)


@pytest.mark.parametrize("name", list(QUERIES))
def test_the_answer_is_exact_whatever_the_query_keeps(name: str, tmp_path: Path) -> None:
    text, exact = QUERIES[name]
    job = load_text(TICKS + text, tmp_path, "ticks", SETTINGS)
    assert job.program.result
    with Gate(tmp_path, GATE_ROWS) as gate:
        handle = start(job)
        assert isinstance(handle, HeronHandle)
        try:
            wait_until(lambda: handle.status().rows_acked > 1_000, told=handle.status)
            kill_keepers(handle)
            gate.open()
            frames, status = collect(handle)
        finally:
            handle._scheduler.on_kill()
    assert (status.state, status.reason) == (RunState.FINISHED, "")
    assert STATE_LOST not in [event.kind for event in status.events]
    assert Counter(plain_fold(frames, list(job.program.result.input.schema.names)).rows()) == exact()


def test_two_runs_of_one_query_in_one_folder_go_back_each_by_itself(tmp_path: Path) -> None:
    pairs = (*test_epochs.SETTINGS, ("checkpoint.path", "kept"))
    runs = [test_epochs.Run(load_text(test_epochs.QUERY, tmp_path, "ticks", pairs)) for _ in range(2)]
    try:
        for made in runs:
            wait_until(lambda made=made: made.handle.status().rows_acked > 1_000, told=made.handle.status)  # type: ignore[misc]
        first, second = runs
        first.kill(first.instances("aggregate")[0])
        first.wait_for_event(ROLLED_BACK)
        for made in runs:
            test_epochs.exact(made)
        assert not second.events(ROLLED_BACK)
    finally:
        for made in runs:
            made.handle._scheduler.on_kill()
    assert not (tmp_path / "kept").exists(), "the epochs of a run are in its job directory"
