"""Changes that leave now and then."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import Names, SameColumns
from ouzel.compiler.plan.distribution import single
from ouzel.compiler.plan.rows import WEIGHTED, RowRole


@dataclass(frozen=True)
class Gather(SameColumns):
    """EMIT AFTER DELAY of what is no aggregate: rows wait for `delay_ms`, by the clock, and those that cancel each other never leave.

    One task does it, so that of a row that moves between the tasks below only the last leaves. Rows may leave after the watermark has
    passed them, so that they have no event time any more.
    """

    delay_ms: int

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return (wanted,)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate,)

    role = RowRole.KEEPS
    is_rowwise = False
    meets_other_rows = ""
    closes_windows = False
    drops_late = False
    calls_python = False
    distribution = (single("rows that wait together cancel each other only in one task"),)
    waits = (False,)
    accepts = (WEIGHTED,)
    component_name = "gather"

    @property
    def time_column(self) -> str | None:
        return None

    @property
    def state_bound(self) -> str:
        return f"changes of {self.delay_ms / 1000:g} s"

    @property
    def held_back_ms(self) -> int:
        return self.delay_ms

    @property
    def label(self) -> str:
        return f"Gather for {self.delay_ms} ms"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.delay_ms,)
