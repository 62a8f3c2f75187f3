"""What tasks tell the driver beside their rows, put together by key: a task that runs again tells nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyspark.accumulators import AccumulatorParam

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

Key = TypeVar("Key")
Value = TypeVar("Value")


class _Together(AccumulatorParam[dict[Key, Value]]):  # type: ignore[misc]
    def zero(self, value: dict[Key, Value]) -> dict[Key, Value]:
        return {}

    def addInPlace(self, value1: dict[Key, Value], value2: dict[Key, Value]) -> dict[Key, Value]:
        value1.update(value2)
        return value1


def accumulator(spark: SparkSession) -> Accumulator[dict[Key, Value]]:
    """An empty dictionary that tasks add to."""
    return spark.sparkContext.accumulator({}, _Together())
