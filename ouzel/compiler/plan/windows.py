"""Windows of time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from ouzel.compiler.expressions import Expression, SourceLocation, columns_of
from ouzel.compiler.plan.base import Names, RowWise, Unary, identity_origins
from ouzel.compiler.plan.rows import RowRole
from ouzel.compiler.plan.window_grid import WindowGrid, lay_grid
from ouzel.compiler.types import TIMESTAMP, Field, Schema


class WindowKind(Enum):
    """How AssignWindow cuts time; or, for SESSION, AssignSession."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


SLIDES = {WindowKind.HOP: "slide", WindowKind.CUMULATE: "step"}
"""What the slide is called where it is not the size."""


class AddsWindow(Unary):
    """Base: appends `names`, the start, end and time of the window that a row's time, in `column`, lies in."""

    column: str
    names: tuple[str, str, str]

    @property
    def schema(self) -> Schema:
        kind = self.input.schema[self.column].type
        start, end, time = self.names
        added = (Field(start, TIMESTAMP, False), Field(end, TIMESTAMP, False), Field(time, kind, False))
        return Schema((*self.input.schema, *added))

    @property
    def origins(self) -> Mapping[str, tuple[int, str]]:
        return identity_origins(self)

    @property
    @abstractmethod
    def window_grid(self) -> WindowGrid | None: ...

    role = RowRole.SINGLE
    waits = (True,)
    calls_python = False

    @property
    def time_column(self) -> str | None:
        return self.names[2]


@dataclass(frozen=True)
class AssignWindow(AddsWindow, RowWise):
    """Append window_start, window_end and window_time (= window_end - 1 ms); HOP and CUMULATE give a row once for each window it lies in.

    Windows are half open, [start, end), and aligned to the epoch plus `offset_us`. All three spans are in microseconds; for TUMBLE
    slide = size. CUMULATE's windows of one start end one slide after the other, the last with the size.
    With a `zone` spans and offset are whole days and times that its clocks show (see LocalDays); the columns that are added are UTC.
    A row whose time is NULL belongs to no window and is a bad record.
    `call` is where the window was written, which is no part of what it is.
    """

    kind: WindowKind
    column: str
    size_us: int
    slide_us: int
    offset_us: int = 0
    names: tuple[str, str, str] = ("window_start", "window_end", "window_time")
    zone: str = ""
    call: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def grid_us(self) -> int:
        """How far apart windows begin."""
        return self.size_us if self.kind is WindowKind.CUMULATE else self.slide_us

    @property
    def window_grid(self) -> WindowGrid:
        start, end, _ = self.names
        spans = self.size_us, self.slide_us, self.grid_us, self.offset_us
        return lay_grid(*spans, zone=self.zone, start=start, end=end)

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        return ((wanted - set(self.names)) | {self.column},)

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return (predicate,) if columns_of(predicate).isdisjoint(self.names) else None

    @property
    def label(self) -> str:
        slide = f", {SLIDES[self.kind]} {self.slide_us / 1e6:g} s" if self.kind in SLIDES else ""
        zone = f", {self.zone}" if self.zone else ""
        return f"AssignWindow {self.kind.value}({self.column}, size {self.size_us / 1e6:g} s{slide}{zone})"

    @property
    def unique_keys(self) -> frozenset[Names]:
        if self.kind is WindowKind.TUMBLE:
            return self.input.unique_keys
        told_by = {self.names[1 if self.kind is WindowKind.CUMULATE else 0]}
        if self.zone:  # windows of days that a zone skipped begin, or end, where others do
            told_by = set(self.names[:2])
        return frozenset(key | told_by for key in self.input.unique_keys)

    @property
    def identity(self) -> tuple[object, ...]:
        column = self.input.column_ids[self.column]
        zone = (self.zone,) if self.zone else ()
        return (self.kind, column, self.size_us, self.slide_us, self.offset_us, *zone)

    def definition(self, column: str) -> tuple[object, ...]:
        return ("window", *self.identity, self.names.index(column))
