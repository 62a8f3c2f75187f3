"""How the tests' JVMs start: for a few seconds of work over a few rows, not for days over many."""

from __future__ import annotations

import os

JVM = " ".join(
    (
        "-XX:TieredStopAtLevel=1",
        "-XX:ReservedCodeCacheSize=240m",  # its 48 MB fill up: then a session throws out and compiles again six methods of seven
        "-XX:+UseSerialGC",
        "-XX:MetaspaceSize=256m",
    )
)


def start_lightly() -> None:
    """Whatever starts Spark from here on, processes of processes too, starts JVMs so: half the CPU seconds of a short job."""
    os.environ["SPARK_SUBMIT_OPTS"] = os.environ["SPARK_DAEMON_JAVA_OPTS"] = JVM
    os.environ["SPARK_LAUNCHER_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
