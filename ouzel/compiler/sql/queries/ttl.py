"""STATE_TTL, and the setting state.ttl: how long rows are kept for a join, and a key that has no more rows.

Time is event time. A row is kept for so long after its own, and meets no row of a later time: a condition of the join. A key whose next
row comes later than that begins another life: its rows are grouped, ranked and numbered apart. So every run, every replay and the batch
job forget the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Lifetime, Node, Over, OverCall, Project, SortKey, bounds_nothing
from ouzel.compiler.plan.over import LIFE, UP_TO_PEERS
from ouzel.compiler.sql.expressions.literals import span_us
from ouzel.compiler.sql.queries.scope import Relation, fresh
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.shells import read_hints
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.sql.syntax.statements import HintPair
from ouzel.compiler.types import INTERVAL
from ouzel.errors import NotSupported, QueryError
from ouzel.spans import parse_span

HINT = "STATE_TTL"

SETTINGS = frozenset({"state.ttl", "state_ttl", "table.exec.state.ttl"})
"""The names of the setting; the last is Flink's."""


@dataclass(frozen=True)
class Forgetting:
    """How long a key of one SELECT is kept without a new row, by a hint or the setting; for ever without a pair."""

    ttl: StateTtl
    pair: HintPair | None

    def lifetime(self, node: Node) -> Lifetime | None:
        """The span of time, and the column of event time; None where the setting meets rows without event time.

        Raises:
            NotSupported: a hint speaks of rows without event time, or that are taken back.
        """
        if self.pair is None or (self.pair is self.ttl.setting and not _is_timed(node)):
            return None
        column = self.ttl.time(node, self.pair, self.pair.span)
        self.ttl.use(self.pair)
        return Lifetime(column.name, self.ttl.microseconds(self.pair))

    def living(self, node: Node, keys: Sequence[str]) -> tuple[Node, tuple[str, ...], Lifetime | None]:
        """Adds a column that tells the lives of a key apart. Gives the node, the keys with that column, and when a life ends."""
        lifetime = self.lifetime(node) if keys else None
        if lifetime is None:
            return node, tuple(keys), None
        life, kind = fresh(f"${LIFE}", node.schema.names), node.schema[lifetime.column].type
        call = OverCall(life, LIFE, None, kind, UP_TO_PEERS, lifetime.us, nullable=False)
        order = (SortKey(lifetime.column),)
        made = Over(node, tuple(keys), order, (), (call,), lifetime.column, lifetime=lifetime, written=node.written)
        return made, (*keys, life), lifetime

    def with_time(self, node: Node) -> Node:
        """The node with the event time of the input that it projects, if a pair asks for it and the projection left it out."""
        if self.pair is None or node.time_column or not isinstance(node, Project) or not node.input.time_column:
            return node
        time = node.input.time_column
        column = Column(node.input.schema[time].type, time)
        return replace(node, items=(*node.items, (fresh("$time", node.schema.names), column)))


class StateTtl:
    """The STATE_TTL hints of one statement, and the `setting`; `used` are the places of the hints that had an effect."""

    def __init__(self, source: QueryText, scope: Span, setting: HintPair | None = None) -> None:
        self.source, self.setting = source, setting
        self._pairs = [pair for pair in read_hints(source) if pair.hint == HINT and scope[0] <= pair.span[0] < scope[1]]
        self.used: set[Span] = set()

    def of_keys(self, tree: exp.Select, relation: Relation) -> Forgetting:
        """The time for the keys of a SELECT. Of a SELECT over a join only a hint in a SELECT around it says that."""
        return Forgetting(self, (None if tree.args.get("joins") else self._pair(relation)) or self.setting)

    def conditions(self, join: exp.Join, left: Relation, right: Relation) -> tuple[Expression, ...]:
        """The conditions of time on rows of this join; none if no hint names an input, or the setting cannot bound the join.

        Raises:
            QueryError: a hint names one input, or no span of time.
            NotSupported: an input has no event time, or takes rows back.
        """
        pairs = [self._pair(relation) for relation in (left, right)]
        if not any(pairs):
            if self.setting is None or not (_is_timed(left.node) and _is_timed(right.node)):
                return ()
            pairs = [self.setting, self.setting]
        if not all(pairs):
            told = next(pair for pair in pairs if pair)
            raise self.source.error(
                f"{HINT}('{told.name}' = '{told.value}') bounds one input of this JOIN, and the other would grow for ever",
                told.span,
                f"name the other too: {HINT}('{told.name}' = '{told.value}', ... = '{told.value}')",
            )
        (one, one_span), (other, other_span) = (
            (self.time(relation.node, pair, place(join)), self._span(pair))
            for relation, pair in zip((left, right), pairs, strict=True)
            if pair
        )
        for pair in filter(None, pairs):
            self.use(pair)
        return (
            resolve_call("le", [other, resolve_call("add", [one, one_span])]),
            resolve_call("le", [one, resolve_call("add", [other, other_span])]),
        )

    def use(self, pair: HintPair) -> None:
        """Mark a hint as used, and those before it that name the same table."""
        self.used |= {one.span for one in self._pairs if one.name == pair.name}

    def time(self, node: Node, pair: HintPair, at: Span) -> Column:
        """The event time of the input that the pair names.

        Raises:
            NotSupported: it has none, or its rows are taken back.
        """
        if not _is_timed(node):
            why = "its rows are taken back" if node.retracts else "it has no event time"
            raise self.source.error(
                f"{HINT} of {pair.name} is not supported: {why}",
                at,
                "leave the hint out, or write it where rows only come"
                if node.retracts
                else "declare a WATERMARK in its CREATE TABLE, or leave the hint out",
                NotSupported,
            )
        assert node.time_column is not None
        return Column(node.schema[node.time_column].type, node.time_column)

    def microseconds(self, pair: HintPair) -> int:
        """The hint's span of time, in microseconds."""
        return duration_us(self.source, pair)

    def _pair(self, relation: Relation) -> HintPair | None:
        """The last hint that names a table of the relation."""
        names = {column.table.lower() for column in relation.columns}
        found = [pair for pair in self._pairs if pair.name.lower() in names]
        return found[-1] if found else None

    def _span(self, pair: HintPair) -> Literal:
        return Literal(INTERVAL, timedelta(microseconds=self.microseconds(pair)))


def _is_timed(node: Node) -> bool:
    return node.time_column is not None and not node.retracts


def duration_us(source: QueryText, pair: HintPair) -> int:
    """A span of time such as '1d' or '30 min', in microseconds.

    Raises:
        QueryError: the text is none.
    """
    us = parse_span(pair.value)
    if us is None:
        advice = f"write '{pair.name or min(SETTINGS)}' = '1d', or h, min, s, ms"
        raise source.error(f"'{pair.value}' is no span of time", pair.span, advice)
    return span_us(source, us, pair.span)


def setting_of(source: QueryText, pairs: Iterable[tuple[str, str, Span]]) -> HintPair | None:
    """The setting state.ttl among settings with their places, the last winning; None if it is not there, or 0.

    Raises:
        QueryError: it is no span of time.
    """
    told = [HintPair(HINT, "", value, span) for key, value, span in pairs if key in SETTINGS]
    if not told or bounds_nothing(told[-1].value):
        return None
    duration_us(source, told[-1])
    return told[-1]


def refuse_unused(source: QueryText, pair: HintPair) -> QueryError:
    """The error of a hint without effect."""
    return source.error(
        f"{HINT}('{pair.name}' = '{pair.value}') bounds nothing: no JOIN of this table, and no GROUP BY, DISTINCT or OVER by keys of it",
        pair.span,
        "remove it, or name the table or alias in FROM of the SELECT that groups; of DISTINCT ON make QUALIFY ROW_NUMBER() OVER (...) = 1",
    )
