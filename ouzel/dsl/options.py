"""What a named step may be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepOptions:
    """What a named step may be told.

    Args:
        parallelism: how many tasks compute it, and what is fused with it.
    """

    parallelism: int
