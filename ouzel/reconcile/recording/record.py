"""The record of a run: what the topology has read, what it holds as the answer, and what happened on the way.

It is the input of a reconciliation: the batch job answers for exactly the offsets that the record names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ouzel.files import name_synced, sync
from ouzel.spark.io.bounds import Ranges

Times = Mapping[str, Mapping[str, int]]
"""Table -> partition id -> event time (us) at the end of its range: no row before that end has a greater value of the watermark."""

RECORD, RESULTS, LATE, SHED, LIVE = "record.json", "results.parquet", "late.jsonl", "shed.jsonl", "live.json"

DROPPED_LINES = "dropped.jsonl"
"""What tasks with epochs have written of late rows, and taken back when all went back; LATE is made of it."""

SENT_AGAIN = "rows were sent again, for they had not been wholly acked"
"""Text of the event `replayed` that counts rows; another is of a source that was started again, and counts how often."""


@dataclass(frozen=True)
class Loss:
    """What a run may have lost at one moment: the state of a task, or rows that were on their way at most once.

    Attributes:
        component: whose state it was; empty for rows that were on their way.
        task: which of the component's tasks, from 0.
        tasks: how many it has.
        since_us: all windows up to this time were in the result by then; None if that is not known.
        until_us: no row that had been read by then moves a watermark any further; None if that is not known.
    """

    component: str = ""
    task: int = 0
    tasks: int = 1
    since_us: int | None = None
    until_us: int | None = None


@dataclass(frozen=True)
class Mark:
    """What a file was: its size in bytes, and the hash of each block of so many bytes (see reconcile/recording/marks.py)."""

    size: int
    block: int
    hashes: tuple[str, ...]


Marks = Mapping[str, Mark]
"""Path of a file -> what it was."""


@dataclass(frozen=True)
class RunRecord:
    """One run. Lives in a directory: `record.json`, `results.parquet` (a trailing SELECT's table), `late.jsonl` (rows dropped as late),
    `shed.jsonl` (offsets of records that were shed).
    While the run goes on `live.json` says where it takes requests (see reconcile/recording/live.py).

    Attributes:
        query: name of the topology.
        text: the SQL that ran.
        directory: where relative paths of its tables start.
        engine: heron or memory.
        delivery: at-most-once or at-least-once.
        ranges: the offsets read of each source table's partitions.
        closed_us: the watermark up to which windows have closed, BEGINNING_OF_TIME if none has; None when the input ended, and all have.
        events: (kind, text, count) of the run's messages to its user: late-rows, bad-record, state-lost, rows-lost, replayed.
        settings: the settings given beside the file's own, as (key, value).
        times: how far event time has come at the ends of `ranges`; partitions without event time are left out.
        began: where this run continued another: table -> the watermark up to which that one had closed the windows.
        run: the id in the names of this run's files; empty if there is none.
        losses: what may have been lost, and when.
        sources: the files that were read.
        topics: the ids of the topics of Kafka that were read: table -> topic -> id.
        sides: what the tables held that every task read whole for itself: table -> part -> digest.
        answer: the files that hold the answer: RESULTS, and the parts of tables, each by its absolute path.
        evidence: LATE and SHED as the run left them; None in a record that does not say.
        late: how many rows were dropped as late; None if the record does not say.
        shed: how many records were passed over; the same.
        seed: the hash seed, which says which task had which keys; 0 if no task has lost state, for then nobody need know.
    """

    query: str
    text: str
    directory: str
    engine: str
    delivery: str
    ranges: Ranges
    closed_us: int | None = None
    events: tuple[tuple[str, str, int], ...] = ()
    settings: tuple[tuple[str, str], ...] = field(default=())
    times: Times = field(default_factory=dict)
    began: Mapping[str, int] = field(default_factory=dict)
    run: str = ""
    losses: tuple[Loss, ...] = ()
    seed: int = 0
    sources: Marks = field(default_factory=dict)
    topics: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    answer: Marks = field(default_factory=dict)
    sides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    evidence: Marks | None = None
    late: int | None = None
    shed: int | None = None

    def save(self, home: Path) -> None:
        """Write `record.json` into `home`."""
        home.mkdir(0o700, parents=True, exist_ok=True)
        replace_file(home / RECORD, lambda path: path.write_text(json.dumps(asdict(self), indent=2) + "\n"))


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Replace a file atomically, through a temporary name; only its owner may read it."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.touch(0o600)
    write(fresh)
    sync(fresh)
    name_synced(fresh, path)


def read_record(home: Path) -> RunRecord:
    """The record in `home`.

    Raises:
        FileNotFoundError: there is none.
        ValueError: what is there is no record, or one of another version.
    """
    try:
        return _read(json.loads((home / RECORD).read_text()))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from error


def _read(data: dict[str, Any]) -> RunRecord:
    data["ranges"] = {
        table: {partition: (start, end) for partition, (start, end) in parts.items()}
        for table, parts in data["ranges"].items()
    }
    data["events"] = tuple((kind, text, count) for kind, text, count in data["events"])
    data["losses"] = tuple(Loss(**loss) for loss in data["losses"])
    for files in ("sources", "answer", "evidence"):
        if data.get(files) is not None:
            data[files] = {path: _mark(mark) for path, mark in data[files].items()}
    data["settings"] = tuple((key, value) for key, value in data["settings"])
    return RunRecord(**data)


def _mark(data: dict[str, Any]) -> Mark:
    return Mark(data["size"], data["block"], tuple(data["hashes"]))
