"""The plan as the text of a PySpark program, in batch and as Structured Streaming. Nothing here runs it, or imports PySpark."""

from ouzel.spark.lowering.job import run_job, spark_job

__all__ = ["run_job", "spark_job"]
