"""How long a key lives: what is kept of it goes when it has had no row for a while."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


def bounds_nothing(span: str) -> bool:
    """Whether a span of time, as the setting state.ttl says it, is none or 0: then everything is kept, as in Flink."""
    return re.fullmatch(r"(0+\s*[a-z]*)?", span.strip().lower()) is not None


@dataclass(frozen=True)
class Lifetime:
    """A key is forgotten when the watermark has passed the latest time of its rows, which is in `column`, by `us`.

    Nothing that comes later is of the same key, for the lives of a key are told apart by when they began (LIFE in `over.py`).
    """

    column: str
    us: int

    def identity(self, ids: Mapping[str, str]) -> tuple[object, ...]:
        """What tells it from another, its column by its id."""
        return ("lifetime", ids[self.column], self.us)

    def __str__(self) -> str:
        return f"until it has had no row for {self.us / 1e6:g} s"
