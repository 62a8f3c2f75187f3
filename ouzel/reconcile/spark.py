"""One Spark session, started when it is first needed and silent."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from ouzel.errors import OuzelError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"


def spark_session(master: str = LOCAL) -> SparkSession:
    """The session of this process, or a new one on `master`, in ANSI mode and UTC as the language has it.

    Raises:
        OuzelError: PySpark is not installed, or Spark does not start.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise OuzelError('a reconciliation needs Spark; install it with pip install "ouzel[spark]"') from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("ouzel reconcile")
    for key, value in _settings(master).items():
        builder = builder.config(key, value)
    with _quiet() as said:
        try:
            return builder.getOrCreate()
        except Exception as error:
            said.seek(0)
            words = said.read().strip().splitlines()
            raise OuzelError(
                f"Spark does not start on {master}: {words[-1] if words else error}; it needs a JDK 17 or newer"
            ) from error


def _settings(master: str) -> dict[str, str]:
    common = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    if not master.startswith("local"):
        return common
    partitions = str(2 * (os.cpu_count() or 1))
    alone = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false"}
    return {**common, **alone, "spark.sql.shuffle.partitions": partitions, "spark.default.parallelism": partitions}


@contextmanager
def _quiet() -> Iterator[IO[str]]:
    """Let the JVM inherit a file as stderr: it has much to say when it starts, and nothing for our user."""
    with tempfile.TemporaryFile("w+") as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            os.dup2(kept, 2)
            os.close(kept)
