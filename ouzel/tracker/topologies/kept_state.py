"""What the operators of a topology keep, over all their tasks: keys and rows by table, and the largest keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ouzel.planner.topology import Task
from ouzel.runtime.observe.state_summaries import LargeKey, StateSummary
from ouzel.runtime.state.summary import LARGEST_SHOWN


@dataclass(frozen=True)
class OperatorState:
    """One table of an operator, over all tasks that have told of theirs.

    Attributes:
        component: whose operator it is.
        operator: its name.
        table: the table's name; empty if it is not known which there are.
        tasks: how many tasks have told.
        keys: how many they have; None if that is not known.
        rows: how many rows they keep for them; None if they keep none beside a key's own, or that is not known.
        columns: those of a key.
        largest: the keys with the most rows, the most first.
        note: why there are none; empty if there are.
        at_us: when the oldest of what they told was so.
    """

    component: str
    operator: str
    table: str
    tasks: int
    keys: int | None
    rows: int | None
    columns: tuple[str, ...]
    largest: tuple[LargeKey, ...]
    note: str
    at_us: int


def fold_states(told: Iterable[tuple[Task, StateSummary]]) -> list[OperatorState]:
    """By component, operator and table, in their order. A key is with one task, so the largest of all are among the largest of each."""
    groups: dict[tuple[str, str, str], list[StateSummary]] = {}
    for task, one in told:
        groups.setdefault((task.component, one.operator, one.table), []).append(one)
    return [_fold_tables(*names, group) for names, group in groups.items()]


def _fold_tables(component: str, operator: str, table: str, group: list[StateSummary]) -> OperatorState:
    largest = sorted((key for one in group for key in one.largest), key=lambda key: -key.rows)[:LARGEST_SHOWN]
    return OperatorState(
        component,
        operator,
        table,
        len(group),
        _total(one.keys for one in group),
        _total(one.rows for one in group),
        next((one.columns for one in group if one.columns), ()),
        tuple(largest),
        next((one.note for one in group if one.note), ""),
        min(one.at_us for one in group),
    )


def _total(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
