"""What a topology would need for a rate: tasks, cores and memory of each component, from what its tasks used; and how wrong that was.

A component's CPU time a row, and its rows for each row that is read, are taken to stay what they were. What a task waits for (a server,
a disk) is no CPU time, and is not estimated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ouzel.errors import OuzelError
from ouzel.tracker.health.diagnosers import BUSY

OUTAGE_S = 30.0
"""A lag goal is for what gathers in so long a time without reading: all going back to an epoch, say, or a rescale."""

MEMORY_STEP_MB = 64
"""Memory is proposed in multiples of this, with a quarter more than was used."""


@dataclass(frozen=True)
class MeasuredPart:
    """What the tasks of one component did.

    Attributes:
        name: of the component.
        is_spout: whether it reads a source.
        tasks: how many there are.
        rows_s: rows a second that all of them read or received.
        cores: CPU time a second of all of them.
        memory_bytes: resident, of the largest of them; pages that processes share count in each. None if that is not known.
    """

    name: str
    is_spout: bool
    tasks: int
    rows_s: float
    cores: float
    memory_bytes: int | None = None


@dataclass(frozen=True)
class ProposedPart:
    """What one component would need.

    Attributes:
        name: of the component.
        had: how many tasks it had.
        tasks: how many it would need.
        rows_s: rows a second that would come to it.
        cores: that these would use.
        memory_mb: of each task; None if that is not known.
        note: what else is to be said of it; empty if nothing.
    """

    name: str
    had: int
    tasks: int
    rows_s: float
    cores: float
    memory_mb: int | None = None
    note: str = ""


@dataclass(frozen=True)
class ResourceEstimate:
    """What a topology would need.

    Attributes:
        read_s: rows a second that were read.
        rate_s: rows a second that are to be read.
        headroom: so many times that must be managed, to reach the lag goal.
        parts: by component, in order.
    """

    read_s: float
    rate_s: float
    headroom: float
    parts: tuple[ProposedPart, ...]


WhyFixed = Callable[[str, int], str]
"""Why a component cannot have so many tasks; empty if it can."""


def estimate_resources(
    measured: Sequence[MeasuredPart],
    rate_s: float | None = None,
    lag_goal_s: float | None = None,
    why_fixed: WhyFixed = lambda name, tasks: "",
) -> ResourceEstimate:
    """What is needed for `rate_s` rows a second (None: as many as were read), with what gathers in OUTAGE_S read within `lag_goal_s`.

    Raises:
        OuzelError: nothing was read, so nothing is known.
    """
    read_s = sum(part.rows_s for part in measured if part.is_spout)
    if read_s <= 0:
        raise OuzelError(
            "no row was read meanwhile, so nothing can be estimated; give it more rows, or a longer --sample"
        )
    wanted_s = read_s if rate_s is None else rate_s
    headroom = 1.0 if lag_goal_s is None else 1.0 + OUTAGE_S / lag_goal_s
    parts = tuple(_propose(part, wanted_s / read_s, headroom, why_fixed) for part in measured)
    return ResourceEstimate(read_s, wanted_s, headroom, parts)


def _propose(part: MeasuredPart, growth: float, headroom: float, why_fixed: WhyFixed) -> ProposedPart:
    cores, memory_mb = part.cores * growth, _memory_mb(part.memory_bytes)
    if part.rows_s <= 0:
        return ProposedPart(part.name, part.tasks, part.tasks, 0.0, part.cores, memory_mb, "no row came to it")
    needed = max(1, math.ceil(cores * headroom / BUSY))
    note = why_fixed(part.name, needed) if needed != part.tasks else ""
    tasks = part.tasks if note else needed
    if part.is_spout and needed > part.tasks and not note:
        note = "if its table has so many partitions"
    if note and needed != tasks:
        note = f"{needed} would be needed, but: {note}"
    return ProposedPart(part.name, part.tasks, tasks, part.rows_s * growth, cores, memory_mb, note)


def _memory_mb(memory_bytes: int | None) -> int | None:
    return None if memory_bytes is None else MEMORY_STEP_MB * math.ceil(1.25 * memory_bytes / 2**20 / MEMORY_STEP_MB)


@dataclass(frozen=True)
class EstimateError:
    """How wrong an estimate was of one component: what it says of the rows that come now, and what is so.

    Attributes:
        name: of the component.
        cores: what it says, and what is.
        rows_s: the same of rows a second.
    """

    name: str
    cores: tuple[float, float]
    rows_s: tuple[float, float]

    @property
    def off(self) -> float | None:
        """By what share of what is so the cores were estimated too high, or, below 0, too low; None if none are used."""
        said, used = self.cores
        return said / used - 1 if used > 0 else None


def compare_estimate(estimate: ResourceEstimate, measured: Sequence[MeasuredPart]) -> list[EstimateError]:
    """How wrong an estimate was, at the rate at which rows are read now; of components that both know.

    Raises:
        OuzelError: nothing is read.
    """
    read_s = sum(part.rows_s for part in measured if part.is_spout)
    if read_s <= 0:
        raise OuzelError("no row is read now, so nothing can be compared with the estimate")
    now = {part.name: part for part in measured}
    scale = read_s / estimate.rate_s
    return [
        EstimateError(one.name, (one.cores * scale, now[one.name].cores), (one.rows_s * scale, now[one.name].rows_s))
        for one in estimate.parts
        if one.name in now
    ]


def write_estimate(estimate: ResourceEstimate) -> str:
    """As JSON."""
    return json.dumps(asdict(estimate), indent=2)


def read_estimate(text: str) -> ResourceEstimate:
    """What `write_estimate` wrote.

    Raises:
        ValueError: it is not that.
    """
    try:
        kept: Mapping[str, Any] = json.loads(text)
        parts = tuple(ProposedPart(**one) for one in kept["parts"])
        found = ResourceEstimate(float(kept["read_s"]), float(kept["rate_s"]), float(kept["headroom"]), parts)
    except (TypeError, KeyError) as error:
        raise ValueError(f"it is no estimate: {error}") from error
    if found.rate_s <= 0:
        raise ValueError("its rate is not above 0")
    return found
