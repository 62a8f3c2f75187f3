"""A period of time, and the query restricted to what happened in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import cast

from ouzel.compiler.catalog import GIVEN_ROWS
from ouzel.compiler.expressions import Call, Column, Literal
from ouzel.compiler.plan import Filter, Node, Program, Scan, Sink, WindowGrid, scans_in, walk
from ouzel.compiler.types import BOOLEAN, TIMESTAMP_LTZ, DataType
from ouzel.connectors import reads_of
from ouzel.connectors.options import timestamp_us
from ouzel.errors import NotSupported, QueryError
from ouzel.planner.rules.dag import Dag, with_inputs

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Period:
    """From a moment to just before another, in microseconds since the epoch, UTC; None is the beginning or the end of time."""

    from_us: int | None = None
    to_us: int | None = None

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return self != Period()

    def __str__(self) -> str:
        begin = "" if self.from_us is None else f"from {moment_text(self.from_us)}"
        end = "" if self.to_us is None else f"to just before {moment_text(self.to_us)}"
        return f"{begin} {end}".strip()


def read_period(begin: str | None, end: str | None) -> Period:
    """The period between two moments as people write them: ISO 8601, UTC unless they name a zone.

    Raises:
        QueryError: one is no moment, or nothing lies between them.
    """
    period = Period(_moment("--from", begin), _moment("--to", end))
    if period.from_us is not None and period.to_us is not None and period.from_us >= period.to_us:
        raise QueryError(f"nothing lies between --from {begin} and --to {end}", instead="write the earlier one first")
    return period


def _moment(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return timestamp_us(text)
    except (ValueError, OverflowError):
        raise QueryError(
            f"{option} cannot be '{text}'", instead="write a time such as 2024-01-31 or 2024-01-31T12:00:00, in UTC"
        ) from None


def moment_text(at_us: int) -> str:
    """ISO 8601 without a zone."""
    moment = EPOCH + timedelta(microseconds=at_us)
    return moment.isoformat(" ", "seconds" if at_us % 1_000_000 == 0 else "microseconds")


def program_within(program: Program, period: Period) -> Program:
    """The program over the period. Each table is cut by its event time; a Kafka table without one by the times of its records.

    A cut by event time is a filter behind the table, which Spark pushes into its readers. A cut by the times of records is a range of
    offsets: from the first record that is not older than the period to just before the first that is newer.

    Windows are whole: of one that reaches into the period all rows are read (see `widen_period`).

    Raises:
        NotSupported: a table has neither, or an operator compares rows with others (see Node.meets_other_rows).
    """
    if not period:
        return program
    met = dict.fromkeys(node.meets_other_rows for node in Dag(program.sinks).nodes() if node.meets_other_rows)
    if met:
        raise NotSupported(
            f"--from and --to of a query with {' and '.join(met)}: each table is cut by its own time, so rows near the cut lack the others",
            instead="leave them out, and say in a WHERE which rows of the answer to keep",
        )
    wanted = _find_wanted(program, period)
    nodes = list(Dag(program.sinks).nodes())
    times = {id(scan): mark.time_column for mark in nodes if mark.declares_time for scan in scans_in(walk(mark))}
    tables = {id(scan): _cut(scan, _widest(wanted[id(scan)]), times.get(id(scan))) for scan in scans_in(nodes)}
    made: dict[tuple[int, Period], Node] = {}
    for node in nodes:
        for part in wanted[id(node)]:
            inputs = tuple(made[id(below), _period_below(node, part)] for below in node.inputs)
            made[id(node), part] = tables.get(id(node)) or _within(with_inputs(node, inputs), part)
    return replace(program, sinks=tuple(cast(Sink, made[id(sink), period]) for sink in program.sinks))


def _within(node: Node, part: Period) -> Node:
    """The node restricted to that part. Each reader of a shared node gets its own copy, as a window reads more than others do."""
    if node.window_grid:
        return _reaching_into(node, node.window_grid, part)
    return between(node, node.time_column, part) if node.declares_time and node.time_column else node


def widen_period(program: Program, period: Period) -> Period:
    """The period that is read of the tables, so that each window that reaches into the period has all its rows."""
    wanted = _find_wanted(program, period)
    return reduce(_both, (_widest(wanted[id(scan)]) for scan in scans_in(Dag(program.sinks).nodes())), period)


def _find_wanted(program: Program, period: Period) -> dict[int, tuple[Period, ...]]:
    """For each node, by its id(), the parts of time that its readers need of its rows, each once."""
    wanted: dict[int, dict[Period, None]] = {id(sink): {period: None} for sink in program.sinks}
    for node in reversed(list(Dag(program.sinks).nodes())):
        for below in node.inputs:
            wanted.setdefault(id(below), {}).update({_period_below(node, part): None for part in wanted[id(node)]})
    return {key: tuple(parts) for key, parts in wanted.items()}


def _period_below(node: Node, part: Period) -> Period:
    """The part that a node must read of its inputs to give this one."""
    return _of_windows(node.window_grid, part) if node.window_grid else part


def _widest(parts: Sequence[Period]) -> Period:
    return reduce(_both, parts)


def _both(one: Period, other: Period) -> Period:
    """From the earlier beginning to the later end."""
    begin = None if one.from_us is None or other.from_us is None else min(one.from_us, other.from_us)
    return Period(begin, None if one.to_us is None or other.to_us is None else max(one.to_us, other.to_us))


def _of_windows(grid: WindowGrid, period: Period) -> Period:
    """From the beginning of the first window that reaches into the period to the end of the last."""
    begin, end = period.from_us, period.to_us
    if begin is not None:
        begin = min(begin, grid.first_start(begin))
    if end is not None:
        end = max(end, grid.last_end(end - 1))
    return Period(begin, end)


def _reaching_into(node: Node, grid: WindowGrid, period: Period) -> Node:
    """The node's windows that have some time in common with the period."""
    after = None if period.from_us is None else period.from_us + 1
    return between(between(node, grid.end, Period(after)), grid.start, Period(None, period.to_us))


def between(node: Node, name: str, period: Period) -> Node:
    """The node's rows whose column, a TIMESTAMP, lies in the period."""
    kind, made = node.schema[name].type, node
    for function, at in (("ge", period.from_us), ("lt", period.to_us)):
        if at is not None:
            bound = Literal(kind, _literal(at, kind))
            made = Filter(made, Call(BOOLEAN, function, (Column(kind, name), bound)))
    return made


def _literal(at_us: int, kind: DataType) -> datetime:
    moment = EPOCH + timedelta(microseconds=at_us)
    return moment.replace(tzinfo=UTC) if kind == TIMESTAMP_LTZ else moment


def _cut(scan: Scan, period: Period, time: str | None) -> Scan:
    """The table cut by the times of its records. If they are its event time, in the column `time`, only what is safe is cut.

    A row of constants belongs to every part of time.
    """
    if scan.traits == GIVEN_ROWS:
        return scan
    reads = reads_of(scan.connector, scan.table)
    if time is None and reads.between is None:
        raise NotSupported(
            f"table '{scan.table}' has no event time, so that --from and --to mean nothing for it",
            instead="declare one with WATERMARK FOR, or say with --offsets what to read",
        )
    if reads.between is None or (time is not None and dict(scan.metadata).get(time) != reads.record_time):
        return scan
    first, last = (None if at is None else moment_text(at) for at in (period.from_us, period.to_us))
    options = reads.between(dict(scan.options), first, last if time is None else None)
    return replace(scan, options=tuple(options.items()))
