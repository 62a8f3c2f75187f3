"""The Spark session that tests share: it plans and runs thousands of jobs over a few rows each, and what it notes of them nobody reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.gateway import forget_many_at_once, make_short_lists, remember_members
from tests.servers.closures import check_closures_once
from tests.servers.local_files import use_light_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
"""With it a stream over a few rows takes a fifth fewer CPU seconds than with Spark's usual one."""

JVM = (
    "-Xms2g -Xmn1g -XX:+UseTransparentHugePages",
    # What runs a few dozen times is compiled: Spark's planner is large, and slow for as long as it is interpreted.
    "-XX:Tier3InvocationThreshold=60 -XX:Tier3MinInvocationThreshold=30 -XX:Tier3CompileThreshold=300",
    "-XX:Tier3BackEdgeThreshold=6000 -XX:Tier3LoadFeedback=1",
)

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.liveUpdate.period": "-1",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.debug.maxToStringFields": "4",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.driver.memory": "2g",
    "spark.buffer.pageSize": "64k",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.broadcast.compress": "false",
    "spark.broadcast.checksum": "false",
    "spark.shuffle.compress": "false",
    "spark.shuffle.checksum.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": FILE_MANAGER,
    "spark.driver.extraJavaOptions": " ".join(JVM),
}

HADOOP = ("fs.", "file.", "hadoop.", "io.", "parquet.")
"""The settings of Hadoop that anything here asks for, by their first letters; all are copied, and sent to tasks, at each look at a file."""


def start_session() -> SparkSession:
    """Two threads, and no code that is generated, which costs more than it saves on a few rows.

    It writes checkpoints in the cheapest way and files without `chmod`, asks for memory by small pages, checks each closure of Spark once,
    and does not note for each function of a column, and for each step of a job, where it was called. Compiled, as users run them, jobs run
    in the tests that submit them.
    """
    from pyspark.sql import SparkSession

    remember_members()
    make_short_lists()
    builder = SparkSession.builder.master("local[2]").appName("ouzel-tests")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    context = session.sparkContext
    context.setLogLevel("OFF")
    for form in ("short", "long"):
        context.setLocalProperty(f"callSite.{form}", "tests")
    hadoop = context._jsc.hadoopConfiguration()
    for name in [setting.getKey() for setting in hadoop.iterator()]:
        if not name.startswith(HADOOP):
            hadoop.unset(name)
    check_closures_once(session)
    use_light_files(session)
    forget_many_at_once(session)
    return session
