"""Sessions that are only grouped by: groups by Spark's own `session_window`, so that no row has to be given the bounds of its session.

Of DISTINCT aggregates by `session_window` Spark 4.1 gives wrong sums, or an internal error: there each session is the group of the rows
that have the same number.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Cast, Column, Expression, GetField, columns_of
from ouzel.compiler.functions.spark import InSpark, column_name
from ouzel.compiler.plan import Aggregate, AggregateCall, AssignSession, Node, Project
from ouzel.compiler.plan.aggregates import is_distinct
from ouzel.compiler.sql.queries.scope import fresh
from ouzel.compiler.types import BIGINT, TIMESTAMP, Field, RowType, Schema
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.fuse_projections import fuse_projections
from ouzel.planner.rules.remove_trivial_projects import remove_trivial_projects
from ouzel.spark.lowering.batch_nodes import BATCH, SESSION, FrameNames, name_session, number_sessions, session_gap
from ouzel.spark.lowering.streaming_nodes import StreamingStep
from ouzel.spark.lowering.text import quote, spark_span

ReadColumns = dict[str, Expression]
"""What an aggregate reads, by the name of the column."""


@dataclass(frozen=True)
class NumberedSessions(StreamingStep):
    """The rows of a session window, each with the number of its session among those of its keys."""

    session: AssignSession

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, Field(SESSION, BIGINT)))

    @property
    def identity(self) -> tuple[object, ...]:
        return self.session.identity


@BATCH.add(NumberedSessions)
def _numbered_sessions(node: NumberedSessions, names: FrameNames) -> list[str]:
    return number_sessions(node.session)


@dataclass(frozen=True)
class SessionRows(StreamingStep):
    """The rows of a session window, of which the aggregate above makes sessions."""

    session: AssignSession

    @property
    def schema(self) -> Schema:
        return self.input.schema

    @property
    def identity(self) -> tuple[object, ...]:
        return self.session.identity


@BATCH.add(SessionRows)
def _session_rows(node: SessionRows, names: FrameNames) -> list[str]:
    return [name_session(node.session)]


def group_sessions(dag: Dag) -> Dag:
    """The plan whose aggregates by session make sessions themselves, where nothing else asks for the bounds of sessions.

    Bounds that each row is given cost two windows over each session, and groups by these bounds one more sort.
    """
    grouped = dag.rewritten(_group)
    return grouped if grouped == dag else remove_trivial_projects(fuse_projections(grouped))


def _group(node: Node, shared: Set[int]) -> Node:
    match node:
        case Aggregate(input=AssignSession() as session):
            computed: ReadColumns = {field.name: Column(field.type, field.name) for field in session.schema}
        case Aggregate(input=Project(input=AssignSession() as session)):
            computed = dict(node.input.items)  # type: ignore[attr-defined]
        case _:
            return node
    is_shared = not shared.isdisjoint((id(node.input), id(session)))
    if is_shared or not _groups_sessions(node, session, computed):
        return node
    by_number = not node.calls or any(map(is_distinct, node.calls))
    return (_by_number if by_number else _by_window)(node, session, computed)


def _groups_sessions(node: Aggregate, session: AssignSession, computed: ReadColumns) -> bool:
    """Whether it groups by the keys of the sessions and by both of their bounds, by nothing else, and reads no bound beside."""
    keys = sorted(_handed_on(computed[key]) for key in node.keys)
    read = frozenset[str]().union(*(columns_of(computed[name]) for call in node.calls for name in call.reads))
    return keys == sorted((*session.keys, *session.names[:2])) and read.isdisjoint(session.names)


def _handed_on(value: Expression) -> str:
    """The column that an expression is; of one that computes something no name of a column."""
    return value.name if isinstance(value, Column) else ""


def _by_window(node: Aggregate, session: AssignSession, computed: ReadColumns) -> Node:
    """The groups by Spark's own sessions, and above them the bounds, which are fields of these."""
    start, end, keys = _split_keys(node, session, computed)
    kind, name = (
        session.input.schema[session.column].type,
        fresh("session", [*computed, *node.schema.names], any_case=True),
    )
    window = RowType((("start", kind), ("end", kind)))
    text = f"F.session_window({quote(column_name(session.column))}, {quote(spark_span(session.gap_us))})"
    items = _list_read(node, keys, computed) | {name: InSpark(window, text)}
    below = Project(SessionRows(session.input, session), tuple(items.items()))
    groups = replace(node, input=below, keys=(*keys, name), window=None)
    bounds = (GetField(kind, Column(window, name), field) for field in ("start", "end"))
    return _show_bounds(node, groups, dict(zip((start, end), bounds, strict=True)))


def _by_number(node: Aggregate, session: AssignSession, computed: ReadColumns) -> Node:
    """The groups by number, and above them the bounds: from the first row to a gap after the last."""
    start, end, keys = _split_keys(node, session, computed)
    time, last = (fresh(name, [*computed, *node.schema.names]) for name in ("$time", "$last"))
    kind = session.input.schema[session.column].type
    items = _list_read(node, keys, computed)
    items |= {time: Column(kind, session.column), SESSION: Column(BIGINT, SESSION)}
    bounds = (AggregateCall(start, "min", time, kind), AggregateCall(last, "max", time, kind))
    below = Project(NumberedSessions(session.input, session), tuple(items.items()))
    groups = replace(node, input=below, keys=(*keys, SESSION), calls=(*bounds, *node.calls), window=None)
    over = InSpark(kind, f"F.col({quote(column_name(last))}) + {session_gap(session)}")
    return _show_bounds(node, groups, {start: Column(kind, start), end: over})


def _split_keys(node: Aggregate, session: AssignSession, computed: ReadColumns) -> tuple[str, str, tuple[str, ...]]:
    """What the groups call the start of a session and its end, and their other keys."""
    start, end = (next(key for key in node.keys if _handed_on(computed[key]) == name) for name in session.names[:2])
    return start, end, tuple(key for key in node.keys if key not in (start, end))


def _list_read(node: Aggregate, keys: Sequence[str], computed: ReadColumns) -> ReadColumns:
    read = {*keys, *(name for call in node.calls for name in call.reads)}
    return {name: value for name, value in computed.items() if name in read}


def _show_bounds(node: Aggregate, groups: Node, bounds: ReadColumns) -> Node:
    """The columns of the node, of which these two are computed of the groups."""
    shown: ReadColumns = {field.name: Column(field.type, field.name) for field in node.schema}
    shown |= {name: _without_zone(value) for name, value in bounds.items()}
    return Project(groups, tuple(shown.items()), written=node.written)


def _without_zone(time: Expression) -> Expression:
    """Bounds are TIMESTAMP, whatever the time of the rows is."""
    return time if time.type == TIMESTAMP else Cast(TIMESTAMP, time)
