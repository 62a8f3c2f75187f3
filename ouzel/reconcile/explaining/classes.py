"""The classes of a difference, and what each needs as evidence: a class explains nothing unless the record of the run bears it out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from ouzel.planner.settings import Delivery
from ouzel.reconcile.recording.record import LATE, SENT_AGAIN, Loss, RunRecord


class Class(Enum):
    """Why a row differs. The last three are no explanation."""

    LATE = "late"
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
    Class.LOST: "Rows are missing, or apart: a task died with the state of just these groups, or at most once what was on its way.",
    Class.IN_FLIGHT: "The window had not closed, or time not come to the row, when the run was stopped.",
    Class.FLOAT: "Equal within the tolerance: a sum of floats in another order.",
    Class.VALUE_DIFFERS: "Both have the row, with other values, and nothing in the record says why.",
    Class.ONLY_STREAM: "The batch job does not have this row, or not so often, and nothing in the record says why.",
    Class.ONLY_BATCH: "The stream does not have this row, or not so often, and nothing in the record says why.",
}


@dataclass(frozen=True)
class Evidence:
    """What the record of a run can explain. Rows sent again explain nothing by themselves: whoever has handled them recognises them.

    Attributes:
        losses: losses that may have touched this sink's rows.
        sent_again: how many rows were sent again; None if not known, because a source was restarted.
        dealt: the keys by which groups are routed to tasks, under the hash seed `seed`.
        closed_us: the watermark of a run that was stopped; None if all windows have closed.
        late: the file of rows dropped as late, if there is one.
    """

    losses: tuple[Loss, ...] = ()
    sent_again: int | None = 0
    dealt: tuple[str, ...] = ()
    seed: int = 0
    closed_us: int | None = None
    late: Path | None = None


def evidence(record: RunRecord, home: Path, component: str, dealt: tuple[str, ...], lag_us: int | None) -> Evidence:
    """What the record in `home` can explain of a sink whose rows are made by the aggregate of that component; empty if there is none.

    `dealt`: the keys by which its groups are routed to tasks. `lag_us`: how far watermarks lag behind event time at most; None if unknown.
    """
    late = home / LATE
    return Evidence(
        losses=tuple(
            _in_event_time(loss, lag_us) for loss in record.losses if loss.component in _hit(record, component)
        ),
        sent_again=_count_sent_again(record),
        dealt=dealt,
        seed=record.seed,
        closed_us=record.closed_us,
        late=late if late.exists() and late.stat().st_size else None,
    )


def _hit(record: RunRecord, component: str) -> tuple[str, ...]:
    """The losses that can have removed rows of this component. At most once, rows on their way are lost; otherwise they are sent again."""
    on_way = ("",) if record.delivery == Delivery.AT_MOST_ONCE.value else ()
    return (*on_way, component) if component else on_way


def _in_event_time(loss: Loss, lag_us: int | None) -> Loss:
    until_us = None if loss.until_us is None or lag_us is None else loss.until_us + lag_us
    return replace(loss, until_us=until_us)


def _count_sent_again(record: RunRecord) -> int | None:
    told = {text: count for kind, text, count in record.events if kind == "replayed"}
    return sum(told.values()) if told.keys() <= {SENT_AGAIN} else None
