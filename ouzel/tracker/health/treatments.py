"""What was done to a topology by itself, and whether it helped: what is remembered, and how it is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Any

from ouzel.tracker.health.resolvers import Shortage

KEPT = 100
"""So many treatments are remembered; the oldest go."""


class TreatmentOutcome(Enum):
    """What became of a treatment."""

    AT_WORK = "at work"
    WATCHED = "watched"
    HELPED = "helped"
    HELPED_SOME = "helped, but not enough"
    DID_NOT_HELP = "did not help"
    MADE_WORSE = "made it worse"
    OVERTAKEN = "overtaken: more rows come now"
    CHANGED_BY_OTHERS = "not judged: somebody else has changed it"
    REFUSED = "refused"
    DONE = "done"

    @property
    def is_open(self) -> bool:
        """Whether it is not yet known how it ended."""
        return self in (TreatmentOutcome.AT_WORK, TreatmentOutcome.WATCHED)


@dataclass(frozen=True)
class Treatment:
    """One thing that was done.

    Attributes:
        number: which it is of this topology.
        resolver: that proposed it.
        place: a component, or a task as `counts[1]`.
        component: whose task or tasks.
        had: how many tasks it had.
        tasks: how many it gets; 0 if a task was started again.
        verdict: that it is for.
        evidence: of the verdict, in one line.
        began_s: when, in seconds since 1970.
        read_s: rows a second that all sources gave before; None if that is not known.
        undoes: the number of the treatment that it undoes; 0 if none.
        ended_s: when it was carried out.
        outcome: what became of it.
        said: what the command said, if it was refused.
    """

    number: int
    resolver: str
    place: str
    component: str
    had: int
    tasks: int
    verdict: str
    evidence: str
    began_s: float
    read_s: float | None = None
    undoes: int = 0
    ended_s: float | None = None
    outcome: TreatmentOutcome = TreatmentOutcome.AT_WORK
    said: str = ""

    @property
    def title(self) -> str:
        """What is done, in short."""
        if not self.tasks:
            return f"restart {self.place}"
        return f"{'undo: ' if self.undoes else ''}{self.component} from {self.had} to {self.tasks} tasks"

    @property
    def is_restart(self) -> bool:
        """Whether it starts a task again."""
        return not self.tasks


@dataclass(frozen=True)
class Rest:
    """How long a resolver leaves a place alone.

    Attributes:
        count: how often it has acted there within a day.
        until_s: it rests until then.
        why: in words; empty if it only takes its time.
    """

    count: int
    until_s: float
    why: str = ""


@dataclass
class TreatmentMemory:
    """All that must be remembered over the death of a health manager.

    Attributes:
        treatments: the latest last.
        rests: by resolver and place.
        shortages: by component, the latest number of tasks that was too small.
        count: how many treatments there ever were.
    """

    treatments: list[Treatment] = field(default_factory=list)
    rests: dict[tuple[str, str], Rest] = field(default_factory=dict)
    shortages: dict[str, Shortage] = field(default_factory=dict)
    count: int = 0

    @property
    def open(self) -> Treatment | None:
        """The treatment of which it is not yet known how it ended."""
        last = self.treatments[-1] if self.treatments else None
        return last if last and last.outcome.is_open else None

    def add(self, treatment: Treatment) -> None:
        """Remember a new one."""
        self.count = treatment.number
        self.treatments = [*self.treatments, treatment][-KEPT:]

    def change(self, **changes: Any) -> Treatment:
        """The latest treatment, changed so."""
        self.treatments[-1] = replace(self.treatments[-1], **changes)
        return self.treatments[-1]

    def forget(self, component: str) -> None:
        """Forget what was learned of a component: it is another one now."""
        self.shortages.pop(component, None)
        self.rests = {key: rest for key, rest in self.rests.items() if key[1].partition("[")[0] != component}


def write_memory(memory: TreatmentMemory) -> str:
    """As JSON."""
    return json.dumps(
        {
            "count": memory.count,
            "treatments": [asdict(one) | {"outcome": one.outcome.value} for one in memory.treatments],
            "rests": [[*key, asdict(rest)] for key, rest in memory.rests.items()],
            "shortages": {name: asdict(one) for name, one in memory.shortages.items()},
        }
    )


def read_memory(text: str) -> TreatmentMemory:
    """What `write_memory` wrote.

    Raises:
        ValueError: it is not that.
    """
    try:
        kept: Mapping[str, Any] = json.loads(text)
        return TreatmentMemory(
            [Treatment(**{**one, "outcome": TreatmentOutcome(one["outcome"])}) for one in kept["treatments"]],
            {(resolver, place): Rest(**rest) for resolver, place, rest in kept["rests"]},
            {name: Shortage(**one) for name, one in kept["shortages"].items()},
            int(kept["count"]),
        )
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no memory of treatments: {type(error).__name__}: {error}") from error
