"""Lists as options have them: `day, hour`."""

from __future__ import annotations


def split_list(text: str) -> tuple[str, ...]:
    """The parts that commas part, without the spaces around them; empty ones are none."""
    return tuple(part for part in map(str.strip, text.split(",")) if part)
