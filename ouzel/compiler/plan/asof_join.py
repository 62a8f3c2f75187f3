"""Joins with a version of each key: the latest that there was at a row's time."""

from __future__ import annotations

from dataclasses import dataclass, field

from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan.base import Names
from ouzel.compiler.plan.joins import Join
from ouzel.compiler.plan.late import DropsLate
from ouzel.compiler.plan.rows import APPENDS, Changelog, RowRole
from ouzel.compiler.types import ArrayType, MapType, RowType


@dataclass(frozen=True)
class AsofJoin(Join, DropsLate):
    """Each row of the left with that row of the right of its key which is the latest at its time, or, if `before`, before it.

    `times` are the event times of both. Of several rows of one time it is the greatest by the right's other columns, in their order, NULL
    first, without arrays, maps and rows. An inner or a left join, without `condition`. A row waits for the right's watermark to pass it, so
    the output only appends; a row of either input that is older than that input's watermark is late.
    """

    times: tuple[str, str] = field(kw_only=True)
    before: bool = field(kw_only=True, default=False)

    @property
    def ordering(self) -> tuple[str, ...]:
        """The right's columns by which the last is chosen, but for its key."""
        nested, known = (ArrayType, MapType, RowType), {self.times[1], *(other for _, other in self.keys)}
        rest = [one.name for one in self.right.schema if one.name not in known and not isinstance(one.type, nested)]
        return (self.times[1], *rest)

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        """All columns of the right: any of them may decide between versions of one time."""
        left, _ = super().needs(wanted | {self.times[0]})
        return left, frozenset(self.right.schema.names)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """Only what concerns the left: a filter on the right would let an earlier version be the latest."""
        return (predicate, None) if columns_of(predicate) <= frozenset(self.left.schema.names) else None

    takes_conditions = False
    """With one more an earlier version would be the latest that meets it."""

    role = RowRole.REPEATS
    waits = (True, True)
    drops_late = True

    @property
    def time_column(self) -> str | None:
        return self.left.time_column

    accepts = (APPENDS, APPENDS)

    @property
    def changelog(self) -> Changelog:
        return Changelog.APPEND

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.left.unique_keys

    @property
    def state_bound(self) -> str:
        return "one version per key, and later ones and rows until the watermark passes them"

    @property
    def label(self) -> str:
        left, right = self.times
        return f"Asof{super().label}, the latest with {right} {'<' if self.before else '<='} {left}"

    @property
    def identity(self) -> tuple[object, ...]:
        left, right = self.times
        return (*super().identity, self.left.column_ids[left], self.right.column_ids[right], self.before)
