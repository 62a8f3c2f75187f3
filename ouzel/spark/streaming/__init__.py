"""The query as a Structured Streaming job that runs: our connectors as streaming sources and sinks of Spark, behind the Handle of a run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.spark.streaming.run import start_structured
    from ouzel.spark.streaming.source import read_stream

__all__ = ["read_stream", "start_structured"]

_HOMES = {"read_stream": "ouzel.spark.streaming.source", "start_structured": "ouzel.spark.streaming.run"}


def __getattr__(name: str) -> Any:
    """PySpark is needed only once somebody asks for what runs on it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ouzel.spark.streaming' has no attribute '{name}'")
