"""ApplyPython: the user's functions on batches. What they raise, or give in a type that they have not said, refuses its record."""

from __future__ import annotations

import json
import linecache
import traceback
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np
import polars as pl

from ouzel.callers import FILE
from ouzel.compiler.misfits import describe_misfit
from ouzel.compiler.plan import ApplyPython, NoneGiven, PythonStep, StepKind
from ouzel.compiler.raised import advise_of_error
from ouzel.compiler.records import reader, writer
from ouzel.compiler.user_code import (
    FAILURES,
    calls_of,
    describe_raised,
    sayable,
    users_line_in,
)
from ouzel.connectors.formats.far_times import python_values
from ouzel.errors import TopologyError
from ouzel.planner.metrics import counting
from ouzel.runtime.operators.base import Operator, RefusedRow
from ouzel.runtime.operators.buffers import Ints, Mask
from ouzel.runtime.operators.rowwise.python_columns import ColumnMaker
from ouzel.runtime.operators.rowwise.python_loop import Loop, write_loop
from ouzel.runtime.operators.rowwise.rows import weight_of


class PythonSteps(Operator):
    """Calls Python for each record."""

    def __init__(self, node: ApplyPython) -> None:
        super().__init__()
        names = node.gives.schema.names
        self.node, self._names = node, names
        self._makes = tuple(place for place, name in enumerate(names) if name not in node.kept)
        self._kept = [name for name in names if name in node.kept]
        self._readers = [reader(hint, one.type) for one, hint in zip(node.takes.columns, node.takes.hints, strict=True)]
        self._columns = [
            ColumnMaker(one.name, one.type, writer(hint, one.type))
            for one, hint in zip(node.gives.columns, node.gives.hints, strict=True)
        ]
        self._loops: dict[bool, Loop] = {}
        self.calls = tuple(f"{step.called} (at {step.place})" for step in node.steps)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """What the steps make of the records, with the columns that stay beside it."""
        with counting(self.counters.own):
            return self._compute(frame)

    def _compute(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        stay = [*self._kept, *self.node.carries, *weight_of(frame)]
        if self.node.steps[0].by_columns:
            return self._by_columns(frame, stay)
        loop = self._loop(bool(stay))
        made, ends, lost = loop.run(
            [self._read(frame, place) for place in loop.reads],
            lambda error, variables: self._refuse(error, variables, loop),
        )
        rows = _sources(frame.height, ends, lost) if stay else None
        return self._frame(frame, stay, made, rows)

    def _loop(self, counts: bool) -> Loop:
        if counts not in self._loops:
            node = self.node
            self._loops[counts] = write_loop(node.steps, node.takes, node.gives, self._makes, counts)
        return self._loops[counts]

    def _read(self, frame: pl.DataFrame, place: int) -> list[Any]:
        values = python_values(frame[self.node.reads[place]])
        read = self._readers[place]
        return values if read is None else list(map(read, values))

    def _frame(
        self, frame: pl.DataFrame, stay: list[str], made: list[list[Any]], rows: Ints | None
    ) -> pl.DataFrame | None:
        """The columns that were made and those that stay; records of another type than was said are refused."""
        columns, bad = dict[str, pl.Series](), np.zeros(len(made[0]) if made else 0, np.bool_)
        for place, values in zip(self._makes, made, strict=True):
            columns[self._names[place]], unfit = self._columns[place].make(values)
            bad = bad if unfit is None else bad | unfit
        if bad.any():
            self._refuse_made(made, bad)
            columns = {name: column.filter(~bad) for name, column in columns.items()}
            rows = rows if rows is None else rows[~bad]
        if rows is not None:
            whole = len(rows) == frame.height and bool((rows == np.arange(len(rows))).all())
            kept = frame.select(stay) if whole else frame.select(stay)[rows]
            columns |= {name: kept[name] for name in stay}
        order = (*self._names, *stay[len(self._kept) :])
        return pl.DataFrame([columns[name] for name in order])

    def _refuse(self, error: BaseException, variables: dict[str, Any], loop: Loop) -> None:
        frames = calls_of(error)
        called = [loop.lines[one.lineno] for one in frames if one.filename == FILE and one.lineno in loop.lines]
        step, names = called[0] if called else (self.node.steps[0], ())
        given = [variables[name] for name in names]
        self.counters.refused += 1
        failed = describe_failure(step, error, frames, given[0] if len(given) == 1 else given)
        self.refused.append(RefusedRow(*failed, in_python=True))

    def _refuse_made(self, made: list[list[Any]], bad: Mask) -> None:
        last = next(step for step in reversed(self.node.steps) if step.makes)
        made_columns = [self.node.gives.columns[place] for place in self._makes]
        wanted = ", ".join(map(str, made_columns))
        for row in np.flatnonzero(bad):
            record = {self._names[place]: values[row] for place, values in zip(self._makes, made, strict=True)}
            reason = f"{last.called} gave what does not fit ({wanted}), the type that it has; at {last.place}"
            misfit = describe_misfit(made_columns, record.values())
            reason += f"; {misfit}" if misfit else ""
            self.refused.append(RefusedRow(reason, _json(record), in_python=True))
            self.counters.refused += 1

    def _by_columns(self, frame: pl.DataFrame, stay: list[str]) -> pl.DataFrame | None:
        (step,) = self.node.steps
        names = {"key": self.node.reads[:1], "value": self.node.reads[1:]}.get(step.part.value, self.node.reads)
        made = _call(step, [frame[name] for name in names], frame.height)
        rows: Ints = np.arange(frame.height)
        if step.kind is StepKind.FILTER:
            rows = np.flatnonzero(made[0].cast(pl.Boolean).fill_null(False).to_numpy())
            made = []
        elif step.kind is StepKind.FLAT_MAP:
            sizes = made[0].list.len().fill_null(0).to_numpy()
            made = [one.explode(empty_as_null=False, keep_nulls=False) for one in made]
            rows = np.repeat(np.arange(frame.height), sizes)
        columns = {
            self._names[place]: one.cast(self._columns[place].dtype).alias(self._names[place])
            for place, one in zip(self._makes, made, strict=True)
        }
        columns |= {name: frame[name][rows] for name in stay}
        return pl.DataFrame([columns[name] for name in (*self._names, *stay[len(self._kept) :])])


def _sources(height: int, ends: list[int] | None, lost: list[int]) -> Ints:
    """Of each record that was made, the row that it came of."""
    if ends is None:
        return np.delete(np.arange(height), lost)
    return np.repeat(np.arange(height), np.diff(np.asarray([0, *ends])).astype(np.int64))


def _call(step: PythonStep, given: Sequence[pl.Series], rows: int) -> list[pl.Series]:
    """The series that a function of columns gives.

    Raises:
        TopologyError: it raised, or gave something else than series of as many rows.
    """
    try:
        made = step.function(*given)
    except FAILURES as error:
        where = users_line_in(calls_of(error)) or step.place
        raise TopologyError(f"{step.called} raised {describe_raised(error)} (at {where})") from error
    series = list(made) if isinstance(made, tuple) else made.get_columns() if isinstance(made, pl.DataFrame) else [made]
    if not all(isinstance(one, pl.Series) and len(one) == rows for one in series):
        gave = ", ".join(
            f"{len(one)} values" if isinstance(one, pl.Series) else f"a {type(one).__name__}" for one in series
        )
        raise TopologyError(
            f"{step.called} (at {step.place}) has to give Polars series of as many values as there are rows, {rows}, and gave {gave}; "
            "of flat_map each value is a list"
        )
    return series


def describe_failure(
    step: PythonStep, error: BaseException, frames: traceback.StackSummary, record: object
) -> tuple[str, str, str]:
    """Why a record is refused, the record as JSON, and the user's line."""
    declared = step.declared if isinstance(error, NoneGiven) else None
    where = declared.place if declared else users_line_in(frames) or step.place
    path, _, number = where.rpartition(":")
    line = linecache.getline(path, int(number)).strip() if number.isdigit() else ""
    told = declared or f"raised {describe_raised(error)} (at {where})"
    reason = f"{step.called} {told}"
    shown = (
        f"  {line}" if line else "",
        declared.instead if declared else advise_of_error(error, step.function, step.called, record),
    )
    return reason, _json(record), "\n".join(one for one in shown if one)


def _json(record: object) -> str:
    """The record as JSON; what has no such form, as Python shows it."""
    try:
        return sayable(json.dumps(record, default=_plain, ensure_ascii=False))
    except FAILURES:  # a key that is no text, a record that holds itself, a method of the user's that raises
        return sayable(json.dumps(_show(record), ensure_ascii=False))


def _plain(value: object) -> object:
    return vars(value) if is_dataclass(value) else str(value)


def _show(record: object) -> str:
    try:
        return repr(record)
    except FAILURES as error:
        return f"<{type(record).__name__}, whose __repr__ raised {type(error).__name__}>"
