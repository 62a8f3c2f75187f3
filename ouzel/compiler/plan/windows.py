"""Windows of time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ouzel.compiler.plan.base import Node
from ouzel.compiler.types import TIMESTAMP, Field, Schema


class WindowKind(Enum):
    """How AssignWindow cuts time."""

    TUMBLE = "TUMBLE"
    HOP = "HOP"


@dataclass(frozen=True)
class AssignWindow(Node):
    """Append window_start, window_end and window_time (= window_end - 1 ms); HOP gives a row once for each window it lies in.

    Windows are half open, [start, end), and aligned to the epoch plus `offset_us`. All three spans are in microseconds; for TUMBLE
    slide = size. A row whose time is NULL belongs to no window and is a bad record.
    """

    input: Node
    kind: WindowKind
    column: str
    size_us: int
    slide_us: int
    offset_us: int = 0
    names: tuple[str, str, str] = ("window_start", "window_end", "window_time")

    @property
    def schema(self) -> Schema:
        kind = self.input.schema[self.column].type
        start, end, time = self.names
        added = (Field(start, TIMESTAMP, False), Field(end, TIMESTAMP, False), Field(time, kind, False))
        return Schema((*self.input.schema, *added))

    @property
    def time_column(self) -> str | None:
        return self.names[2]

    @property
    def label(self) -> str:
        slide = f", slide {self.slide_us / 1e6:g} s" if self.kind is WindowKind.HOP else ""
        return f"AssignWindow {self.kind.value}({self.column}, size {self.size_us / 1e6:g} s{slide})"
