"""EMIT: when the aggregates of a statement emit their results."""

from __future__ import annotations

from dataclasses import replace

from ouzel.compiler.plan import Aggregate, Emit, EmitRule, Gather, Node, walk
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.emit_clause import EmitClause
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.errors import NotSupported

_ADVICE = (
    "group by window_start and window_end of TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE); "
    "without a window a group changes with each of its rows: leave EMIT out"
)
_UNDATED = "rows that wait for EMIT AFTER DELAY have no event time any more: leave it out of the view"


class Emission:
    """The EMIT clause of a statement, and whether it spoke of anything."""

    def __init__(self, source: QueryText, clause: EmitClause | None) -> None:
        self.source, self.clause, self.aggregates = source, clause, 0

    @property
    def changes(self) -> bool:
        """Whether results leave before they are final, even those of windows."""
        return self.clause is not None and self.clause.emit.rule is not EmitRule.WATERMARK

    @property
    def late(self) -> bool:
        """Whether late rows go into a table."""
        return self.clause is not None and self.clause.late is not None

    def rule(self, windowed: bool) -> Emit:
        """When an aggregate emits: as EMIT says, else on the watermark with a window and at once without.

        Raises:
            QueryError: EMIT AFTER WATERMARK without a window: no watermark would ever end a group.
        """
        self.aggregates += 1
        if self.clause is None:
            return Emit(EmitRule.WATERMARK if windowed else EmitRule.CHANGES)
        if self.clause.closing and not windowed:
            raise self.source.error(
                "EMIT AFTER WATERMARK needs a window: without one a group never ends", self.clause.span, _ADVICE
            )
        return self.clause.emit

    def refuse_lateness(self, what: str) -> None:
        """Refuse WITH LATENESS for what waits for the watermark and keeps nothing of what it has let out.

        Raises:
            NotSupported: the clause says it.
        """
        if self.clause and self.clause.emit.lateness_us:
            raise self.source.error(
                f"EMIT AFTER WATERMARK WITH LATENESS of {what} is not supported",
                self.clause.span,
                "write EMIT CHANGES, or a later watermark: WATERMARK FOR ts AS ts - INTERVAL '1' HOUR",
                NotSupported,
            )

    def apply(self, relation: Relation) -> Relation:
        """The statement's relation, whose rows wait where no aggregate of it makes them wait.

        Raises:
            QueryError: EMIT AFTER WATERMARK where nothing waits for it.
            NotSupported: it waits, but not so.
        """
        if self.clause is None:
            return relation
        emit = self.clause.emit
        if emit.rule is EmitRule.DELAY and not _waits_for(relation.node, emit.delay_ms):
            return self._gather(relation)
        if not self.clause.closing or self.aggregates:
            return relation
        if not any(node.drops_late for node in walk(relation.node)):
            raise self.source.error(
                f"EMIT {EmitRule.WATERMARK.value} has nothing to hold back: nothing in this query waits for a watermark",
                self.clause.span,
                "remove it, or join within a span of time, or aggregate by windows",
            )
        self.refuse_lateness("a join")
        if relation.node.retracts:
            raise self.source.error(
                "EMIT AFTER WATERMARK of rows that are taken back is not supported",
                self.clause.span,
                "write it in the view that takes them back",
                NotSupported,
            )
        return relation

    def _gather(self, relation: Relation) -> Relation:
        assert self.clause is not None
        if self.clause.closing:
            raise self.source.error(
                "EMIT AFTER DELAY AND AFTER WATERMARK of what is no aggregate by windows is not supported",
                self.clause.span,
                "write one of them",
                NotSupported,
            )
        return replace(relation, node=Gather(relation.node, self.clause.emit.delay_ms), undated=_UNDATED)


def _waits_for(node: Node, delay_ms: int) -> bool:
    """Whether no row comes to the node but through aggregates that let changes out as rarely."""
    if isinstance(node, Aggregate) and node.emit.rule is EmitRule.DELAY and node.emit.delay_ms >= delay_ms:
        return True
    return bool(node.inputs) and all(_waits_for(below, delay_ms) for below in node.inputs)
