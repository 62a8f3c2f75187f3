"""Session windows: a session ends when no row comes for a while."""

from __future__ import annotations

from dataclasses import dataclass, field

from ouzel.compiler.expressions import Expression, SourceLocation, columns_of
from ouzel.compiler.plan.base import Names
from ouzel.compiler.plan.distribution import Distribution, by_keys, single
from ouzel.compiler.plan.late import DropsLate
from ouzel.compiler.plan.rows import WEIGHTED, Changelog
from ouzel.compiler.plan.windows import AddsWindow


@dataclass(frozen=True)
class AssignSession(AddsWindow, DropsLate):
    """Append window_start, window_end and window_time (= window_end - 1 ms) of each row's session.

    Rows of equal `keys` are of one session if each comes at most `gap_us` after the one before: it begins with its first row, and ends
    that long after its last. A row is given when its session has ended; or, with `changes`, at once, and again in another session
    when that grows. A row is late if it could only be of a session that has ended. One whose time is NULL is a bad record.
    `call` is where the window was written, which is no part of what it is.
    """

    keys: tuple[str, ...]
    column: str
    gap_us: int
    changes: bool
    names: tuple[str, str, str] = ("window_start", "window_end", "window_time")
    call: SourceLocation | None = field(default=None, compare=False, repr=False)

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return ((wanted - set(self.names)) | {self.column, *self.keys},)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        """Only what drops whole keys: with a row gone a session may end earlier."""
        read = columns_of(predicate)
        return (predicate,) if read and read <= set(self.keys) else None

    window_grid = None
    is_rowwise = False
    meets_other_rows = "session windows"
    closes_windows = False
    drops_late = True

    @property
    def distribution(self) -> tuple[Distribution, ...]:
        return (
            by_keys(self.keys, single("sessions without PARTITION BY are all in one task", "partition them by a key")),
        )

    accepts = (WEIGHTED,)

    @property
    def changelog(self) -> Changelog:
        return Changelog.RETRACT if self.changes else Changelog.APPEND

    @property
    def unique_keys(self) -> frozenset[Names]:
        return self.input.unique_keys

    state_bound = "rows of sessions that go on"

    @property
    def component_name(self) -> str:
        names = [key for key in self.keys if not key.startswith("$")]
        return "_".join(("session", "by", *names)) if names else "session"

    @property
    def label(self) -> str:
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return f"AssignSession({self.column}, gap {self.gap_us / 1e6:g} s){by}{', each change' if self.changes else ''}"

    @property
    def identity(self) -> tuple[object, ...]:
        ids = self.input.column_ids
        return (tuple(ids[key] for key in self.keys), ids[self.column], self.gap_us, self.changes)

    def definition(self, column: str) -> tuple[object, ...]:
        return ("session", *self.identity, self.names.index(column))
