"""A topology as a small model of queues, for what regulates it: arrivals, service times, keys, slow tasks, servers that are waited for.

It is fluid: in each step a source reads what has come, as far as the slowest task below it lets it. What sensors would read of that
is judged by the real detectors and diagnosers, and what the regulator does changes the model.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np
import numpy.typing as npt

from ouzel.tracker.health.diagnosers import diagnose
from ouzel.tracker.health.readings import ComponentReading, Readings, TaskReading, find_trend
from ouzel.tracker.health.regulator import Regulator
from ouzel.tracker.health.resolvers import Sighting, sight
from ouzel.tracker.health.sensors import LONG_S, SPAN_S, TREND_S, YOUNG_S
from ouzel.tracker.health.treatments import Treatment

STEP_S = 30
UPDATE_S = 30
"""How long a topology stands still while it is rescaled."""

Values = npt.NDArray[np.float64]


@dataclass
class ModelBolt:
    """One bolt.

    Attributes:
        name: its name.
        tasks: how many it has.
        cost_s: how long a row takes in one task.
        cpu: how much of that is CPU time; the rest it waits.
        keys: the weights of the keys by which its rows are spread; empty if each task gets as many.
        server_s: rows a second that a server behind all tasks manages.
        slow: by task, how many times longer a row takes there.
        heals: whether a task that is started again is no longer slow.
    """

    name: str
    tasks: int
    cost_s: float
    cpu: float = 1.0
    keys: tuple[float, ...] = ()
    server_s: float = np.inf
    slow: dict[int, float] = field(default_factory=dict)
    heals: bool = True

    def shares(self, tasks: int) -> Values:
        """Which part of the rows each of so many tasks gets."""
        if not self.keys:
            return np.full(tasks, 1 / tasks)
        places = [zlib.crc32(f"{self.name} {key}".encode()) % tasks for key in range(len(self.keys))]
        return np.bincount(places, self.keys, tasks)

    def costs(self) -> Values:
        """How long a row takes in each task."""
        return self.cost_s * np.array([self.slow.get(task, 1.0) for task in range(self.tasks)])

    def limit_s(self, tasks: int) -> float:
        """Rows a second that so many tasks manage, none of which is slow."""
        return float(min(self.server_s, 1 / (self.cost_s * self.shares(tasks).max())))


@dataclass
class Recent:
    """What one bolt did in the last steps, a row a step."""

    rows_s: deque[Values] = field(default_factory=lambda: deque(maxlen=LONG_S // STEP_S))
    busy: deque[Values] = field(default_factory=lambda: deque(maxlen=LONG_S // STEP_S))
    pressed: deque[Values] = field(default_factory=lambda: deque(maxlen=SPAN_S // STEP_S))


@dataclass
class ModelTopology:
    """A source, and bolts one after the other. `load` is rows a second from a time on, `failures` slow tasks from a time on."""

    bolts: list[ModelBolt]
    load: Mapping[int, float]
    random: Random
    failures: dict[int, tuple[str, int, float]] = field(default_factory=dict)
    now_s: int = 0
    began_s: int = 0
    lag: float = 0.0
    arrival_s: float = 0.0
    lags: deque[float] = field(default_factory=lambda: deque(maxlen=TREND_S // STEP_S))
    reads: deque[float] = field(default_factory=lambda: deque(maxlen=SPAN_S // STEP_S))
    recent: dict[str, Recent] = field(default_factory=dict)

    def find(self, name: str) -> ModelBolt:
        """The bolt of that name."""
        return next(one for one in self.bolts if one.name == name)

    def step(self) -> None:
        """Let STEP_S pass."""
        self.now_s += STEP_S
        self.arrival_s = self.load[max(time_s for time_s in self.load if time_s <= self.now_s)]
        for time_s in [time_s for time_s in self.failures if time_s <= self.now_s]:
            name, task, factor = self.failures.pop(time_s)
            bolt = self.find(name)
            bolt.slow[task % bolt.tasks] = factor
        offered = self.arrival_s * STEP_S * self.random.uniform(0.97, 1.03) + self.lag
        limit = min(self._limit(bolt) for bolt in self.bolts) * STEP_S
        read = min(offered, limit)
        self.lag = offered - read
        self.lags.append(self.lag)
        self.reads.append(read / STEP_S)
        for bolt in self.bolts:
            self._note(bolt, read / STEP_S, is_full=read == limit)

    def _limit(self, bolt: ModelBolt) -> float:
        return float(min(bolt.server_s, (1 / (bolt.costs() * np.maximum(bolt.shares(bolt.tasks), 1e-9))).min()))

    def _note(self, bolt: ModelBolt, read_s: float, *, is_full: bool) -> None:
        recent = self.recent.setdefault(bolt.name, Recent())
        rows_s = read_s * bolt.shares(bolt.tasks)
        used = np.minimum(1.0, rows_s * bolt.costs())
        if is_full and read_s >= 0.999 * bolt.server_s:
            pressed = np.ones(bolt.tasks)  # all of them wait for the server
        else:  # the nearer to full, the more often more waits than may
            pressed = np.clip((used - 0.8) / 0.2, 0, 1) if is_full else np.clip((used - 0.95) / 0.05, 0, 1)
        recent.rows_s.append(rows_s)
        recent.busy.append(used * bolt.cpu)
        recent.pressed.append(pressed * np.array([self.random.uniform(0.8, 1.0) for _ in range(bolt.tasks)]))

    def readings(self) -> Readings:
        """What the sensors would read now."""
        known_s = self.now_s - self.began_s
        source = ComponentReading("source", (), (TaskReading(0, float(np.mean(self.reads or [0.0])), 0.3, 0.5, 0.0),))
        parts, before = [source], "source"
        for bolt in self.bolts:
            parts.append(ComponentReading(bolt.name, (before,), tuple(self._tasks(bolt, known_s))))
            before = bolt.name
        return Readings("model", tuple(parts), lag=find_trend(np.array(self.lags), STEP_S), known_s=known_s)

    def _tasks(self, bolt: ModelBolt, known_s: int) -> Iterator[TaskReading]:
        recent = self.recent.get(bolt.name)
        if known_s < YOUNG_S or recent is None:
            yield from (TaskReading(task) for task in range(bolt.tasks))
            return
        span = min(len(recent.rows_s), SPAN_S // STEP_S)
        rows_s, busy = (np.mean(list(kept)[-span:], axis=0) for kept in (recent.rows_s, recent.busy))
        long = np.mean(recent.busy, axis=0) if known_s >= LONG_S else None
        pressed = np.mean(recent.pressed, axis=0)
        for task in range(bolt.tasks):
            of_long = None if long is None else float(long[task])
            yield TaskReading(task, float(rows_s[task]), float(busy[task]), of_long, float(pressed[task]))

    def see(self) -> Sighting | None:
        """What a regulator sees."""
        readings = self.readings()
        return sight(readings, tuple(diagnose(readings))) if readings.known_s >= YOUNG_S else None

    def carry_out(self, treatment: Treatment) -> None:
        """What a command would do."""
        bolt = self.find(treatment.component)
        if treatment.is_restart:
            task = int(treatment.place.rpartition("[")[2].rstrip("]"))
            if bolt.heals:
                bolt.slow.pop(task, None)
            return
        bolt.tasks = treatment.tasks
        bolt.slow = {task: factor for task, factor in bolt.slow.items() if not bolt.heals and task < bolt.tasks}
        self.lag += self.arrival_s * UPDATE_S
        self.now_s += UPDATE_S // STEP_S * STEP_S
        self.began_s = self.now_s
        self.recent.clear()
        self.lags.clear()
        self.reads.clear()


def regulate(model: ModelTopology, regulator: Regulator, until_s: int) -> list[Treatment]:
    """Let time pass, and have it regulated; what was done."""
    while model.now_s < until_s:
        model.step()
        treatment = regulator.look(model.see(), model.now_s)
        if treatment is not None:
            model.carry_out(treatment)
            regulator.on_carried_out(model.now_s)
    return regulator.memory.treatments
