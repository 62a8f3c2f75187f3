"""A part of time, and the query over no more than what happened in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TypeVar

from ouzel.compiler.expressions import Call, Column, Literal
from ouzel.compiler.plan import AssignWindow, Filter, Join, Node, Over, Program, Scan, Watermark, walk
from ouzel.compiler.types import BOOLEAN, TIMESTAMP_LTZ, DataType
from ouzel.connectors import reads_of
from ouzel.connectors.options import timestamp_us
from ouzel.errors import NotSupported, QueryError
from ouzel.planner.rules.dag import Dag, with_inputs

EPOCH = datetime(1970, 1, 1)
N = TypeVar("N", bound=Node)


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

    Event time is a filter behind the table, which Spark hands to its own readers; of records, whole ranges of offsets are read: from the
    first that is not older than the period to just before the first that is newer.

    No window is cut: those that reach into the period are there, whole, and more is read for them (see `widen_period`).

    Raises:
        NotSupported: a table has neither, or its rows are seen beside others, in joins or OVER.
    """
    if not period:
        return program
    if any(isinstance(node, Join | Over) for node in Dag(program.sinks).nodes()):
        raise NotSupported(
            "--from and --to of a query with joins or OVER: each table is cut by its own time, so rows near the cut lack the others",
            instead="leave them out, and say in a WHERE which rows of the answer to keep",
        )
    wanted = _find_wanted(program, period)
    marked = {id(scan): mark for mark in _nodes(program, Watermark) for scan in walk(mark) if isinstance(scan, Scan)}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        made = with_inputs(node, inputs)
        if isinstance(made, Scan):
            return _cut(made, wanted[id(node)], marked.get(id(node)))
        if isinstance(made, AssignWindow):
            return _reaching_into(made, wanted[id(node)])
        return between(made, made.column, wanted[id(node)]) if isinstance(made, Watermark) else made

    return replace(program, sinks=Dag(program.sinks).rebuilt(make).sinks)


def widen_period(program: Program, period: Period) -> Period:
    """What is read of the tables, so that each window that reaches into the period has all its rows."""
    wanted = _find_wanted(program, period)
    return reduce(_both, (wanted[id(scan)] for scan in _nodes(program, Scan)), period)


def _find_wanted(program: Program, period: Period) -> dict[int, Period]:
    """Of each node, by its id(), the part of time that its readers need of what it gives."""
    wanted: dict[int, Period] = {}
    for node in reversed(list(Dag(program.sinks).nodes())):
        here = wanted.setdefault(id(node), period)
        needed = _of_windows(node, here) if isinstance(node, AssignWindow) else here
        for below in node.inputs:
            wanted[id(below)] = _both(wanted.get(id(below), needed), needed)
    return wanted


def _both(one: Period, other: Period) -> Period:
    """From the earlier beginning to the later end."""
    begin = None if one.from_us is None or other.from_us is None else min(one.from_us, other.from_us)
    return Period(begin, None if one.to_us is None or other.to_us is None else max(one.to_us, other.to_us))


def _of_windows(node: AssignWindow, period: Period) -> Period:
    """From the beginning of the first window that reaches into the period to the end of the last."""
    begin, end = period.from_us, period.to_us
    if begin is not None:
        begin = min(begin, _start_before(node, begin - node.size_us) + node.grid_us)
    if end is not None:
        end = max(end, _start_before(node, end - 1) + node.size_us)
    return Period(begin, end)


def _start_before(node: AssignWindow, at_us: int) -> int:
    """When the last window begins that begins then or before."""
    return at_us - (at_us - node.offset_us) % node.grid_us


def _reaching_into(node: AssignWindow, period: Period) -> Node:
    """Its windows that have some time in common with the period."""
    start, end, _ = node.names
    after = None if period.from_us is None else period.from_us + 1
    return between(between(node, end, Period(after)), start, Period(None, period.to_us))


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


def _cut(scan: Scan, period: Period, mark: Watermark | None) -> Scan:
    """The table by the times of its records: all of it if it has no event time, no more than is safe if that is its event time."""
    reads = reads_of(scan.connector, scan.table)
    if mark is None and reads.between is None:
        raise NotSupported(
            f"table '{scan.table}' has no event time, so that --from and --to mean nothing for it",
            instead="declare one with WATERMARK FOR, or say with --offsets what to read",
        )
    if reads.between is None or (mark is not None and dict(scan.metadata).get(mark.column) != reads.record_time):
        return scan
    first, last = (None if at is None else moment_text(at) for at in (period.from_us, period.to_us))
    options = reads.between(dict(scan.options), first, last if mark is None else None)
    return replace(scan, options=tuple(options.items()))


def _nodes(program: Program, kind: type[N]) -> list[N]:
    return [node for node in Dag(program.sinks).nodes() if isinstance(node, kind)]
