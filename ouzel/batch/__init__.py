"""The query as a PySpark job that runs: sessions, sources that Spark has no reader for, and what becomes of the answer."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.batch.bad_records import BadRecords
    from ouzel.batch.functions import python_function
    from ouzel.batch.sink import write_table
    from ouzel.batch.source import read_table

__all__ = ["BadRecords", "python_function", "read_table", "write_table"]

_MODULES = {"BadRecords": "bad_records", "python_function": "functions", "read_table": "source", "write_table": "sink"}


def __getattr__(name: str) -> Any:
    """PySpark is needed only once somebody asks for what reads with it."""
    if name in _MODULES:
        return getattr(import_module(f"ouzel.batch.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'ouzel.batch' has no attribute '{name}'")
