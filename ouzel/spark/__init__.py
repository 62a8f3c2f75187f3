"""The query on Spark: the text of its job, what such a job imports, and the runs of it in batch and as a stream."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.spark.io.bad_records import BadRecords
    from ouzel.spark.io.functions import python_function
    from ouzel.spark.io.python_steps import python_steps, python_total
    from ouzel.spark.io.sink import write_table
    from ouzel.spark.io.source import read_table
    from ouzel.spark.session import start_spark

__all__ = ["BadRecords", "python_function", "python_steps", "python_total", "read_table", "start_spark", "write_table"]

_HOMES = {
    "BadRecords": "io.bad_records",
    "python_function": "io.functions",
    "python_steps": "io.python_steps",
    "python_total": "io.python_steps",
    "read_table": "io.source",
    "start_spark": "session",
    "write_table": "io.sink",
}


def __getattr__(name: str) -> Any:
    """PySpark is needed only once somebody asks for what uses it."""
    if name in _HOMES:
        return getattr(import_module(f"ouzel.spark.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'ouzel.spark' has no attribute '{name}'")
