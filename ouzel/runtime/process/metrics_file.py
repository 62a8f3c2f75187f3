"""The history of a container's metrics, as files that outlive every process: the metrics manager writes them, whoever wants reads them.

`metrics-N.jsonl` in the container's directory, a line a sample (see observe/task_metrics.py). A file that is full, or as old as history
is to be, is followed by the next; the file before it stays, and those before are removed. So what is kept is bounded, and the whole of
the last HISTORY_S is there unless more than FILE_BYTES came in that time. Of a file that is removed a few samples go to `thinned-N.jsonl`,
which is kept in the same way for THINNED_HISTORY_S. A line that a killed process left half is skipped.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ouzel.runtime.observe.line_files import list_line_files, parse_lines, read_whole_lines
from ouzel.runtime.observe.task_metrics import MetricsSample

HISTORY_S = 3 * 3600
"""For how long samples are kept at least, where there is room."""

FILE_BYTES = 8 << 20
"""A file of this size is followed by another; two are kept."""

THINNED_HISTORY_S = 7 * 86_400
THINNED_BYTES = 4 << 20
THINNED_S = 1_800
"""Of what is older than that, one sample of each THINNED_S is kept, for so long and in files of that size."""

SAMPLE_S = 10
"""Seconds between two samples of an instance, in a container of at most SAMPLED_AT_ONCE instances; with more of them, longer."""

SAMPLED_AT_ONCE = 20

METRICS, THINNED = "metrics", "thinned"
"""How names of files begin."""


def sample_interval_s(instances: int) -> int:
    """Seconds between two samples of each of so many instances: never more than a minute, for series have a point a minute."""
    return min(60, SAMPLE_S * -(-max(1, instances) // SAMPLED_AT_ONCE))


class MetricsWriter:
    """Writes the samples of one container."""

    def __init__(self, folder: Path, file_bytes: int = FILE_BYTES) -> None:
        self._fine = _RotatedFiles(folder, METRICS, file_bytes, HISTORY_S)
        self._thinned = _RotatedFiles(folder, THINNED, THINNED_BYTES, THINNED_HISTORY_S)

    def write(self, samples: Iterable[MetricsSample], now_s: int) -> None:
        """Keep samples.

        Raises:
            OSError: there is no room for them.
        """
        for path in self._fine.list_outdated(now_s):
            with contextlib.suppress(
                OSError
            ):  # where there is no room, what is thinned is lost, and the file makes room
                self._keep_thinned(path)
            path.unlink(missing_ok=True)
        self._fine.append(samples, now_s)

    def _keep_thinned(self, path: Path) -> None:
        samples = thin_samples(read_samples(path))
        for outdated in self._thinned.list_outdated(samples[-1].time_s) if samples else ():
            outdated.unlink(missing_ok=True)
        self._thinned.append(samples, samples[-1].time_s if samples else 0)


def thin_samples(samples: Iterable[MetricsSample]) -> list[MetricsSample]:
    """The last sample of each life of an instance in each THINNED_S, in the order of time."""
    kept = {(one.component, one.instance, one.life, one.time_s // THINNED_S): one for one in samples}
    return sorted(kept.values(), key=lambda one: one.time_s)


class _RotatedFiles:
    """Files of one kind: one that is full, or began long ago, is followed by another."""

    def __init__(self, folder: Path, kind: str, file_bytes: int, lasts_s: int) -> None:
        self._folder, self._kind, self._file_bytes, self._lasts_s = folder, kind, file_bytes, lasts_s
        self._began_s: int | None = None
        self._start = b"\n"  # ends a line that a killed process, or a full disk, has left half

    def list_outdated(self, now_s: int) -> list[Path]:
        """What is to be removed before the next samples are written."""
        files = metrics_files(self._folder, self._kind)
        return [path for _, path in files[:-1]] if self._is_over(files, now_s) else []

    def append(self, samples: Iterable[MetricsSample], now_s: int) -> None:
        """Write samples into the newest file, or into the next one.

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
        files = metrics_files(self._folder, self._kind)
        if files and not self._is_over(files, now_s):
            return files[-1][1]
        self._began_s = now_s
        number = files[-1][0] + 1 if files else 0
        return self._folder / f"{self._kind}-{number}.jsonl"

    def _is_over(self, files: list[tuple[int, Path]], now_s: int) -> bool:
        """Whether the newest file takes no more."""
        if not files:
            return False
        newest = files[-1][1]
        if self._began_s is None:
            self._began_s = next((sample.time_s for sample in read_samples(newest)), now_s)
        return newest.stat().st_size >= self._file_bytes or now_s - self._began_s >= self._lasts_s


def metrics_files(folder: Path, kind: str = METRICS) -> list[tuple[int, Path]]:
    """The files of a container with their numbers, oldest first. History is whole if the first is 0."""
    return list_line_files(folder, kind)


class MetricsReader:
    """Reads the history of one container, and then what comes to it; or the thinned one of the time before.

    `skipped` says of each file that is there how many of its lines were no samples.
    """

    def __init__(self, folder: Path, kind: str = METRICS) -> None:
        self.folder, self._kind = folder, kind
        self._read: dict[int, int] = {}
        self.skipped: dict[Path, int] = {}
        self.is_whole = True

    def read(self) -> Iterator[MetricsSample]:
        """The samples that have come since the last call, in order. `is_whole` says whether these began with the first there ever was."""
        files = metrics_files(self.folder, self._kind)
        if files and not self._read:
            self.is_whole = files[0][0] == 0
        for number, path in files:
            if not self._read or number >= max(self._read):
                yield from self._read_file(number, path)
        for number in self._read.keys() - {number for number, _ in files}:
            del self._read[number]
        self.skipped = {path: count for path, count in self.skipped.items() if path in {path for _, path in files}}

    def _read_file(self, number: int, path: Path) -> Iterator[MetricsSample]:
        offset = self._read.get(number, 0)
        whole = read_whole_lines(path, offset)
        if whole is not None:
            self._read[number] = offset + len(whole)
            yield from parse_lines(whole, _of_fields, partial(self._on_skipped, path))

    def _on_skipped(self, path: Path) -> None:
        self.skipped[path] = self.skipped.get(path, 0) + 1


def read_samples(path: Path) -> Iterator[MetricsSample]:
    """The samples of one file."""
    yield from parse_lines(path.read_bytes(), _of_fields)


def _of_fields(fields: dict[str, Any]) -> MetricsSample:
    sample = MetricsSample(**{**fields, "carries": frozenset(fields["carries"])})
    numbers, places = (*sample.counts.values(), *sample.values.values()), (sample.time_s, sample.instance, sample.life)
    if {*map(type, numbers)} - {int, float} or {*map(type, places)} != {int} or type(sample.component) is not str:
        raise TypeError("a field is of another type")
    return sample


def _to_line(sample: MetricsSample) -> bytes:
    fields: dict[str, Any] = {**vars(sample), "carries": sorted(sample.carries)}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
