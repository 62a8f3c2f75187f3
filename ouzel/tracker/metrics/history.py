"""The metrics of one run, from what its metrics managers have written: of three hours all, of seven days some; and series of them.

Counts are those of each minute, as in Heron: what came between the last sample of the minute before and the last of this one. Where no
sample came for some minutes, the next minute that has one has all that came since. A process that is started again counts from 0 (or, of
counts that are carried, from where the one before had ended); a count that has gone back, because all tasks went back to an epoch, adds 0.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np

from ouzel.runtime.observe.task_metrics import COMPLETE_COUNT, COMPLETE_TIME, CPU_TIME, MetricsSample
from ouzel.runtime.process.metrics_file import HISTORY_S, THINNED, THINNED_HISTORY_S, THINNED_S, MetricsReader
from ouzel.tracker import words
from ouzel.tracker.metrics.grids import Grid, last_on, rates_on
from ouzel.tracker.metrics.series import Minutes, MinuteValues, Series, last_in_minute

EXECUTE_COUNT = "__execute-count/default"
RESTARTS = "__restarts"
"""A count of how often an instance's process was another one than before."""

EXECUTE_LATENCY, COMPLETE_LATENCY, CAPACITY = "__execute-latency/default", "__complete-latency/default", "__capacity"

QUOTIENTS: Mapping[str, tuple[str, str | None, float]] = {
    EXECUTE_LATENCY: (CPU_TIME, EXECUTE_COUNT, 1.0),
    COMPLETE_LATENCY: (COMPLETE_TIME, COMPLETE_COUNT, 1e3),
    CAPACITY: (CPU_TIME, None, 1e-9),
}
"""Metrics that are what came of one count, for each of another or for each second, times a factor: nanoseconds
a row, as in Heron, and cores."""

NO_VALUES = array("d")

InstanceKey = tuple[str, int]
"""Component and task; of stream managers the container."""


@dataclass
class _Track:
    """What one instance has said, a place a sample; `is_whole` if it is all since the first that there ever was; before `thinned_s` it is
    thinned. Columns are arrays, which NumPy takes as they are."""

    times: array[int] = field(default_factory=lambda: array("q"))
    counts: dict[str, array[float]] = field(default_factory=dict)
    values: dict[str, array[float]] = field(default_factory=dict)
    last: MetricsSample | None = None
    source: Path | None = None
    is_whole: bool = True
    thinned_s: int = 0


class History:
    """All samples of one run. Counts are kept as what has come since the first sample, over all lives of an instance.

    Threads share it: each method looks at whole samples. `problems` says of each file that cannot be read why, as a sentence. `set_back`
    says to which time the clock was set back last, and by how many seconds.
    """

    def __init__(self) -> None:
        self.problems: tuple[str, ...] = ()
        self.set_back: tuple[int, int] | None = None
        self._tracks: dict[InstanceKey, _Track] = {}
        self._lock = Lock()

    def add(self, samples: Iterable[MetricsSample], *, is_whole: bool = True, source: Path | None = None) -> None:
        """Take in samples; `is_whole` says whether the first of an instance is the first that there ever was.

        The samples of one `source` come in the order in which they were made: where their time goes back the clock was set back, and what
        had come of the time from there on is left out, so that there is one sample for each time. Of another source they are too late.
        """
        with self._lock:
            for sample in samples:
                track = self._tracks.setdefault((sample.component, sample.instance), _Track(is_whole=is_whole))
                back_s = track.times[-1] - sample.time_s if track.times else 0
                if back_s <= 0 or (source is not None and source == track.source):
                    _append(track, sample)
                    track.source = source
                if back_s > 0 and track.last is sample:
                    self.set_back = sample.time_s, back_s
                    _leave_out(track, bisect_left(track.times, sample.time_s, hi=len(track.times) - 1))

    def forget_before(self, time_s: int) -> None:
        """Let go of what is older, but for the last sample before it, from which counts go on."""
        with self._lock:
            for track in self._tracks.values():
                old = bisect_left(track.times, time_s) - 1
                if old > 0:
                    track.is_whole = False
                    del track.times[:old]
                    for column in (*track.counts.values(), *track.values.values()):
                        del column[:old]

    def thin_before(self, time_s: int) -> None:
        """Keep of what is older only the last sample of each THINNED_S, as on disk."""
        with self._lock:
            for track in self._tracks.values():
                _thin(track, time_s // THINNED_S * THINNED_S)

    @property
    def instances(self) -> list[InstanceKey]:
        """All that have said anything, in order."""
        with self._lock:
            return sorted(self._tracks)

    def metrics_of(self, component: str) -> list[str]:
        """The names of all metrics of a component, sorted."""
        with self._lock:
            tracks = [track for (name, _), track in self._tracks.items() if name == component]
            named = {name for track in tracks for name in (*track.counts, *track.values)}
        return sorted(named | {name for name, (count, _, _) in QUOTIENTS.items() if count in named})

    def values_of(self, key: InstanceKey) -> frozenset[str]:
        """The names of all values of an instance."""
        with self._lock:
            return frozenset(self._tracks[key].values if key in self._tracks else ())

    def series(
        self,
        component: str,
        instances: Iterable[int] | None,
        metric: str,
        minutes: Minutes,
        name: Callable[[InstanceKey], str],
    ) -> Series:
        """One metric of a component, of these instances or all (None): of one that has nothing to say of it a row without values.

        So a query meets the same instances in each of its series, as in Heron.
        """
        wanted = None if instances is None else set(instances)
        rows, names = [], []
        for key in self.instances:
            if key[0] == component and (wanted is None or key[1] in wanted):
                with self._lock:
                    row = _minutely(self._tracks[key], metric, minutes)
                rows.append(row)
                names.append(name(key))
        return Series(tuple(names), np.array(rows).reshape(len(rows), minutes.count))

    def over(self, key: InstanceKey, metric: str, since_s: int) -> float | None:
        """One metric of an instance over the time since then; None if nothing has come since."""
        with self._lock:
            track = self._tracks.get(key)
            return None if track is None else _over(track, metric, since_s)

    def values_at(self, key: InstanceKey, metric: str, times_s: Iterable[int]) -> list[float | None]:
        """What a value of an instance was at each of these times; before it was first told, what was told first; None if it never was."""
        with self._lock:
            track = self._tracks.get(key)
            return [None if track is None else _value_at(track, metric, time_s) for time_s in times_s]

    def rates_on(self, key: InstanceKey, metric: str, grid: Grid) -> MinuteValues:
        """What came of a count in a second, in each step of a grid."""
        with self._lock:
            track = self._tracks.get(key)
            return (
                rates_on(track.times, track.counts[metric], grid) if track and metric in track.counts else grid.nothing
            )

    def values_on(self, key: InstanceKey, metric: str, grid: Grid) -> MinuteValues:
        """What a value last was in each step of a grid."""
        with self._lock:
            track = self._tracks.get(key)
            return (
                last_on(track.times, track.values[metric], grid) if track and metric in track.values else grid.nothing
            )

    @property
    def began_s(self) -> int | None:
        """The time of the first sample; None if there is none."""
        with self._lock:
            return min((track.times[0] for track in self._tracks.values() if track.times), default=None)

    def rate(self, key: InstanceKey, metric: str, since_s: int) -> float | None:
        """What came of a count in a second, over the time since then; None if nothing has come since."""
        with self._lock:
            track = self._tracks.get(key)
            came, seconds = (None, 0.0) if track is None else _growth(track, metric, since_s)
        return came / seconds if came is not None and seconds else None


def _over(track: _Track, metric: str, since_s: int) -> float | None:
    if metric in QUOTIENTS:
        count, of, factor = QUOTIENTS[metric]
        if of is None:
            came, per = _growth(track, count, since_s)
        else:
            came, per = _count_over(track, count, since_s), _count_over(track, of, since_s) or 0.0
        return came / per * factor if came is not None and per else None
    if metric in track.counts:
        return _count_over(track, metric, since_s)
    known = track.values.get(metric, NO_VALUES)[bisect_left(track.times, since_s) :]
    return next((value for value in reversed(known) if not math.isnan(value)), None)


def _value_at(track: _Track, metric: str, time_s: int) -> float | None:
    known = track.values.get(metric, NO_VALUES)
    place = bisect_right(track.times, time_s)
    until, after = (known[at] for at in range(place - 1, -1, -1)), (known[at] for at in range(place, len(known)))
    return next((value for value in chain(until, after) if not math.isnan(value)), None) if known else None


def _count_over(track: _Track, metric: str, since_s: int) -> float | None:
    """What has come of a count since then, or since there is an instance."""
    is_all = track.is_whole and bool(track.times) and since_s < track.times[0]
    return track.counts[metric][-1] if is_all and metric in track.counts else _growth(track, metric, since_s)[0]


def _minutely(track: _Track, metric: str, minutes: Minutes) -> MinuteValues:
    if metric in QUOTIENTS:
        count, of, factor = QUOTIENTS[metric]
        came = _minutely(track, count, minutes)
        per = np.full(minutes.count, 60.0) if of is None else _minutely(track, of, minutes)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(per == 0, np.nan, came / per * factor)
    if metric in track.counts:
        return _counts_by_minute(track, metric, minutes)
    return last_in_minute(track.times, track.values.get(metric, _unknown(len(track.times))), minutes)


def _append(track: _Track, sample: MetricsSample) -> None:
    before, known = track.last, len(track.times)
    restarts = track.counts.setdefault(RESTARTS, array("d"))
    restarts.append((restarts[-1] if restarts else 0.0) + (before is not None and sample.life != before.life))
    for name in (track.counts.keys() | sample.counts.keys()) - {RESTARTS}:
        column = track.counts.setdefault(name, array("d", bytes(8 * known)))
        count = sample.counts.get(name, 0)
        if before is None:
            column.append(float(count) if track.is_whole else 0.0)
            continue
        goes_on = sample.life == before.life or name in sample.carries
        column.append(column[-1] + max(0, count - (before.counts.get(name, 0) if goes_on else 0)))
    for name in track.values.keys() | sample.values.keys():
        track.values.setdefault(name, _unknown(known)).append(float(sample.values.get(name, np.nan)))
    track.times.append(sample.time_s)
    track.last = sample


def _unknown(count: int) -> array[float]:
    return array("d", [math.nan]) * count


def _leave_out(track: _Track, begin: int) -> None:
    """Leave out all samples from a place on but the last one."""
    del track.times[begin:-1]
    for column in (*track.counts.values(), *track.values.values()):
        del column[begin:-1]


def _thin(track: _Track, until_s: int) -> None:
    if until_s <= track.thinned_s:
        return
    times = track.times
    begin, end = bisect_left(times, track.thinned_s), bisect_left(times, until_s)
    kept = [
        place
        for place in range(begin, end)
        if place + 1 == len(times) or times[place] // THINNED_S != times[place + 1] // THINNED_S
    ]
    for column in (*track.counts.values(), *track.values.values()):
        column[begin:end] = array("d", [column[place] for place in kept])
    times[begin:end] = array("q", [times[place] for place in kept])
    track.thinned_s = until_s


def _growth(track: _Track, metric: str, since_s: int) -> tuple[float | None, float]:
    """What has come of a count since the last sample of before then, and in how many seconds; None if no sample has come since."""
    if len(track.times) < 2 or metric not in track.counts or since_s >= track.times[-1]:
        return None, 0.0
    column, place = track.counts[metric], max(0, bisect_right(track.times, since_s) - 1)
    return column[-1] - column[place], float(track.times[-1] - track.times[place])


def _counts_by_minute(track: _Track, metric: str, minutes: Minutes) -> MinuteValues:
    """What came in each minute: the difference of the last samples of this minute and of the one before that has one."""
    totals = last_in_minute(track.times, track.counts[metric], minutes)
    before = bisect_left(track.times, minutes.first) - 1
    known = track.counts[metric][before] if before >= 0 else (0.0 if track.is_whole else np.nan)
    found = np.full(minutes.count, np.nan)
    for place in np.flatnonzero(~np.isnan(totals)):
        found[place] = totals[place] - known
        known = totals[place]
    return found


class RunHistory:
    """The history of a run on this machine: reads what has come whenever it is asked."""

    def __init__(self, home: Path, containers: Iterable[int]) -> None:
        folders = [home / f"container-{container}" for container in containers]
        self._readers = [MetricsReader(folder) for folder in folders]
        self._thinned = [MetricsReader(folder, THINNED) for folder in folders]
        self._skipped: dict[Path, int] = {}
        self.history = History()

    def read(self, now_s: int) -> History:
        """The history up to now."""
        problems: list[str] = []
        for reader in [*self._thinned, *self._readers]:
            try:
                samples = list(reader.read())
            except OSError as error:
                problems.append(
                    f"metrics cannot be read in {error.filename}: {error.strerror}; figures are without them"
                )
                continue
            self.history.add(samples, is_whole=reader.is_whole, source=reader.folder)
        problems += _set_back_text(self.history.set_back, now_s)
        self._skipped |= {path: count for reader in self._thinned for path, count in reader.skipped.items()}
        skipped = {**self._skipped, **{path: n for reader in self._readers for path, n in reader.skipped.items()}}
        self.history.problems = (*problems, *(_skipped_text(path, count) for path, count in skipped.items()))
        self._thinned.clear()  # what is thinned later is known
        self.history.thin_before(now_s - HISTORY_S - 60)
        self.history.forget_before(now_s - THINNED_HISTORY_S)
        return self.history


def _skipped_text(path: Path, count: int) -> str:
    lines = "one line" if count == 1 else f"{count:,} lines"
    return (
        f"{lines} of {path} cannot be read: damaged, or left half by a process that was killed; figures are without what "
        f"{'it' if count == 1 else 'they'} said"
    )


def _set_back_text(set_back: tuple[int, int] | None, now_s: int) -> list[str]:
    """That the clock was set back, for as long as all samples are kept."""
    if set_back is None or now_s - set_back[0] > HISTORY_S:
        return []
    time_s, back_s = set_back
    return [
        f"the clock of the machine was set back by {words.duration_text(back_s)}, to {words.time_text(time_s * 1_000_000)}: figures are "
        "without what had been recorded under later times"
    ]
