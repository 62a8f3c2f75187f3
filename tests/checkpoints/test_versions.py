"""Checkpoints that were written by a former version of Ouzel are read: `version_1.txt` is of the version that first said which it is.

It has a line for each file of a folder of checkpoints: its name, and what it holds, compressed and in base 64. No line is ever written
anew. A new version of task files or manifests gets a file of its own beside it, by `write_samples` and `pack`.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from ouzel.planner.topology import Topology
from ouzel.runtime.checkpoints.manifest import MANIFEST_VERSION, Manifest, TaskFiles
from ouzel.runtime.checkpoints.redistribute import past_in_epoch
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.checkpoints.task_file import TASK_FILE_VERSION
from ouzel.runtime.simulator.world import World
from ouzel.runtime.state.context import Snapshot
from ouzel.runtime.tasks.factory import TaskContext, make_task
from ouzel.session import Job, load_text

SAMPLES = Path(__file__).parent
VERSIONS = [1]
SEED, EPOCH = 7, 3
TABLES = "".join(
    f"CREATE TABLE {name} (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen', 'rows' = '60', "
    "'partitions' = '1', 'fields.n.kind' = 'sequence', 'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2020-01-01 00:00:00', "
    "'fields.ts.step' = '500');\n"
    for name in ("ticks", "tocks")
)
QUERIES = (
    "SELECT n % 5 AS k, COUNT(*) AS c, COUNT(DISTINCT n % 3) AS d, AVG(n) AS a, MAX(CAST(n AS VARCHAR)) AS m FROM ticks GROUP BY n % 5",
    "SELECT window_end, SUM(n) AS s FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end",
    "SELECT window_end, COUNT(*) AS s FROM TABLE(SESSION(TABLE ticks PARTITION BY n % 2, DESCRIPTOR(ts), INTERVAL '2' SECOND)) "
    "GROUP BY window_start, window_end, n % 2",
    "SELECT a.n, b.ts FROM ticks AS a LEFT JOIN tocks AS b ON a.n = b.n + 40",
    "SELECT a.n, b.n AS m FROM ticks AS a JOIN tocks AS b ON a.n = b.n AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts",
    "SELECT n, r FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY n % 2 ORDER BY n DESC) AS r FROM ticks) AS ranked WHERE r <= 2",
    "SELECT n, SUM(n) OVER (PARTITION BY n % 2 ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS near FROM ticks",
    "SELECT n % 9 AS n FROM ticks EXCEPT SELECT n FROM tocks WHERE n < 4",
)


def job() -> Job:
    """A query with each kind of state."""
    inserts = "".join(
        f"CREATE TABLE out_{place} WITH ('connector' = 'blackhole') AS {one};\n" for place, one in enumerate(QUERIES)
    )
    pairs = (("checkpoint.interval.ms", "1000"), ("seed", str(SEED)), ("batch.rows", "10"), ("max.pending.rows", "10"))
    return load_text(TABLES + inserts, Path(), "samples", pairs)


def write_samples(folder: Path) -> None:
    """What the query keeps when it has read half of its tables, as this version writes it."""
    planned, store = job(), CheckpointStore(folder)
    world = World(planned.topology, planned.packing, Path(), SEED)
    while sum(host.machine.metrics().rows_in for host in world.hosts.values() if host.machine.is_spout) < 60:
        world.now_ms += 1.0 if world.step() else 10.0
    world.epochs._begun = EPOCH - 1
    assert world.take_epoch()
    world.deactivate()
    while not world.epochs.newest.number:
        world.now_ms += 1.0 if world.step() else 10.0
    store.claim("samples", "an id")
    tasks = []
    for task in planned.topology.tasks():
        files = tuple(store.write_task(EPOCH, one) for one in world.epochs.newest.chains[task.id])
        tasks.append(TaskFiles(task.component, task.index, files))
    store.complete(Manifest(EPOCH, "samples", SEED, 1_700_000_000_000_000, tuple(tasks)))


def pack(folder: Path) -> str:
    """A folder as text."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return "".join(
        f"{path.relative_to(folder)} {b64encode(zlib.compress(path.read_bytes())).decode()}\n" for path in files
    )


def unpack(text: str, folder: Path) -> None:
    """The folder that such a text is of."""
    for name, packed in (line.split() for line in text.splitlines()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(b64decode(packed)))


def test_every_version_has_its_samples() -> None:
    assert max(VERSIONS) == max(TASK_FILE_VERSION, MANIFEST_VERSION), (
        "write samples of the new version, and keep reading the old ones"
    )
    assert sorted(path.name for path in SAMPLES.glob("version_*")) == [f"version_{one}.txt" for one in VERSIONS]


@pytest.mark.parametrize("version", VERSIONS)
def test_state_of_a_former_version_is_restored(version: int, tmp_path: Path) -> None:
    unpack((SAMPLES / f"version_{version}.txt").read_text(), tmp_path)
    planned, store = job(), CheckpointStore(tmp_path)
    assert store.verify(EPOCH) == []
    manifest, restored = store.manifest(EPOCH), 0
    for task in planned.topology.tasks():
        tasks = planned.topology.component(task.component).parallelism
        past = past_in_epoch(task, tasks, manifest, store)
        made = make_task(task, context(planned.topology, past)).snapshot(whole=True)
        assert (made.component, made.index) == (task.component, task.index)
        kept = past[-1]
        assert all(state.whole for state in kept.states), "samples are whole"
        for found, state in zip(made.states, kept.states, strict=True):
            assert contents(found) == contents(state)
            restored += any(part.height > 0 for name, part in state.parts.items())
    assert restored >= len(QUERIES)


def context(topology: Topology, past: object) -> TaskContext:
    """What a task is made from."""
    return TaskContext(topology, Path(), restored=past, goes_on=True)  # type: ignore[arg-type]


def contents(state: Snapshot) -> dict[str, str]:
    """The parts of a snapshot as text, their rows in an order of their own."""
    return {name: json.dumps(sorted(map(repr, part.rows()))) for name, part in state.parts.items()}


def test_this_version_writes_what_it_reads(tmp_path: Path) -> None:
    write_samples(tmp_path / "written")
    unpack(pack(tmp_path / "written"), tmp_path / "read")
    assert CheckpointStore(tmp_path / "read").verify(EPOCH) == []
