"""The history of a container's metrics, as files that outlive every process: the metrics manager writes them, whoever wants reads them.

`metrics-N.jsonl` in the container's directory, a line a sample (see observe/task_metrics.py). A file that is full, or as old as history
is to be, is followed by the next; the file before it stays, and those before are removed. So what is kept is bounded, and the whole of
the last HISTORY_S is there unless more than FILE_BYTES came in that time. A line that a killed process left half is skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ouzel.runtime.observe.task_metrics import MetricsSample

HISTORY_S = 3 * 3600
"""For how long samples are kept at least, where there is room."""

FILE_BYTES = 8 << 20
"""A file of this size is followed by another; two are kept."""

SAMPLE_S = 10
"""Seconds between two samples of an instance, in a container of at most SAMPLED_AT_ONCE instances; with more of them, longer."""

SAMPLED_AT_ONCE = 20

_NAME = re.compile(r"metrics-(\d+)\.jsonl")


def sample_interval_s(instances: int) -> int:
    """Seconds between two samples of each of so many instances: never more than a minute, for series have a point a minute."""
    return min(60, SAMPLE_S * -(-max(1, instances) // SAMPLED_AT_ONCE))


class MetricsWriter:
    """Writes the samples of one container."""

    def __init__(self, folder: Path, file_bytes: int = FILE_BYTES) -> None:
        self._folder, self._file_bytes = folder, file_bytes
        self._began_s: int | None = None
        self._start = b"\n"  # ends a line that a killed process, or a full disk, has left half

    def write(self, samples: Iterable[MetricsSample], now_s: int) -> None:
        """Keep samples.

        Raises:
            OSError: there is no room for them.
        """
        text = b"".join(_to_line(sample) for sample in samples)
        if not text:
            return
        text, self._start = self._start + text, b"\n"
        with self._choose_file(now_s).open("ab") as file:
            file.write(text)
        self._start = b""

    def _choose_file(self, now_s: int) -> Path:
        """The file to write to now."""
        files = metrics_files(self._folder)
        if not files:
            self._began_s = now_s
            return self._folder / "metrics-0.jsonl"
        number, newest = files[-1]
        if self._began_s is None:
            self._began_s = next((sample.time_s for sample in read_samples(newest)), now_s)
        if newest.stat().st_size < self._file_bytes and now_s - self._began_s < HISTORY_S:
            return newest
        for _, path in files[:-1]:
            path.unlink(missing_ok=True)
        self._began_s = now_s
        return self._folder / f"metrics-{number + 1}.jsonl"


def metrics_files(folder: Path) -> list[tuple[int, Path]]:
    """The files of a container with their numbers, oldest first. History is whole if the first is 0."""
    found = [(int(name[1]), path) for path in folder.glob("metrics-*.jsonl") if (name := _NAME.fullmatch(path.name))]
    return sorted(found)


class MetricsReader:
    """Reads the history of one container, and then what comes to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[int, int] = {}
        self.is_whole = True

    def read(self) -> Iterator[MetricsSample]:
        """The samples that have come since the last call, in order. `is_whole` says whether these began with the first there ever was."""
        files = metrics_files(self._folder)
        if files and not self._read:
            self.is_whole = files[0][0] == 0
        for number, path in files:
            if not self._read or number >= max(self._read):
                yield from self._read_file(number, path)
        for number in self._read.keys() - {number for number, _ in files}:
            del self._read[number]

    def _read_file(self, number: int, path: Path) -> Iterator[MetricsSample]:
        offset = self._read.get(number, 0)
        try:
            with path.open("rb") as file:
                file.seek(offset)
                text = file.read()
        except FileNotFoundError:
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._read[number] = offset + len(whole)
        yield from _parse(whole)


def read_samples(path: Path) -> Iterator[MetricsSample]:
    """The samples of one file."""
    yield from _parse(path.read_bytes())


def _parse(text: bytes) -> Iterator[MetricsSample]:
    for line in text.splitlines():
        try:
            fields = json.loads(line)
            yield MetricsSample(**{**fields, "carries": frozenset(fields["carries"])})
        except (ValueError, TypeError, KeyError):
            continue


def _to_line(sample: MetricsSample) -> bytes:
    fields: dict[str, Any] = {**asdict(sample), "carries": sorted(sample.carries)}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
