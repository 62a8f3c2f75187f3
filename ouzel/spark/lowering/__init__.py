"""The plan as the text of a PySpark program, in batch and as Structured Streaming. Nothing here runs it, or imports PySpark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.spark.lowering.job import run_job, spark_job

__all__ = ["run_job", "spark_job"]


def __getattr__(name: str) -> Any:
    """The compiler is needed only once somebody asks for a job: Spark's workers, which read `held`, have none."""
    if name in __all__:
        from ouzel.spark.lowering.job import run_job, spark_job

        return {"run_job": run_job, "spark_job": spark_job}[name]
    raise AttributeError(f"module 'ouzel.spark.lowering' has no attribute '{name}'")
