"""STATE_TTL: how long the rows of a table are kept for a join.

Time is event time: a row is kept for so long after its own, and meets no row of a later time. So it is a condition of the join, and every
run, every replay and the batch job forget the same rows.
"""

from __future__ import annotations

import re
from datetime import timedelta

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.sql.places import place
from ouzel.compiler.sql.scope import Relation
from ouzel.compiler.sql.shells import read_hints
from ouzel.compiler.sql.source import QueryText, Span
from ouzel.compiler.sql.statements import HintPair
from ouzel.compiler.types import INTERVAL
from ouzel.errors import NotSupported, QueryError

HINT = "STATE_TTL"

_UNITS = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "m": 60_000, "s": 1_000, "ms": 1}


class StateTtl:
    """The STATE_TTL hints that stand in one statement; `used` are the places of those that bound a join."""

    def __init__(self, source: QueryText, scope: Span) -> None:
        self.source = source
        self._pairs = [pair for pair in read_hints(source) if pair.hint == HINT and scope[0] <= pair.span[0] < scope[1]]
        self.used: set[Span] = set()

    def conditions(self, join: exp.Join, left: Relation, right: Relation) -> tuple[Expression, ...]:
        """What the hints say of the rows of this join that meet; nothing if they name neither input.

        Raises:
            QueryError: they name one input, or no span of time.
            NotSupported: an input has no event time, or takes rows back.
        """
        pairs = [self._pair(relation) for relation in (left, right)]
        if not any(pairs):
            return ()
        if not all(pairs):
            told = next(pair for pair in pairs if pair)
            raise self.source.error(
                f"{HINT}('{told.name}' = '{told.value}') bounds one input of this JOIN, and the other would grow for ever",
                told.span,
                f"name the other too: {HINT}('{told.name}' = '{told.value}', ... = '{told.value}')",
            )
        (one, one_span), (other, other_span) = (
            (self._time(join, relation, pair), self._span(pair))
            for relation, pair in zip((left, right), pairs, strict=True)
            if pair
        )
        return (
            resolve_call("le", [other, resolve_call("add", [one, one_span])]),
            resolve_call("le", [one, resolve_call("add", [other, other_span])]),
        )

    def _pair(self, relation: Relation) -> HintPair | None:
        """The last hint that names a table of the relation."""
        names = {column.table.lower() for column in relation.columns}
        found = [pair for pair in self._pairs if pair.name.lower() in names]
        self.used |= {pair.span for pair in found}
        return found[-1] if found else None

    def _time(self, join: exp.Join, relation: Relation, pair: HintPair) -> Column:
        name = relation.node.time_column
        if name is None or relation.node.retracts:
            why = "its rows are taken back" if relation.node.retracts else "it has no event time"
            raise self.source.error(
                f"{HINT} of {pair.name} is not supported: {why}",
                place(join),
                "declare a WATERMARK in its CREATE TABLE, or leave the hint out",
                NotSupported,
            )
        return Column(relation.node.schema[name].type, name)

    def _span(self, pair: HintPair) -> Literal:
        found = re.fullmatch(r"(\d+)\s*(d|h|min|m|s|ms)", pair.value.strip().lower())
        if not found or not int(found[1]):
            raise self.source.error(
                f"'{pair.value}' is no span of time", pair.span, f"write '{pair.name}' = '1d', or h, min, s, ms"
            )
        return Literal(INTERVAL, timedelta(milliseconds=int(found[1]) * _UNITS[found[2]]))


def refuse_unused(source: QueryText, pair: HintPair) -> QueryError:
    """The error of a hint that bounds no join."""
    return source.error(
        f"{HINT}('{pair.name}' = '{pair.value}') bounds no JOIN of this statement",
        pair.span,
        "remove it; an aggregate is bounded by windows, or by SESSION where a key comes to rest",
    )
