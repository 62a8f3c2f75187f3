"""Resolvers: what is done about a verdict. Each is a row of a table; it proposes, and knows no clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ouzel.planner.settings import HealthPolicy
from ouzel.tracker.health.detectors import Symptom
from ouzel.tracker.health.diagnosers import Verdict
from ouzel.tracker.health.readings import Readings

HEADROOM = 1.25
"""A component keeps tasks for so many times the rows that come, as far as it is known how many rows a task has managed."""


STRAINS = frozenset({"under-provisioned", "data-skew", "slow-instance", "slow-connection", "growing-lag"})
"""Verdicts that say that more rows come than are managed."""


@dataclass(frozen=True)
class Sighting:
    """How a topology stands at one time.

    Attributes:
        verdicts: what is the matter with it, what is worst first.
        tasks: by component, how many it has.
        rows_s: by component, rows a second that all its tasks get; those that are known.
        spouts: the components that read a source.
    """

    verdicts: tuple[Verdict, ...]
    tasks: Mapping[str, int]
    rows_s: Mapping[str, float] = field(default_factory=dict)
    spouts: frozenset[str] = frozenset()

    @property
    def read_s(self) -> float | None:
        """Rows a second that are read from all sources; None if that is not known."""
        found = [self.rows_s.get(name) for name in self.spouts]
        return None if None in found or not found else sum(rate for rate in found if rate is not None)

    @property
    def is_strained(self) -> bool:
        """Whether more rows come than it manages, as far as verdicts tell."""
        return any(one.kind in STRAINS for one in self.verdicts)


def sight(readings: Readings, verdicts: tuple[Verdict, ...]) -> Sighting:
    """What is seen in readings and the verdicts on them."""
    rows = {part.name: [task.rows_s for task in part.tasks] for part in readings.components}
    return Sighting(
        verdicts,
        {part.name: len(part.tasks) for part in readings.components},
        {name: sum(rates) for name, rates in rows.items() if None not in rates},  # type: ignore[arg-type]  # none is None
        frozenset(part.name for part in readings.components if part.is_spout),
    )


@dataclass(frozen=True)
class Bounds:
    """How many tasks a bolt may have by itself, and what may be done at all."""

    policy: HealthPolicy = HealthPolicy.OFF
    least: int = 1
    most: int = 8


@dataclass(frozen=True)
class Shortage:
    """A number of tasks that was too small for so many rows a second, and when that was seen."""

    tasks: int
    rows_s: float
    at_s: float

    def need(self, rows_s: float) -> int:
        """How many tasks so many rows a second need, with room to spare."""
        return -int(-HEADROOM * rows_s * self.tasks // self.rows_s) if self.rows_s > 0 else self.tasks + 1


@dataclass(frozen=True)
class Remedy:
    """What a resolver proposes.

    Attributes:
        resolver: its kind.
        place: what is changed: a component, or a task as `counts[1]`.
        component: whose task or tasks.
        tasks: how many it gets; 0 to start the task again.
    """

    resolver: str
    place: str
    component: str
    tasks: int = 0


Proposal = Remedy | str
"""A remedy, or why there is none."""


@dataclass(frozen=True)
class Resolver:
    """One row.

    Attributes:
        kind: its name.
        cures: the verdicts that it is for; of several resolvers for one verdict the first that may act does.
        doc: what it does.
        is_allowed: whether a policy allows it.
        wait_s: how long it leaves a place alone after it has helped; twice as long each time it is needed again within a day.
        resolve: proposes, given a verdict, what is seen, the bounds, and what is known of shortages.
    """

    kind: str
    cures: tuple[str, ...]
    doc: str
    is_allowed: Callable[[HealthPolicy], bool]
    wait_s: float
    resolve: Callable[[Verdict, Sighting, Bounds, Shortage | None], Proposal]


def _restart(verdict: Verdict, _seen: Sighting, _bounds: Bounds, _short: Shortage | None) -> Proposal:
    return Remedy("restart", verdict.place, verdict.component)


def _scale_up(verdict: Verdict, seen: Sighting, bounds: Bounds, _short: Shortage | None) -> Proposal:
    name, has = verdict.component, seen.tasks[verdict.component]
    if name in seen.spouts:
        return f"{name} reads a source, whose tasks are bound by its partitions: only bolts are rescaled"
    if has >= bounds.most:
        return f"{name} has {has} tasks, and 'health.tasks.max' is {bounds.most}"
    return Remedy("scale-up", name, name, min(2 * has, bounds.most))


def _scale_down(verdict: Verdict, seen: Sighting, bounds: Bounds, short: Shortage | None) -> Proposal:
    name, has = verdict.component, seen.tasks[verdict.component]
    if name in seen.spouts:
        return f"{name} reads a source: only bolts are rescaled"
    rows_s = seen.rows_s.get(name)
    needed = short.need(rows_s) if short and rows_s is not None else 0
    tasks = max(verdict.tasks, needed, bounds.least)
    if tasks >= has:
        told = (
            f"fewer were not enough for {short.rows_s:,.0f} rows/s" if short and needed >= has else "it has the fewest"
        )
        return f"{name} keeps its {has} tasks: {told}"
    return Remedy("scale-down", name, name, tasks)


RESOLVERS = (
    Resolver(
        "restart", ("slow-instance",), "starts a slow instance again", lambda policy: policy.restarts, 600.0, _restart
    ),
    Resolver(
        "scale-up",
        ("under-provisioned", "slow-instance"),
        "gives a bolt twice the tasks, and a slow instance's bolt where starting it again has not helped",
        lambda policy: policy.rescales,
        300.0,
        _scale_up,
    ),
    Resolver(
        "scale-down",
        ("over-provisioned",),
        "leaves a bolt the tasks that it uses",
        lambda policy: policy.rescales,
        1_800.0,
        _scale_down,
    ),
)

RESOLVER_KINDS: Mapping[str, Resolver] = {row.kind: row for row in RESOLVERS}

LEFT_TO_PEOPLE = {
    "data-skew": "more tasks would not spread the rows of one key: group by more columns first",
    "growing-state": "more memory would only put the end off: give the state a bound",
    "growing-lag": "no task is slow: neither a restart nor more tasks would help; only a table with 'shed.lag' passes records over",
    "slow-connection": "no task is slow, so neither a restart nor more tasks would help",
    "hanging-epochs": "what an epoch waits for is started again by its topology master, if it hangs",
    "silent-master": "a topology master that hangs is started again by its executor",
}
"""Verdicts that no resolver answers, and why."""


def evidence_text(symptoms: tuple[Symptom, ...]) -> str:
    """The evidence of a verdict in one line."""
    return "; ".join(one.text for one in symptoms)
