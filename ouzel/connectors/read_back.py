"""Where what a sink has written can be had again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ReadBack:
    """Where the rows that a run has written can be read back, with the same connector and `format`.

    Args:
        parts: from the options and the run (empty is any run) to a glob of the files.
        weight: the column in which a table that changes holds +1 and -1.
    """

    parts: Callable[[Mapping[str, str], str], str]
    weight: str
