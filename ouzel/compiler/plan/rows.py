"""What a node does to rows: to those that it gave before, and as far as a comparison of two answers can tell."""

from __future__ import annotations

from enum import Enum


class Changelog(Enum):
    """What a node's output may do to rows that it gave before: nothing, take them back (WEIGHT), or replace them by key."""

    APPEND = "appends"
    RETRACT = "retracts"
    UPSERT = "upserts"


class RowRole(Enum):
    """What a node does to rows, as far as a comparison of two answers can tell rows apart above it."""

    KEEPS = "each row is a row of its input, which has it at most once; its columns are computed of that row"
    GROUPS = "its keys tell its rows apart"
    MATCHES = "its rows are matches of rows of both inputs, which it keeps, and their keys tell what a lost row would have met"
    SINGLE = "a row of its input is in it once, or once for each window"
    REPEATS = "a row of its input may be in several rows"


APPENDS = frozenset({Changelog.APPEND})
WEIGHTED = frozenset({Changelog.APPEND, Changelog.RETRACT})
"""What a node can read that is right for every weight."""
