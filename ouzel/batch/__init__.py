"""The query as a PySpark job that runs: sessions, sources that Spark has no reader for, and what becomes of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.batch.source import read_table

__all__ = ["read_table"]


def __getattr__(name: str) -> Any:
    """PySpark is needed only once somebody asks for what reads with it."""
    if name == "read_table":
        from ouzel.batch.source import read_table

        return read_table
    raise AttributeError(f"module 'ouzel.batch' has no attribute '{name}'")
