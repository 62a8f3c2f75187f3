"""How rows are spread over the tasks of a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class DistributionKind(Enum):
    """Which rows of an input must reach the same task."""

    ANY = "any"
    KEYS = "by keys"
    SINGLE = "single"
    BROADCAST = "broadcast"
    OWN = "read by each"


@dataclass(frozen=True)
class Distribution:
    """How an input must be distributed over a node's tasks: in any way, by `keys`, all rows to one task for a reason, or all to each.

    An input that each task reads for itself (OWN) reaches it by no stream.
    """

    kind: DistributionKind
    keys: tuple[str, ...] = ()
    reason: SingleTask | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        assert (self.kind is DistributionKind.SINGLE) == (self.reason is not None), "made by `single`, which asks why"


@dataclass(frozen=True)
class SingleTask:
    """Why one task has all rows, as a clause for an error, and what to write instead so that several have them; empty for nothing."""

    why: str
    instead: str = ""


ANY = Distribution(DistributionKind.ANY)
BROADCAST = Distribution(DistributionKind.BROADCAST)
OWN = Distribution(DistributionKind.OWN)


def single(why: str, instead: str = "") -> Distribution:
    """All rows to one task; the words are those of `SingleTask`."""
    return Distribution(DistributionKind.SINGLE, reason=SingleTask(why, instead))


def by_keys(keys: tuple[str, ...], otherwise: Distribution) -> Distribution:
    """Rows of equal keys together; `otherwise` without keys, as all rows are equal then."""
    return Distribution(DistributionKind.KEYS, keys) if keys else otherwise
