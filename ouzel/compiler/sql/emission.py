"""EMIT: when the aggregates of a statement emit their results."""

from __future__ import annotations

from ouzel.compiler.plan import Emit, EmitRule
from ouzel.compiler.sql.queries import EmitClause
from ouzel.compiler.sql.source import QueryText
from ouzel.errors import NotSupported

_ADVICE = "group by window_start and window_end of TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE), or write EMIT CHANGES"


class Emission:
    """The EMIT clause of a statement, and whether it spoke of anything."""

    def __init__(self, source: QueryText, clause: EmitClause | None) -> None:
        self.source, self.clause, self.aggregates = source, clause, 0

    @property
    def changes(self) -> bool:
        """Whether results leave before they are final, even those of windows."""
        return self.clause is not None and self.clause.emit.rule is not EmitRule.WATERMARK

    def rule(self, windowed: bool) -> Emit:
        """When an aggregate emits: as EMIT says, else on the watermark with a window and at once without.

        Raises:
            QueryError: EMIT AFTER WATERMARK without a window: no watermark would ever end a group.
        """
        self.aggregates += 1
        if self.clause is None:
            return Emit(EmitRule.WATERMARK if windowed else EmitRule.CHANGES)
        if self.clause.emit.rule is EmitRule.WATERMARK and not windowed:
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

    def check(self) -> None:
        """Refuse an EMIT that changes nothing.

        Raises:
            QueryError: EMIT AFTER ... in a query without an aggregate of its own.
        """
        if self.clause and not self.aggregates and self.clause.emit.rule is not EmitRule.CHANGES:
            raise self.source.error(
                f"EMIT {self.clause.emit.rule.value} has nothing to hold back: this query has no aggregate of its own",
                self.clause.span,
                "remove it, or write it in the view that aggregates",
            )
