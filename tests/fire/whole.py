"""One submitted topology with every kind of operator over numbered events: its processes by what they are, and what its tables hold."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.submitted.attached import AttachedHandle
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.verbs import kill_topology, start_topology
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.run import Status
from ouzel.session import load_text
from ouzel.submitting import submit_job
from tests.servers.waiting import wait_until

NAME, KEYS, IN_WINDOW, RATE = "whole", 7, 100, 500
START = "2024-01-01 00:00:00"
HANG_MS, EPOCH_MS, REST_S = 2_000, 1_000, 300.0


def _numbers(table: str) -> str:
    return f"""CREATE TABLE {table} (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rate' = '{RATE}', 'partitions' = '1', 'fields.n.kind' = 'sequence', 'fields.n.min' = '0',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '{START}', 'fields.ts.step' = '1');"""


def _file(table: str, columns: str) -> str:
    return f"CREATE TABLE {table} ({columns}) WITH ('connector' = 'file', 'path' = '{table}', 'format' = 'parquet');"


QUERY = f"""
{_numbers("ticks")}
{_numbers("tocks")}
{_numbers("beats")}
{_file("passed", "n BIGINT")}
{_file("windows", "start TIMESTAMP(3), k BIGINT, many BIGINT, total BIGINT")}
{_file("joined", "n BIGINT, m BIGINT")}
{_file("running", "n BIGINT, total BIGINT")}
BEGIN STATEMENT SET;
INSERT INTO passed SELECT n FROM ticks;
INSERT INTO windows
  SELECT /*+ GROUPING('beats' = 'partial-key'), PARALLELISM('ticks' = '1', 'tocks' = '1', 'beats' = '1') */
    window_start, n % {KEYS}, COUNT(*), SUM(n)
  FROM TABLE(TUMBLE(TABLE beats, DESCRIPTOR(ts), INTERVAL '0.{IN_WINDOW}' SECOND)) GROUP BY window_start, window_end, n % {KEYS};
INSERT INTO joined
  SELECT a.n, b.n FROM ticks AS a JOIN tocks AS b
  ON a.n = b.n AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts + INTERVAL '1' SECOND;
INSERT INTO running
  SELECT n, SUM(n) OVER (PARTITION BY n % {KEYS} ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM ticks;
END;
SELECT n % {KEYS} AS k, COUNT(*) AS many, SUM(n) AS total FROM tocks GROUP BY n % {KEYS} EMIT CHANGES;
"""

TASKS = {
    "source": "ticks[0]",
    "combiner": "combine_by_key[0]",
    "window": "aggregate_by_key[0]",
    "aggregate": "aggregate_by_key_2[0]",
    "join": "join_by_n[0]",
    "over": "over_all[0]",
    "sink": "passed[0]",
}
"""What each kind of task is called."""

WATCHED = {"combiner": "windows", "window": "windows", "aggregate": "result", "join": "joined", "over": "running"}
"""Where rows come out that go through such a task; `passed` for all others."""


def settings(delivery: str, checkpoints: Path) -> tuple[tuple[str, str], ...]:
    """Of a topology whose epochs are in that folder."""
    return (
        ("delivery", delivery),
        ("checkpoint.interval.ms", str(EPOCH_MS)),
        ("checkpoint.path", str(checkpoints)),
        ("parallelism", "2"),
        ("containers", "2"),
        ("batch.rows", "100"),
        ("max.pending.rows", "1000"),
        ("hang.timeout.ms", str(HANG_MS)),
        ("heartbeat.ms", "100"),
    )


Reading = Callable[[pl.DataFrame], tuple[np.ndarray, np.ndarray]]
"""Of rows: the number of each, of 0, 1, 2, ..., and whether its values are right."""


def _sums(first: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Sums of `many` numbers from the first one on, each larger by KEYS than the one before."""
    return np.asarray(many * first + KEYS * many * (many - 1) // 2)


def _passed(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return rows["n"].to_numpy(), np.ones(rows.height, bool)


def _joined(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return rows["n"].to_numpy(), (rows["n"] == rows["m"]).to_numpy()


def _running(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    n = rows["n"].to_numpy()
    return n, rows["total"].to_numpy() == _sums(n % KEYS, n // KEYS + 1)


def _windows(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    since = (rows["start"] - pl.Series([START]).str.to_datetime()[0]).dt.total_milliseconds().to_numpy()
    k, before = rows["k"].to_numpy(), (rows["k"].to_numpy() - since) % KEYS
    many = (IN_WINDOW - 1 - before) // KEYS + 1
    right = (rows["many"].to_numpy() == many) & (rows["total"].to_numpy() == _sums(since + before, many))
    return since // IN_WINDOW * KEYS + k, right


READINGS: Mapping[str, Reading] = {"passed": _passed, "joined": _joined, "running": _running, "windows": _windows}


class Table:
    """What a reader of one folder of files has seen so far; each file is read once."""

    def __init__(self, folder: Path, reading: Reading) -> None:
        self._folder, self._reading, self._known = folder, reading, set[str]()
        self._times, self.wrong = np.zeros(0, np.int64), 0

    def look(self) -> int:
        """Read what is new: up to which number rows have come."""
        for name in sorted({*os.listdir(self._folder)} - self._known) if self._folder.is_dir() else ():
            if name.endswith(".parquet") and not name.startswith("."):
                self._known.add(name)
                numbers, right = self._reading(pl.read_parquet(self._folder / name))
                self.wrong += int((~right).sum())
                times = np.bincount(numbers, minlength=self._times.size)
                times[: self._times.size] += self._times
                self._times = times
        return int(self._times.size)

    @property
    def twice(self) -> int:
        """How many rows are there that were there before."""
        return int((self._times - 1).clip(0).sum())

    @property
    def missing(self) -> int:
        """How many are not there, though one behind them is."""
        return int((self._times == 0).sum())


class Result:
    """What a client has of the result."""

    def __init__(self, handle: AttachedHandle) -> None:
        self._handle = handle
        self._rows = pl.DataFrame(schema={"k": pl.Int64, "many": pl.Int64, "total": pl.Int64, WEIGHT: pl.Int64})

    def look(self) -> int:
        """Read what is new: so many rows are counted."""
        frames = [self._rows, *(frame.select(self._rows.columns) for frame in self._handle.results())]
        net = pl.concat(frames, how="vertical_relaxed").group_by("k", "many", "total").agg(pl.sum(WEIGHT))
        self._rows = net.filter(pl.col(WEIGHT) != 0)
        return int((self._rows["many"] * self._rows[WEIGHT]).sum())

    def differs(self, rows: int) -> bool:
        """Whether it is not that of so many rows."""
        self.look()
        expected = [(k, len(range(k, rows, KEYS)), sum(range(k, rows, KEYS)), 1) for k in range(KEYS)]
        return self._rows.sort("k").rows() != expected


class Whole:
    """The topology, submitted under `root`; its epochs are in the folder `checkpoints`. OUZEL_HOME is there too, so one runs at a time."""

    def __init__(self, root: Path, delivery: str, checkpoints: Path) -> None:
        os.environ["OUZEL_HOME"] = str(root / "home")
        self.root, self.delivery, self.store = root, delivery, CheckpointStore(checkpoints)
        job = load_text(QUERY, root, NAME, settings(delivery, checkpoints))
        self._take(submit_job(job, NAME))
        self.registry = Registry()
        self.tables = {name: Table(root / name, reading) for name, reading in READINGS.items()}

    def _take(self, handle: AttachedHandle) -> None:
        self.handle, self.result = handle, Result(handle)

    def start_again(self) -> None:
        """After all processes have ended."""
        wait_until(lambda: self.condition is Condition.INTERRUPTED, told=self.handle.status)
        self.handle.let_go()
        self._take(AttachedHandle(self.registry, start_topology(self.registry, NAME)))

    def remove(self) -> None:
        """End it, and leave nothing."""
        self.handle.let_go()
        kill_topology(self.registry, NAME)

    @property
    def condition(self) -> Condition:
        """How it stands."""
        record = self.registry.find(NAME)
        assert record is not None
        return self.registry.condition(record)

    def processes(self) -> dict[str, int]:
        """All its processes, which hold its lock: what each is, as `1/join_by_n[0]` or `server`, and its id."""
        lock = os.stat(self.root / "home/state/keepers" / NAME / "=holder")
        found = dict(_named(pid) for pid in _holders(lock))
        found.pop("", None)  # who only asks whether it is held
        if executor := found.get("0/executor"):
            found["server"] = parent_of(executor)
        return found

    def find(self, who: str) -> str:
        """The process that such a kind of victim is, in the first container that has one."""
        name = TASKS.get(who, who)
        found = sorted(one for one in self.processes() if one.rpartition("/")[2] == name)
        wanted = [one for one in found if not one.startswith("0/")] or found
        assert wanted, (name, self.processes())
        return wanted[0]

    def look(self, table: str) -> int:
        """Up to which number rows have come to a table, or to the `result`."""
        return self.result.look() if table == "result" else self.tables[table].look()

    @property
    def epoch(self) -> int:
        """The newest that is kept; 0 if none is, or the folder cannot be read now."""
        with suppress(OSError):
            return max(self.store.epochs(), default=0)
        return 0

    def events(self) -> Counter[tuple[str, str]]:
        """What the run has told so far: how often each event, by its kind and text. A new topology master has none of those before it."""
        return Counter({(event.kind, event.text): event.count for event in self.handle.status().events})

    def told_since(self, before: Counter[tuple[str, str]]) -> tuple[str, ...]:
        """The kinds of events that were told since then, in alphabetical order."""
        return tuple(sorted({kind for kind, _ in self.events() - before}))

    def problems(self, status: Status) -> str:
        """What is wrong in tables and result of a topology at rest; empty if nothing is."""
        found = [
            f"{table.wrong:,} rows of {name} are wrong"
            for name, table in self.tables.items()
            if table.look() and table.wrong
        ]
        ends = {source: max(end for _, end in status.ranges[source].values()) for source in ("ticks", "tocks")}
        wanted = {"passed": ends["ticks"], "joined": min(ends.values())} if self.delivery == "at-least-once" else {}
        for name, table in self.tables.items():
            missing = max(0, wanted.get(name, 0) - table.look()) + table.missing
            found += [f"{missing:,} rows of {name} are missing"] if missing else []
        return "; ".join([*found, *(["the result is wrong"] if self.result.differs(ends["tocks"]) else [])])


def send(number: signal.Signals, *pids: int) -> None:
    """Send a signal to processes, of which some may have ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _holders(lock: os.stat_result) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(os.path.samestat(file.stat(), lock) for file in (process / "fd").iterdir()):
                yield int(process.name)


def parent_of(pid: int) -> int:
    """The process that a process is a child of."""
    return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def _named(pid: int) -> tuple[str, int]:
    """What ps shows of a process below the server is `ouzel: NAME · container 1 · WHAT`."""
    with suppress(OSError):
        title = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").rstrip("\0").split(" · ")
        if len(title) == 3:
            return f"{title[1].rpartition(' ')[2]}/{title[2].removeprefix('instance ')}", pid
    return "", pid
