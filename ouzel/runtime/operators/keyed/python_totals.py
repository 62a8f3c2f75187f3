"""Aggregates that a monoid computes in Python, value by value."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from functools import partial
from typing import Any, Protocol

import cloudpickle
import numpy as np
import polars as pl

from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.plan.aggregates import row_of
from ouzel.compiler.types import ArrayType, DataType, MapType, RowType
from ouzel.compiler.user_code import FAILURES, calls_of, describe_raised, users_line_in
from ouzel.errors import TopologyError
from ouzel.runtime.operators.buffers import Ints, Mask, Values
from ouzel.runtime.operators.keyed.accumulators import Accumulators, MakeBag, SlottedRows
from ouzel.runtime.operators.keyed.makers import accumulates
from ouzel.runtime.operators.rowwise.python_columns import ColumnMaker
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import take_values
from ouzel.runtime.state.table import SlotTable


class PlainMonoid(Protocol):
    """The part of a monoid that this module calls."""

    zero: Any
    inverse: Any
    name: str
    label: str
    advice: str

    def prepare(self, value: Any) -> Any:
        """The total of one value."""

    def plus(self, a: Any, b: Any) -> Any:
        """The total of two."""

    def present(self, total: Any) -> Any:
        """What a reader sees."""


@accumulates("python total")
def make_python_total(call: AggregateCall, argument: DataType | None, retracting: bool) -> Accumulators:
    """The totals of the monoid in the call's row of the registry."""
    assert argument is not None
    return PythonTotals(call, argument)


class PythonTotals(Accumulators):
    """A pickled total for each group that has one."""

    def __init__(self, call: AggregateCall, kind: DataType) -> None:
        super().__init__(call)
        self._kind = kind
        self._monoid: PlainMonoid = row_of(call).state.python  # type: ignore[assignment]  # its row says that it has one

    def declare(self, table: SlotTable, make_bag: MakeBag) -> None:
        self._totals = table.rows(f"of {self.call.name}", {"total": pl.Binary()})

    def fold(self, batch: SlottedRows, weights: Ints) -> None:
        rows = np.flatnonzero(weights)
        values = take_values(self._series(batch), rows).to_list()
        prepare = self._monoid.prepare
        parts = (prepare(from_storage(value, self._kind)) for value in values)
        self._add(batch.slots[rows], parts, weights[rows].tolist())

    def merge(self, batch: SlottedRows) -> None:
        totals = self._take_merged(batch, "total")
        rows = np.flatnonzero(totals.is_not_null().to_numpy())
        self._add(batch.slots[rows], map(pickle.loads, take_values(totals, rows).to_list()), [1] * len(rows))

    def export(self, slots: Slots) -> list[pl.Series]:
        return [self._totals.take_with_gaps(slots).to_series().alias(f"{self.call.name}$total")]

    def result(self, slots: Slots) -> Values:
        with self._blaming():
            seen = list(map(self._monoid.present, self._read(slots)))
        column, bad = column_of_totals(seen, self.call.type)
        return Values(self.call.type, column, refused=bad)

    def empty(self, slots: Slots) -> Mask:
        zero = self._monoid.zero
        return np.fromiter((total == zero for total in self._read(slots)), np.bool_, len(slots))

    def _read(self, slots: Slots) -> Iterable[Any]:
        for packed in self._totals.take_with_gaps(slots).to_series().to_list():
            yield self._monoid.zero if packed is None else pickle.loads(packed)

    def _add(self, slots: Slots, parts: Iterable[Any], weights: list[int]) -> None:
        """Add each part as often as its weight says, and take it back where that is negative.

        Raises:
            TopologyError: a function of the user's has raised.
        """
        if not slots.size:
            return
        with self._blaming():
            self._add_each(slots, parts, weights)

    def _blaming(self) -> AbstractContextManager[None]:
        called = self.call.name if self.call.row is None else self.call.row.name
        own = called == self._monoid.label  # a program's, whose label has a digest behind the name
        return blame_monoid(self._monoid.name if own else called, self._monoid.advice)

    def _add_each(self, slots: Slots, parts: Iterable[Any], weights: list[int]) -> None:
        plus, inverse = self._monoid.plus, self._monoid.inverse
        touched = np.unique(slots)
        totals = dict(zip(touched.tolist(), self._read(touched), strict=True))
        added: dict[int, list[Any]] = {slot: [] for slot in totals}
        for slot, part, weight in zip(slots.tolist(), parts, weights, strict=True):
            one = inverse(part) if weight < 0 else part
            added[slot] += [one, *(deepcopy(one) for _ in range(abs(weight) - 1))]  # `plus` may change what it is given
        for slot, of_slot in added.items():
            if of_slot:
                totals[slot] = plus(totals[slot], _sum_neighbours(plus, of_slot))
        packed = [_pack(totals[slot]) for slot in touched.tolist()]
        self._totals.put(touched, pl.DataFrame({"total": pl.Series(packed, dtype=pl.Binary)}))


@contextmanager
def blame_monoid(name: str, advice: str) -> Iterator[None]:
    """Inside, an error of a monoid's functions becomes a TopologyError that names the monoid, the error and the line.

    Raises:
        TopologyError: a function of the user's has raised.
    """
    try:
        yield
    except FAILURES as error:
        where = users_line_in(calls_of(error))
        told = f"the monoid {name} raised {describe_raised(error)}"
        told = f"{told} (at {where})" if where else told
        of_types = advice and isinstance(error, AttributeError | TypeError)
        raise TopologyError(f"{told}; {advice}" if of_types else told) from error


def _pack(total: Any) -> bytes:
    try:
        return pickle.dumps(total, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError):
        packed: bytes = cloudpickle.dumps(total)  # of a class of the user's program, which no process can import
        return packed


def _sum_neighbours(plus: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    """The total of parts, neighbours first, so that a large one is not copied for each small one."""
    while len(parts) > 1:
        pairs = [plus(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def column_of_totals(totals: list[Any], kind: DataType) -> tuple[pl.Series, Mask | None]:
    """A column of the presented totals, and the rows whose value it cannot hold, if there are any."""
    return ColumnMaker("", kind, partial(to_storage, kind=kind)).make(totals)


def from_storage(value: Any, kind: DataType) -> Any:
    """A value as Python has it: a ROW is a tuple, a MAP a dictionary."""
    match kind:
        case _ if value is None:
            return None
        case RowType(fields):
            return tuple(from_storage(value[name], inner) for name, inner in fields)
        case MapType(key, inner):
            return {from_storage(entry["key"], key): from_storage(entry["value"], inner) for entry in value}
        case ArrayType(inner):
            return [from_storage(item, inner) for item in value]
    return value


def to_storage(value: Any, kind: DataType) -> Any:
    """A value of Python's as storage has it; the entries of a map in the order of their keys."""
    match kind:
        case _ if value is None:
            return None
        case RowType(fields):
            return {name: to_storage(item, inner) for (name, inner), item in zip(fields, value, strict=True)}
        case MapType(key, inner):
            entries = [{"key": to_storage(k, key), "value": to_storage(v, inner)} for k, v in value.items()]
            return sorted(entries, key=lambda entry: (entry["key"] is not None, entry["key"]))
        case ArrayType(inner):
            return [to_storage(item, inner) for item in value]
    return value
