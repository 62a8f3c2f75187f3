"""A topology as a small model of queues, for what regulates it: arrivals, service times, keys, slow tasks, servers that are waited for.

It is fluid: in each step a source reads what has come, as far as the slowest task below it lets it. What sensors would read of that
is judged by the real detectors and diagnosers, and what the regulator does changes the model.
"""

from __future__ import annotations

import math
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

import numpy as np

from ouzel.tracker.health.diagnosers import diagnose
from ouzel.tracker.health.readings import ComponentReading, Readings, TaskReading, find_trend
from ouzel.tracker.health.regulator import Regulator
from ouzel.tracker.health.resolvers import Sighting, sight
from ouzel.tracker.health.sensors import LONG_S, SPAN_S, TREND_S, YOUNG_S
from ouzel.tracker.health.treatments import Treatment

STEP_S = 60
UPDATE_S = 60
"""How long a topology stands still while it is rescaled."""


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
    server_s: float = math.inf
    slow: dict[int, float] = field(default_factory=dict)
    heals: bool = True

    def shares(self, tasks: int) -> tuple[float, ...]:
        """Which part of the rows each of so many tasks gets."""
        return spread(self.name, self.keys, tasks)

    def limits(self) -> list[float]:
        """Rows a second of the whole bolt at which each task is full."""
        costs = (self.cost_s * self.slow.get(task, 1.0) for task in range(self.tasks))
        return [1 / (cost * max(share, 1e-9)) for cost, share in zip(costs, self.shares(self.tasks), strict=True)]

    @property
    def limit_s(self) -> float:
        """Rows a second that it manages as it is."""
        return min(self.server_s, *self.limits())


@cache
def spread(name: str, keys: tuple[float, ...], tasks: int) -> tuple[float, ...]:
    """Which part of the rows each of so many tasks gets."""
    if not keys:
        return (1 / tasks,) * tasks
    shares = [0.0] * tasks
    for key, weight in enumerate(keys):
        shares[zlib.crc32(f"{name} {key}".encode()) % tasks] += weight
    return tuple(shares)


@dataclass
class Recent:
    """What the tasks of one bolt did in the last steps."""

    rows_s: deque[list[float]] = field(default_factory=lambda: deque(maxlen=SPAN_S // STEP_S))
    busy: deque[list[float]] = field(default_factory=lambda: deque(maxlen=LONG_S // STEP_S))
    pressed: deque[list[float]] = field(default_factory=lambda: deque(maxlen=SPAN_S // STEP_S))


def means(steps: Sequence[list[float]]) -> list[float]:
    """The mean of each task over some steps."""
    return [sum(column) / len(steps) for column in zip(*steps, strict=True)]


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
        limit = min(bolt.limit_s for bolt in self.bolts) * STEP_S
        read = min(offered, limit)
        self.lag = offered - read
        self.lags.append(self.lag)
        self.reads.append(read / STEP_S)
        for bolt in self.bolts:
            self._note(bolt, read / STEP_S, is_full=read == limit)

    def _note(self, bolt: ModelBolt, read_s: float, *, is_full: bool) -> None:
        recent = self.recent.setdefault(bolt.name, Recent())
        used = [min(1.0, read_s / limit) for limit in bolt.limits()]
        recent.rows_s.append([read_s * share for share in bolt.shares(bolt.tasks)])
        recent.busy.append([each * bolt.cpu for each in used])
        # The nearer to full a task is, the more often more waits for it than may; all of them wait for a server.
        room = 0.2 if is_full else 0.05
        waits = is_full and read_s >= 0.999 * bolt.server_s
        pressed = [1.0 if waits else max(0.0, (each - 1 + room) / room) for each in used]
        recent.pressed.append([each * self.random.uniform(0.8, 1.0) for each in pressed])

    def readings(self) -> Readings:
        """What the sensors would read now."""
        read_s = sum(self.reads) / max(1, len(self.reads))
        parts, before = [ComponentReading("source", (), (TaskReading(0, read_s, 0.3, 0.5, 0.0),))], "source"
        for bolt in self.bolts:
            parts.append(ComponentReading(bolt.name, (before,), tuple(self._tasks(bolt))))
            before = bolt.name
        lag = find_trend(np.array(self.lags), STEP_S) if any(self.lags) else None
        return Readings("model", tuple(parts), lag=lag, known_s=self.known_s)

    @property
    def known_s(self) -> int:
        """Since when it runs as it is."""
        return self.now_s - self.began_s

    def _tasks(self, bolt: ModelBolt) -> Iterator[TaskReading]:
        recent = self.recent[bolt.name]
        rows_s, pressed = means(recent.rows_s), means(recent.pressed)
        busy = means(list(recent.busy)[-(SPAN_S // STEP_S) :])
        long = means(recent.busy) if self.known_s >= LONG_S else [None] * bolt.tasks
        for task in range(bolt.tasks):
            yield TaskReading(task, rows_s[task], busy[task], long[task], pressed[task])

    def see(self) -> Sighting | None:
        """What a regulator sees."""
        if self.known_s < YOUNG_S or not self.recent:
            return None
        readings = self.readings()
        return sight(readings, tuple(diagnose(readings)))

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
        self.now_s += UPDATE_S
        self.began_s = self.now_s
        self.recent.clear()
        self.lags.clear()
        self.reads.clear()


def regulate(model: ModelTopology, regulator: Regulator, until_s: int) -> list[Treatment]:
    """Let time pass, and have it regulated, a look every two steps; what was done."""
    while model.now_s < until_s:
        model.step()
        model.step()
        treatment = regulator.look(model.see(), model.now_s)
        if treatment is not None:
            model.carry_out(treatment)
            regulator.on_carried_out(model.now_s)
    return regulator.memory.treatments
