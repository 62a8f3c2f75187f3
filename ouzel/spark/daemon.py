"""Spark's daemon of Python workers, which has imported what our operators need: each worker is a fork of it, and has it for nothing.

As everywhere, what forks has imported and used nothing: no thread of Polars or Arrow runs in it.
"""

from pyspark.daemon import manager

import ouzel.spark.io.buckets  # noqa: F401

if __name__ == "__main__":
    manager()
