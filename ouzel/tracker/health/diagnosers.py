"""Diagnosers: what is the matter, with the symptoms that say so, and what to do. Each is a row of a table."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ouzel.tracker.health.detectors import Symptom, detect_symptoms
from ouzel.tracker.health.readings import Readings

BUSY = 0.6
"""Of tasks to spare so many are enough that each would use this share of a core."""


@dataclass(frozen=True)
class Verdict:
    """One thing that is the matter.

    Attributes:
        kind: the name of the diagnoser.
        place: a component, a task as `counts[1]`, or a container; empty for the topology.
        advice: what to do.
        evidence: the symptoms.
        component: that should have another number of tasks, or a task of which should be started again; empty if neither.
        tasks: how many tasks it should have; 0 if that is not to change.
    """

    kind: str
    place: str
    advice: str
    evidence: tuple[Symptom, ...]
    component: str = ""
    tasks: int = 0

    @property
    def title(self) -> str:
        """Kind and place."""
        return f"{self.kind}: {self.place}" if self.place else self.kind


Symptoms = Sequence[Symptom]
Diagnose = Callable[[Readings, Symptoms], Iterator[Verdict]]


@dataclass(frozen=True)
class Diagnoser:
    """One row: its name, what it says, and the function that does."""

    kind: str
    doc: str
    diagnose: Diagnose


def _causes(readings: Readings, symptoms: Symptoms) -> Iterator[tuple[str, Symptoms, bool]]:
    """Components at which back-pressure begins, its symptoms there, and whether most tasks have it.

    What waits in front of one component soon waits in front of all before it: so the last one is the cause. Small rows wait in the source,
    where nobody notices pressure: without any, full tasks are taken for slow while lag grows.
    """
    slow = [one for one in symptoms if one.kind == "back-pressure"]
    if not slow and _of(symptoms, "growing-lag", ""):
        slow = [one for one in symptoms if one.kind == "full-task"]
    places = {one.place for one in slow}
    for name in sorted(places):
        if not readings.below(name) & places:
            mine = [one for one in slow if one.place == name]
            yield name, mine, 2 * len(mine) > len(readings.find(name).tasks)


def _find_under_provisioned(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    is_pressed = any(one.kind == "back-pressure" for one in symptoms)
    for name, mine, is_most in _causes(readings, symptoms):
        if is_most:
            full, part = _of(symptoms, "full-task", name), readings.find(name)
            count = len(part.tasks)
            evidence = (*mine, *full) if is_pressed else (*_of(symptoms, "growing-lag", ""), *full)
            advice = f"give {name} more tasks: {_update(readings, name, 2 * count)}"
            if part.is_spout and not is_pressed:
                advice = f"give {name} more tasks, if its table has more partitions than tasks"
            if not full:
                advice += (
                    "; its tasks use less than a core, so what they wait for may be the bottleneck: a server, or a disk"
                )
            yield Verdict("under-provisioned", name, advice, evidence, name, 2 * count)


def _find_skew(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    for name, mine, is_most in _causes(readings, symptoms):
        for one in () if is_most else mine:
            if skew := _of_task(symptoms, "rate-skew", one):
                advice = f"a few keys have most of the rows of {name}: group by more columns first, or spread the keys and merge"
                yield Verdict("data-skew", f"{name}[{one.task}]", advice, (one, *skew))


def _find_slow_instance(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    for name, mine, is_most in _causes(readings, symptoms):
        for one in () if is_most else mine:
            if not _of_task(symptoms, "rate-skew", one):
                place, costs = f"{name}[{one.task}]", _of_task(symptoms, "cost-skew", one)
                restart = shlex.join(["ouzel", "restart", readings.topology, place])
                advice = f"it gets no more rows than the others: {restart}; look at its log, too"
                yield Verdict("slow-instance", place, advice, (one, *costs), name)


def _find_over_provisioned(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    if any(one.kind in ("back-pressure", "growing-lag", "full-task") for one in symptoms):
        return
    for one in symptoms:
        if one.kind == "idle-tasks":
            tasks = readings.find(one.place).tasks
            enough = max(1, min(len(tasks) - 1, -int(-sum(task.cores_long or 0.0 for task in tasks) // BUSY)))
            advice = f"{enough} would do: {_update(readings, one.place, enough)}"
            yield Verdict("over-provisioned", one.place, advice, (one,), one.place, enough)


def _find_slow_connection(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    if any(one.kind == "back-pressure" for one in symptoms):
        return  # a connection to a container is slow when its tasks are
    for one in symptoms:
        if one.kind in ("slow-link", "growing-waits"):
            advice = "no task is slow: look at the stream manager's log, and at what else uses the machine"
            yield Verdict("slow-connection", one.place, advice, (one,))


def _find_lag(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    """Lag that no other verdict explains."""
    lag = _of(symptoms, "growing-lag", "")
    if lag and not any(one.kind in ("back-pressure", "full-task") for one in symptoms):
        yield Verdict("growing-lag", "", "no task is slow: look at the sources, and at 'max.pending.rows'", tuple(lag))


def _find_growing_state(readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    grown = [one for one in symptoms if one.kind == "growing-memory"]
    if grown:
        most = max(readings.state, key=lambda name: readings.state[name], default="")
        held = f"{most} keeps most; " if most and readings.state[most] else ""
        explain = shlex.join(["ouzel", "explain", readings.topology])
        advice = f"{held}{explain} says what has no bound: a window or a time bound of a join gives it one"
        yield Verdict("growing-state", most, advice, tuple(grown))


def _find_hanging_epochs(_readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    for one in _of(symptoms, "late-epoch", ""):
        advice = (
            "a task does not come to rest, or the checkpoint folder cannot be written: see the topology master's log"
        )
        yield Verdict("hanging-epochs", "", advice, (one,))


def _find_silent_master(_readings: Readings, symptoms: Symptoms) -> Iterator[Verdict]:
    for one in _of(symptoms, "silent-master", ""):
        advice = "what is shown of it is old; it is started again by itself if it hangs, or see its log"
        yield Verdict("silent-master", "", advice, (one,))


def _update(readings: Readings, component: str, tasks: int) -> str:
    """The command that gives a component so many tasks."""
    return shlex.join(["ouzel", "update", readings.topology, "--parallelism", f"{component}={tasks}"])


def _of(symptoms: Symptoms, kind: str, place: str) -> list[Symptom]:
    return [one for one in symptoms if (one.kind, one.place) == (kind, place)]


def _of_task(symptoms: Symptoms, kind: str, other: Symptom) -> list[Symptom]:
    return [one for one in _of(symptoms, kind, other.place) if one.task == other.task]


DIAGNOSERS = (
    Diagnoser("silent-master", "the topology master hangs, or is gone", _find_silent_master),
    Diagnoser("hanging-epochs", "epochs are not completed", _find_hanging_epochs),
    Diagnoser(
        "under-provisioned", "most tasks of a component are under back-pressure, or full", _find_under_provisioned
    ),
    Diagnoser("data-skew", "a few tasks are, and get more rows than the others", _find_skew),
    Diagnoser("slow-instance", "a few tasks are, though they get no more rows", _find_slow_instance),
    Diagnoser("slow-connection", "containers wait for a connection, and no task is slow", _find_slow_connection),
    Diagnoser("growing-lag", "lag grows, and no task is slow", _find_lag),
    Diagnoser("growing-state", "memory rises all the time", _find_growing_state),
    Diagnoser("over-provisioned", "fewer tasks would do", _find_over_provisioned),
)


def diagnose(readings: Readings) -> list[Verdict]:
    """All that is the matter, what is worst first; nothing if it is healthy."""
    symptoms = detect_symptoms(readings)
    return [verdict for row in DIAGNOSERS for verdict in row.diagnose(readings, symptoms)]
