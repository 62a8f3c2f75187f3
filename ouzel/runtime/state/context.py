"""StateContext: all that one task of an operator keeps. It is asked for tables, bags and values, and snapshots and restores them.

A snapshot is whole, or holds what has changed since the one before. Several tasks' snapshots of one operator make its state, each with a
range of key groups; a task that restores takes the rows of its own range from all of them, so splitting and merging are one filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TypeVar

import polars as pl

from ouzel.errors import StateError
from ouzel.runtime.state.hashing import HASH_VERSION, KEY_GROUPS
from ouzel.runtime.state.keyed_table import KeyedTable
from ouzel.runtime.state.lending import SnapshotParts
from ouzel.runtime.state.positions import filter_rows
from ouzel.runtime.state.row_bag import RowBag
from ouzel.runtime.state.summary import StateSize, TableCounts, count_table
from ouzel.runtime.state.table import GONE, GROUP, Kept, SlotTable
from ouzel.runtime.state.value import Value

Kind = TypeVar("Kind", bound=Kept | Value)


@dataclass(frozen=True)
class KeyGroups:
    """The key groups from `first` to before `end`."""

    first: int = 0
    end: int = KEY_GROUPS

    def __str__(self) -> str:
        return f"{self.first} to {self.end - 1}"


def key_groups_of(task: int, tasks: int) -> KeyGroups:
    """What the task with this index holds: those groups that `groupings.key_tasks` sends to it."""
    return KeyGroups(-(-task * KEY_GROUPS // tasks), -(-(task + 1) * KEY_GROUPS // tasks))


@dataclass(frozen=True)
class Snapshot:
    """What one task kept at one moment.

    Attributes:
        operator: the operator's stable name.
        groups: the key groups that the task held.
        seed: of the hash of keys.
        number: counts a task's snapshots from 1.
        whole: whether it is all; otherwise it holds what has changed since the one before.
        parts: a frame for each thing kept, by name. Frames of a task's own snapshot are made when they are first asked for, in any thread.
        hash_version: of the hash of keys.
        live: how many rows the task kept at that moment, in tables and bags; 0 if nobody has counted them.
        keys: how many of them are keys of tables.
    """

    operator: str
    groups: KeyGroups
    seed: int
    number: int
    whole: bool
    parts: Mapping[str, pl.DataFrame]
    hash_version: int = HASH_VERSION
    live: int = 0
    keys: int = 0


def _under_names_of(kept: Kept | Value, part: pl.DataFrame) -> pl.DataFrame:
    names = kept.schema.names() if isinstance(kept, Kept) else part.columns
    if len(names) != part.width:
        return part  # which is refused
    return part.rename(dict(zip(part.columns, names, strict=True)))


class StateContext:
    """The state of one task of an operator.

    Args:
        operator: its stable name: what a restart knows its state by.
        seed: of the hash of keys.
        routing: the columns by whose hash rows come to this task.
        groups: the key groups whose rows come to this task.
    """

    def __init__(self, operator: str, seed: int, routing: Sequence[str] = (), groups: KeyGroups | None = None) -> None:
        self.operator, self.seed, self.groups = operator, seed, groups or KeyGroups()
        self._routing = tuple(routing)
        self._tables: dict[str, Kept] = {}
        self._values: dict[str, Value] = {}
        self._number = 0

    def table(self, name: str, keys: Mapping[str, pl.DataType]) -> KeyedTable:
        """Declare a table by key."""
        return self._declare(KeyedTable(name, keys, self._routing, self.seed))

    def bag(self, name: str, owners: SlotTable, row: Mapping[str, pl.DataType], order_by: str | None = None) -> RowBag:
        """Declare weighted rows for each key of a table."""
        return self._declare(RowBag(name, owners, row, self.seed, order_by))

    def value(self, name: str, initial: int | bool) -> Value:
        """Declare one value of the operator."""
        return self._declare(Value(name, initial))

    def count_tables(self) -> list[TableCounts]:
        """How much is in each table by key, and its largest keys."""
        return [count_table(table) for table in self._tables.values() if isinstance(table, KeyedTable)]

    def measure(self) -> StateSize:
        """How much is kept now, from what is known of it anyway: no row is looked at, however many there are."""
        keys = [len(table.index) for table in self._tables.values() if isinstance(table, KeyedTable)]
        rows = [len(table.index) for table in self._tables.values() if isinstance(table, RowBag)]
        size = sum(table.used_bytes for table in self._tables.values())
        return StateSize(sum(keys) if keys else None, sum(rows) if rows else None, size)

    def snapshot(self) -> Snapshot:
        """All that is kept now."""
        return self._take(True, lambda table: table.whole())

    def changes(self) -> Snapshot:
        """What has changed since the last snapshot; all, where that is not known any more."""
        if self._number and all(table.has_changes for table in self._tables.values()):
            return self._take(False, lambda table: table.changes())
        return self.snapshot()

    def restore(self, *tasks: Sequence[Snapshot]) -> None:
        """Fill the empty state from what the tasks of a run before kept: of each a whole snapshot and the changes after it.

        Raises:
            StateError: they are not this operator's, not whole, or not of one moment.
        """
        for snapshots in tasks:
            self._check(snapshots)
        self._check_cover([snapshots[-1].groups for snapshots in tasks])
        for snapshots in tasks:
            for snapshot in snapshots:
                for name, table in self._tables.items():
                    table.load(self._own(snapshot.parts[name]))
        for name, value in self._values.items():
            value.load([snapshots[-1].parts[name] for snapshots in tasks])

    def adopt(self, snapshot: Snapshot) -> Snapshot:
        """A snapshot of an operator that means the same, under the names of this one: what it keeps stands in the same order."""
        declared: dict[str, Kept | Value] = {**self._tables, **self._values}
        parts = {
            name: _under_names_of(kept, part)
            for (name, kept), part in zip(declared.items(), snapshot.parts.values(), strict=False)
        }
        return replace(snapshot, operator=self.operator, parts=parts)

    def _declare(self, kept: Kind) -> Kind:
        assert kept.name not in self._tables.keys() | self._values.keys(), kept.name
        if isinstance(kept, Value):
            self._values[kept.name] = kept
        else:
            self._tables[kept.name] = kept
        return kept

    def _take(self, whole: bool, maker: Callable[[Kept], Callable[[], pl.DataFrame]]) -> Snapshot:
        self._number += 1
        makers = {name: maker(table) for name, table in self._tables.items()}
        makers |= {name: partial(_same, value.part()) for name, value in self._values.items()}
        live = sum(len(table.index) for table in self._tables.values())
        keys = sum(len(table.index) for table in self._tables.values() if isinstance(table, KeyedTable))
        parts = SnapshotParts(makers)
        return Snapshot(self.operator, self.groups, self.seed, self._number, whole, parts, live=live, keys=keys)

    def _own(self, part: pl.DataFrame) -> pl.DataFrame:
        """What is of this task's key groups. What has gone is told to all: who has not got it loses nothing."""
        if self.groups == KeyGroups():
            return part
        group = part[GROUP].to_numpy()
        return filter_rows(part, part[GONE].to_numpy() | ((group >= self.groups.first) & (group < self.groups.end)))

    def _check(self, snapshots: Sequence[Snapshot]) -> None:
        if not snapshots or not snapshots[0].whole:
            raise StateError(f"the state of {self.operator} begins with no whole snapshot")
        for before, after in pairwise(snapshots):
            if after.whole or after.number != before.number + 1:
                raise StateError(
                    f"snapshot {after.number} of {self.operator} does not follow on snapshot {before.number}"
                )
        for snapshot in snapshots:
            self._check_one(snapshot)

    def _check_one(self, snapshot: Snapshot) -> None:
        declared = self._tables.keys() | self._values.keys()
        if snapshot.operator != self.operator:
            raise StateError(f"this is the state of {snapshot.operator}, not of {self.operator}")
        if snapshot.hash_version != HASH_VERSION:
            told = f"version {snapshot.hash_version} of the hash of keys; this is version {HASH_VERSION}"
            raise StateError(f"the state of {self.operator} was kept under {told}")
        if snapshot.seed != self.seed:
            raise StateError(
                f"the state of {self.operator} was kept under another seed; start the topology with its seed"
            )
        if snapshot.parts.keys() != declared:
            raise StateError(
                f"the state of {self.operator} holds {', '.join(sorted(snapshot.parts))}, but it keeps {', '.join(sorted(declared))}"
            )
        for name, table in self._tables.items():
            if snapshot.parts[name].schema != table.schema:
                other = set(snapshot.parts[name].schema.items()) ^ set(table.schema.items())
                told = ", ".join(sorted({column for column, _ in other}))
                raise StateError(
                    f"{name} of {self.operator} was kept with other columns or types than now: {told or 'another order'}"
                )

    def _check_cover(self, ranges: Sequence[KeyGroups]) -> None:
        """The ranges must hold every group of this task's, none twice."""
        place = 0
        for groups in sorted(ranges, key=lambda groups: groups.first):
            if groups.first < place:
                raise StateError(f"key group {groups.first} of {self.operator} comes twice")
            if groups.first > place and place < self.groups.end and groups.first > self.groups.first:
                break
            place = groups.end
        if place < self.groups.end:
            raise StateError(f"key group {max(place, self.groups.first)} of {self.operator} is in no snapshot")


def _same(part: pl.DataFrame) -> pl.DataFrame:
    return part
