"""Joins that time bounds: what matches a row lies within a span of event time around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ouzel.compiler.expressions import Expression, columns_of, conjunction
from ouzel.compiler.plan.base import Names
from ouzel.compiler.plan.joins import LEFT_ONLY, Join, JoinKind, RowTime
from ouzel.compiler.plan.late import DropsLate
from ouzel.compiler.plan.rows import APPENDS, Changelog, RowRole


@dataclass(frozen=True)
class IntervalJoin(Join, DropsLate):
    """A Join whose rows match only if `times` of the left minus that of the right is within `bounds`, both included, in microseconds.

    `within` are the conjuncts of the condition that say so, and no part of `condition`; None where an equality among the keys says it.
    With `windows` these are windows, and the rows of equal ones are joined.

    A row waits until the other input's watermark says that nothing will match it any more; then it is forgotten, and said to be alone if
    it was. So the output only appends. A row older than its own input's watermark is late: what matches it may have been forgotten. A row
    of the output may be as far behind the watermark as times can be apart, by either input's time; so the output's watermark is behind too.
    """

    times: tuple[RowTime, RowTime] = field(kw_only=True)
    bounds: tuple[int, int] = field(kw_only=True)
    within: Expression | None = field(kw_only=True, default=None)
    windows: bool = field(kw_only=True, default=False)

    @property
    def row_times(self) -> tuple[RowTime, ...]:
        return () if self.kind in LEFT_ONLY else self.times

    @property
    def delay_us(self) -> int:
        """How far the output's watermark is behind: a row may be so much older, and as old as the watermark itself."""
        low, high = self.bounds
        return max(0, -low, high) + 1

    @property
    def whole_condition(self) -> Expression | None:
        """`within` and `condition`."""
        parts = [part for part in (self.within, self.condition) if part is not None]
        return conjunction(parts) if parts else None

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        read = {time.column for time in self.times} | (columns_of(self.within) if self.within is not None else set())
        return super().needs(wanted | read)

    role = RowRole.MATCHES
    waits = (True, True)
    drops_late = True

    @property
    def time_column(self) -> str | None:
        """The left's, where each row has one."""
        return None if self.kind is JoinKind.FULL else self.left.time_column

    accepts = (APPENDS, APPENDS)

    @property
    def changelog(self) -> Changelog:
        return Changelog.APPEND

    @property
    def state_bound(self) -> str:
        if self.windows:
            return "rows of open windows"
        low, high = self.bounds
        return f"rows of the last {(high - low) / 1e6:g} s"

    @property
    def label(self) -> str:
        kind = "Window" if self.windows else "Interval"
        low, high = (f"{bound / 1e6:g} s" for bound in self.bounds)
        left, right = (time.column for time in self.times)
        within = "" if self.windows else f", {left} - {right} in [{low}, {high}]"
        return f"{kind}{super().label}{within}"

    @property
    def identity(self) -> tuple[object, ...]:
        ids = {**self.left.column_ids, **self.right.column_ids}
        times = tuple((ids[time.column], time.shift_us) for time in self.times)
        return (*super().identity, times, self.bounds)
