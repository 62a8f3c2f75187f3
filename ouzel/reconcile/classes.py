"""The classes of a difference, and what each needs as evidence: a class explains nothing unless the record of the run bears it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ouzel.planner.settings import Delivery
from ouzel.record import LATE, SENT_AGAIN, RunRecord


class Class(Enum):
    """Why a row differs. The last three are no explanation."""

    LATE = "late"
    DUPLICATED = "duplicated"
    LOST = "lost"
    IN_FLIGHT = "in flight"
    FLOAT = "float"
    VALUE_DIFFERS = "value differs"
    ONLY_STREAM = "only in stream"
    ONLY_BATCH = "only in batch"

    @property
    def explained(self) -> bool:
        """Whether the record of the run says why."""
        return self not in (Class.VALUE_DIFFERS, Class.ONLY_STREAM, Class.ONLY_BATCH)

    @property
    def meaning(self) -> str:
        """One sentence for whoever reads the report."""
        return MEANINGS[self]


MEANINGS = {
    Class.LATE: "The stream dropped rows as late; without those rows the batch job's answer is the stream's.",
    Class.DUPLICATED: "Rows came twice, no more than were sent again: to a task that had lost what it remembered, or a sink without ids.",
    Class.LOST: "Rows are missing, or apart: delivery was at most once, or a task died with its state and its successor began anew.",
    Class.IN_FLIGHT: "The window had not closed when the run was stopped.",
    Class.FLOAT: "Equal within the tolerance: a sum of floats in another order.",
    Class.VALUE_DIFFERS: "Both have the row, with other values, and nothing in the record says why.",
    Class.ONLY_STREAM: "The batch job does not have this row, and nothing in the record says why.",
    Class.ONLY_BATCH: "The stream does not have this row, and nothing in the record says why.",
}


@dataclass(frozen=True)
class Evidence:
    """What the record of a run can explain.

    Attributes:
        replayed: how many rows were sent again under at least once; None if that is not known, for a source was started again.
        losses: delivery was at most once, or a task's state died.
        state_lost: a task's state died, and what it had told of its groups before was never taken back.
        closed_us: the watermark of a run that was stopped; None if all windows have closed.
        late: the file of rows dropped as late, if there is one.
    """

    replayed: int | None = 0
    losses: bool = False
    state_lost: bool = False
    closed_us: int | None = None
    late: Path | None = None


def evidence(record: RunRecord, home: Path) -> Evidence:
    """What the record in `home` bears out."""
    kinds = {kind for kind, _, _ in record.events}
    at_most_once = record.delivery == Delivery.AT_MOST_ONCE.value
    late = home / LATE
    return Evidence(
        replayed=0 if at_most_once else _replayed(record),
        losses=at_most_once or "state-lost" in kinds,
        state_lost="state-lost" in kinds,
        closed_us=record.closed_us,
        late=late if late.exists() and late.stat().st_size else None,
    )


def _replayed(record: RunRecord) -> int | None:
    told = {text: count for kind, text, count in record.events if kind == "replayed"}
    return sum(told.values()) if told.keys() <= {SENT_AGAIN} else None
