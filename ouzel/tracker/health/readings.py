"""What the health of a topology is judged by: numbers of the last minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ouzel.tracker.metrics.grids import GridValues

POINTS_MIN = 6
"""A trend needs so many points."""


@dataclass(frozen=True)
class Trend:
    """How a value went over a span: the means of its thirds, and what came a second, by least squares."""

    thirds: tuple[float, float, float]
    slope_s: float
    span_s: float

    @property
    def grew(self) -> float:
        """By how much the last third is above the first."""
        return self.thirds[2] - self.thirds[0]

    @property
    def rises(self) -> bool:
        """Whether each third is above the one before."""
        return self.thirds[0] < self.thirds[1] < self.thirds[2]


def find_trend(values: GridValues, step_s: float) -> Trend | None:
    """The trend of values that are `step_s` apart; None if too few are known."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < POINTS_MIN:
        return None
    times = (known - known[0]) * step_s
    slope = float(np.polyfit(times, values[known], 1)[0])
    first, middle, last = (float(part.mean()) for part in np.array_split(values[known], 3))
    return Trend((first, middle, last), slope, float(times[-1]))


@dataclass(frozen=True)
class TaskReading:
    """What one task did in the last minutes; None where nothing is known.

    Attributes:
        index: its place in its component.
        rows_s: rows a second that it read or received.
        cores: CPU time a second.
        cores_long: the same over LONG_S.
        pressed: the share of the time in which too much waited for it.
    """

    index: int
    rows_s: float | None = None
    cores: float | None = None
    cores_long: float | None = None
    pressed: float | None = None


@dataclass(frozen=True)
class ComponentReading:
    """One component: what feeds it, and its tasks in order."""

    name: str
    inputs: tuple[str, ...]
    tasks: tuple[TaskReading, ...]

    @property
    def is_spout(self) -> bool:
        """Whether it reads a source."""
        return not self.inputs


@dataclass(frozen=True)
class Readings:
    """All of it.

    Attributes:
        topology: its name.
        components: each after those that feed it.
        lag: records that wait in the sources; None if that is not known.
        waiting: bytes that wait to be sent, by container.
        memory: resident bytes, by container, over a longer span.
        slow_links: by sending and receiving container, the share of the time in which too much waited for the connection.
        state: bytes in the newest epoch, by component.
        epoch_interval_s: how often it is to make an epoch; 0 if it makes none.
        epoch_age_s: since the last complete epoch, or since the start if there is none.
        silence_s: for how long its topology master has said nothing; None if nobody has listened.
        known_s: for how long its metrics are known.
    """

    topology: str
    components: tuple[ComponentReading, ...]
    lag: Trend | None = None
    waiting: Mapping[int, Trend] = field(default_factory=dict)
    memory: Mapping[int, Trend] = field(default_factory=dict)
    slow_links: Mapping[tuple[int, int], float] = field(default_factory=dict)
    state: Mapping[str, int] = field(default_factory=dict)
    epoch_interval_s: float = 0.0
    epoch_age_s: float = 0.0
    silence_s: float | None = None
    known_s: float = 0.0

    def find(self, name: str) -> ComponentReading:
        """The component of that name."""
        return next(one for one in self.components if one.name == name)

    def below(self, name: str) -> set[str]:
        """All components that rows of this one come to."""
        found: set[str] = set()
        for one in self.components:
            if found.union({name}) & set(one.inputs):
                found.add(one.name)
        return found
