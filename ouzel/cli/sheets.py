"""What `ouzel top` shows, as text: all submitted topologies, or the components of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ouzel.printable import printable
from ouzel.tracker import words
from ouzel.tracker.metrics.history import History
from ouzel.tracker.pages.views import TopologyRow, component_rows, topology_row
from ouzel.tracker.topologies.epochs import epoch_text, list_epochs
from ouzel.tracker.topologies.happened import fold_exceptions
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

TOPOLOGY_HEADS = ("NAME", "STATE", "ROWS/S IN", "ROWS/S OUT", "BEHIND", "LAG", "LAST EPOCH (UTC)", "EXCEPTIONS")
COMPONENT_HEADS = (
    "COMPONENT",
    "TASKS",
    "ROWS/S IN",
    "ROWS/S OUT",
    "ROWS IN",
    "LATE",
    "BAD",
    "REPLAYED",
    "LATENCY",
    "BUSY",
)
FIGURES = frozenset({*TOPOLOGY_HEADS[2:6], *COMPONENT_HEADS[1:], "EXCEPTIONS"})
"""Columns that stand at the right."""

LEFT_OUT = (
    "LAST EPOCH (UTC)", "REPLAYED", "LAG", "LATENCY", "ROWS IN", "ROWS/S OUT", "LATE", "TASKS", "BEHIND", "BAD", "BUSY", "EXCEPTIONS",
)  # fmt: skip
"""Columns that a terminal may be too narrow for, in this order; names are never cut for them."""

BETWEEN = 2
"""Blanks between two columns."""

EXCEPTIONS_SHOWN = 5


@dataclass(frozen=True)
class Sheet:
    """A table with a title, and lines below it."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def fit_width(sheet: Sheet, width: int) -> Sheet:
    """The sheet without columns for which so many letters are too few, and a note that names them."""
    kept = list(range(len(sheet.heads)))
    widths = [max(map(len, column)) for column in zip(sheet.heads, *sheet.rows, strict=True)]
    left_out: list[str] = []
    for head in LEFT_OUT:
        if sum(widths[at] for at in kept) + BETWEEN * (len(kept) - 1) <= width:
            break
        if head in sheet.heads:
            kept.remove(sheet.heads.index(head))
            left_out.append(head)
    if not left_out:
        return sheet
    rows = tuple(tuple(row[at] for at in kept) for row in sheet.rows)
    note = f"a wider terminal shows {', '.join(left_out)}"
    return Sheet(sheet.title, tuple(sheet.heads[at] for at in kept), rows, (*sheet.notes, note))


def sheet_of_all(watcher: TopologyWatcher, now_s: float) -> Sheet:
    """A line for each submitted topology."""
    rows = []
    for one in watcher.snapshots():
        if isinstance(one, TopologySnapshot):
            epoch = epoch_text(list_epochs(watcher.registry, one, most=1))
            rows.append(topology_row(one, watcher.history(one) if one.is_alive else None, epoch, now_s))
        else:
            rows.append(topology_row(one, None, words.NOTHING, now_s))
    return list_topologies(rows)


def list_topologies(rows: Iterable[TopologyRow]) -> Sheet:
    """A line for each of these."""
    rows = list(rows)
    cells = tuple(
        (row.name, row.state, row.rate_in, row.rate_out, row.behind, row.lag, row.epoch, f"{row.exceptions:,}")
        for row in rows
    )
    problems = tuple(f"{row.name}: {printable(row.problem)}" for row in rows if row.problem)
    title = f"{len(rows):,} topolog{'y' if len(rows) == 1 else 'ies'}" if rows else "no topology is submitted"
    return Sheet(title, TOPOLOGY_HEADS, cells, problems)


def sheet_of_one(watcher: TopologyWatcher, name: str, now_s: float) -> Sheet:
    """A line for each component of a topology.

    Raises:
        OuzelError: there is none of that name, or its files cannot be read.
    """
    snapshot = watcher.snapshot(name)
    epoch = epoch_text(list_epochs(watcher.registry, snapshot, most=1))
    return list_components(snapshot, watcher.history(snapshot), epoch, now_s)


def list_components(snapshot: TopologySnapshot, history: History, epoch: str, now_s: float) -> Sheet:
    """A line for each component, and what has happened last."""
    row = topology_row(snapshot, history, epoch, now_s)
    parts = [row.name, row.state, f"{row.behind} behind", f"lag {row.lag}", f"epoch {row.epoch}"]
    cells = tuple(
        (
            printable(part.name),
            f"{part.tasks:,}",
            part.rate_in,
            part.rate_out,
            part.rows_in,
            part.late,
            part.bad,
            part.replayed,
            part.latency,
            part.loads[0].text,
        )
        for part in component_rows(snapshot, history, now_s)
    )
    notes = [printable(row.problem)] if row.problem else []
    for each in fold_exceptions(snapshot)[:EXCEPTIONS_SHOWN]:
        when = f", last at {words.time_text(each.last_us)}" if each.last_us else ""
        notes.append(f"{printable(each.component)}: {each.count:,} {each.kind}{when}: {printable(each.samples[0][1])}")
    return Sheet(" · ".join(part for part in parts if words.NOTHING not in part), COMPONENT_HEADS, cells, tuple(notes))
