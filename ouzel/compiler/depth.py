"""How deep a query may be: one limit for what is nested in its text and in its plan, and room for the recursion that this needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

MOST_LEVELS = 100
"""Python reads the text of a job no deeper than twice this, and Spark's optimiser and a pickled plan have a stack to fit on."""
_FRAMES_A_LEVEL = 60


@contextmanager
def room_for_depth() -> Iterator[None]:
    """Let Python recurse as deep as a query of MOST_LEVELS needs, below where it is called."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MOST_LEVELS * _FRAMES_A_LEVEL))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
