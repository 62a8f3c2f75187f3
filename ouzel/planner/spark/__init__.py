"""The same question as a PySpark job in batch."""

from ouzel.planner.spark.job import run_job, spark_job

__all__ = ["run_job", "spark_job"]
