"""What a JVM of the tests does, in small: read, join, aggregate, write, and stream; so that all classes are loaded that most tests need.

python classes_loaded.py FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def run(folder: Path) -> None:
    """All that in a session of its own; it ends when the JVM has."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
    )
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.range(0, 10, 1, 1).select(
        "id", F.timestamp_seconds("id").alias("ts"), F.col("id").cast("string").alias("text")
    )
    columns = "id bigint, ts timestamp, text string"
    for form in ("parquet", "json", "csv"):
        rows.write.format(form).save(str(folder / form))
        read = spark.read.format(form).schema(columns).load(str(folder / form))
        windows = read.groupBy(F.window("ts", "5 seconds"), "text").agg(
            F.sum("id"), F.countDistinct("id"), F.max_by("id", "ts")
        )
        read.join(windows, "text", "left").orderBy("id").limit(3).toArrow()
    rows.mapInArrow(lambda batches: batches, columns).toArrow()
    stream = spark.readStream.schema(columns).parquet(str(folder / "parquet")).withWatermark("ts", "1 second")
    windows = stream.groupBy(F.window("ts", "5 seconds")).count()
    writer = windows.writeStream.foreachBatch(lambda batch, _: batch.toArrow()).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    gateway = spark.sparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    assert gateway.proc.wait() == 0


if __name__ == "__main__":
    run(Path(sys.argv[1]))
