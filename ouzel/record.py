"""The record of a run: what the topology has read, what it holds as the answer, and what happened on the way.

It is the input of a reconciliation: the batch job answers for exactly the offsets that the record names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

Ranges = Mapping[str, Mapping[str, tuple[int, int]]]
"""Table -> partition id -> [first offset read, offset up to which everything is wholly acked)."""

Times = Mapping[str, Mapping[str, int]]
"""Table -> partition id -> event time (us) at the end of its range: no row before that end has a greater value of the watermark."""

RECORD, RESULTS, LATE, LIVE = "record.json", "results.parquet", "late.jsonl", "live.json"

SENT_AGAIN = "rows were sent again, for they had not been wholly acked"
"""Text of the event `replayed` that counts rows; another is of a source that was started again, and counts how often."""


@dataclass(frozen=True)
class RunRecord:
    """One run. Lives in a directory: `record.json`, `results.parquet` (a trailing SELECT's table), `late.jsonl` (rows dropped as late).
    While the run goes on `live.json` says where it takes requests (see reconcile/live.py).

    Attributes:
        query: name of the topology.
        text: the SQL that ran.
        directory: where relative paths of its tables start.
        engine: heron or memory.
        delivery: at-most-once or at-least-once.
        ranges: what each source table's partitions have given.
        closed_us: the watermark up to which windows have closed, BEGINNING_OF_TIME if none has; None when the input ended, and all have.
        events: (kind, text, count) of what the run told its user: late-rows, bad-record, state-lost, replayed.
        settings: the settings given beside the file's own, as (key, value).
        times: how far event time has come at the ends of `ranges`; partitions without event time are left out.
        run: what tells the files of this run from those of others in the same directory; empty if nothing does.
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
    run: str = ""

    def save(self, home: Path) -> None:
        """Write `record.json` into `home`."""
        home.mkdir(0o700, parents=True, exist_ok=True)
        replace_file(home / RECORD, lambda path: path.write_text(json.dumps(asdict(self), indent=2) + "\n"))


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file by way of a temporary name: whoever reads it sees the former or the new one, whole; only its owner may."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.touch(0o600)
    write(fresh)
    os.replace(fresh, path)


def read_record(home: Path) -> RunRecord:
    """The record in `home`.

    Raises:
        FileNotFoundError: there is none.
    """
    data = json.loads((home / RECORD).read_text())
    data["ranges"] = {
        table: {partition: (start, end) for partition, (start, end) in parts.items()}
        for table, parts in data["ranges"].items()
    }
    data["events"] = tuple((kind, text, count) for kind, text, count in data["events"])
    data["settings"] = tuple((key, value) for key, value in data["settings"])
    return RunRecord(**data)
