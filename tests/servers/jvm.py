"""How the tests' JVMs start: for a few seconds of work over a few rows, not for days over many.

Run as a program it makes the archives of classes.
"""

from __future__ import annotations

import os
from functools import partial

from tests.servers.classes import archive_options, make_archive, run_spark, spark_archive

PLAIN = " ".join(
    (
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=240m",  # its 48 MB fill up: then a session throws out and compiles again six methods of seven
        "-XX:+UseSerialGC",
        "-XX:MetaspaceSize=256m",
    )
)
JVM = " ".join((PLAIN, *archive_options(spark_archive())))
"""The same with the archive of classes, where there is one."""


def start_lightly() -> None:
    """Whatever starts Spark from here on, processes of processes too, starts JVMs so: half the CPU seconds of a short job."""
    os.environ["SPARK_SUBMIT_OPTS"] = os.environ["SPARK_DAEMON_JAVA_OPTS"] = JVM
    os.environ["SPARK_LAUNCHER_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


if __name__ == "__main__":
    from tests.servers.kafka import make_kafka_archive

    make_archive(spark_archive(), partial(run_spark, PLAIN))
    make_kafka_archive()
