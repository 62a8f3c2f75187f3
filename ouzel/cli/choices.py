"""What the command line lets one choose from."""

from __future__ import annotations

from enum import Enum


class Engine(Enum):
    """What runs a topology."""

    HERON = "heron"
    MEMORY = "memory"


class Format(Enum):
    """How the result of a trailing SELECT is printed."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"
    CHANGELOG = "changelog"
