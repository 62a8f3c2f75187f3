"""A Spark session for batches: started once, quiet, and its failures in one sentence."""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ouzel.descriptors import open_standard_descriptors
from ouzel.errors import NotSupported, OuzelError
from ouzel.runtime.process.job import refuse_while_loading
from ouzel.spark.wheel import package

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LOCAL = "local[*]"

_SAFE_PATH = "PYTHONSAFEPATH"
"""What Python is told with -P: Spark starts its workers with -m, which would import modules that lie beside the data."""


_LAST_WORDS = 1 << 20


def start_spark(name: str, master: str | None = None, settings: Iterable[tuple[str, str]] = ()) -> SparkSession:
    """A session on `master`, by default this machine's cores; workers run this Python. What the JVM says goes to a file.

    Raises:
        OuzelError: PySpark or a JDK is missing, or Spark does not start.
    """
    require()
    refuse_while_loading("Spark")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master = master or os.environ.get("SPARK_MASTER") or LOCAL
    refuse_connect_master(master)
    given = {"spark.ui.showConsoleProgress": "false", f"spark.executorEnv.{_SAFE_PATH}": "1"}
    if master.startswith("local"):
        given["spark.driver.host"] = "127.0.0.1"
    else:  # Spark plans streams in a process beside the driver, which sees nothing of what executors are given
        found = (str(package()), os.environ.get("PYTHONPATH", ""))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, found))
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in [*given.items(), *settings]:
        builder = builder.config(key, value)
    quieten()
    with _open_log() as log:
        try:
            with _stderr_to(log), _safe_path():
                session = builder.getOrCreate()
                shuffle_by_cores(session)
                return session
        except Exception as error:
            raise OuzelError(f"Spark does not start on {master}: {_reason(error, log)}") from error


def quieten() -> None:
    """Let PySpark log nothing: its stack traces and its errors as JSON are told once more as a sentence."""
    for noisy in ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)


def refuse_connect_master(master: str) -> None:
    """See that a master is no server of Spark Connect.

    Raises:
        NotSupported: it is one.
    """
    if master.startswith("sc://"):
        raise NotSupported(
            f"{master}: Spark Connect has no way to Ouzel's own readers and writers",
            instead="write the job with `ouzel batch --emit job.py`, which over files needs none of them, and run it there: "
            f"SPARK_REMOTE={master} python job.py",
        )


def shuffle_by_cores(spark: SparkSession) -> None:
    """Cut a shuffle into as many parts as there are cores, unless somebody has said into how many.

    Spark's own 200 is many where each part is a state store that every micro-batch opens. A cluster's executors come after the session
    has begun: the first ones are waited for.
    """
    context = spark.sparkContext
    if context.getConf().get("spark.sql.shuffle.partitions") is not None:
        return
    if not context.master.startswith("local"):
        _await_executors(context)
    spark.conf.set("spark.sql.shuffle.partitions", str(max(1, context.defaultParallelism)))


def _await_executors(context: SparkContext) -> None:
    deadline, before = time.monotonic() + EXECUTORS_S, 0
    while time.monotonic() < deadline:
        there = context._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver is among them
        if there > 0 and there == before:
            return
        before = there
        time.sleep(SETTLED_S)


EXECUTORS_S, SETTLED_S = 15.0, 0.5
"""How long a cluster's first executors are waited for; and when no more seem to come."""


def require() -> None:
    """See that a session could start here.

    Raises:
        OuzelError: PySpark or a JDK is missing, or PySpark is too old, or SPARK_HOME is another Spark.
    """
    try:
        import pyspark  # noqa: F401
    except ModuleNotFoundError:
        raise OuzelError('a batch runs on PySpark, which is not installed; write: pip install "ouzel[spark]"') from None
    _check_version()
    home = os.environ.get("JAVA_HOME")
    if home and not Path(home, "bin", "java").exists():
        raise OuzelError(f"Spark needs a JDK, and JAVA_HOME is {home}, where there is no bin/java; correct it")
    if not home and not shutil.which("java"):
        raise OuzelError("Spark needs a JDK, and there is no 'java' here; install JDK 17 or newer, or set JAVA_HOME")


OLDEST = 4, 1
"""The first PySpark that has all that jobs call."""


def _check_version() -> None:
    """See that PySpark is new enough, and that the JVM it would start is of the same version.

    Python speaks to the JVM of SPARK_HOME if that is set, and else to the one that came with it. A third number may differ: whoever runs
    clusters builds a Spark of their own.
    """
    version = _version()
    if _minor(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise OuzelError(
            f'PySpark here is {version}, and {oldest} is the oldest that a batch runs on; write: pip install "ouzel[spark]"'
        )
    home = os.environ.get("SPARK_HOME")
    if not home:
        return
    if not Path(home, "bin", "spark-submit").exists():
        raise OuzelError(f"SPARK_HOME is {home}, where there is no bin/spark-submit; correct it, or unset it")
    there = _version_at(home)
    if there and _minor(there) != _minor(version):
        raise OuzelError(
            f"SPARK_HOME is {home}, which is Spark {there}, and PySpark here is {version}; unset SPARK_HOME, for PySpark brings a Spark "
            "with it, or install the PySpark of that one"
        )


def _version_at(home: str) -> str:
    """The version of the Spark that is unpacked there, by the name of its first jar; empty if that says nothing."""
    names = (
        re.match(r"spark-core_[\d.]+-(\d.*)\.jar", jar.name) for jar in Path(home, "jars").glob("spark-core_*.jar")
    )
    return next((found[1] for found in names if found), "")


def _minor(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


@contextmanager
def _safe_path() -> Iterator[None]:
    """Processes started inside, and theirs, import nothing from the working directory."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


@contextmanager
def _open_log() -> Iterator[int]:
    """A file without a name, which is gone when neither this process nor the JVM has it open.

    Raises:
        OuzelError: there is no place for it.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix="ouzel-spark-")
    except OSError as error:
        raise OuzelError(f"there is no place for what Spark says while it starts: {error.strerror or error}") from error
    os.unlink(name)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _stderr_to(file: int) -> Iterator[None]:
    """Processes started inside write their stderr to the file, for as long as they live."""
    open_standard_descriptors()
    if sys.stderr is not None:
        sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _reason(error: Exception, log: int) -> str:
    """What the JVM said last that is an error, else what PySpark says."""
    text = os.pread(log, _LAST_WORDS, max(0, os.fstat(log).st_size - _LAST_WORDS)).decode(errors="replace")
    lines = [line for line in text.splitlines() if re.search(r"error|exception", line, re.I)]
    return (lines or str(error).splitlines() or [type(error).__name__])[-1].strip()


def _describe_unread(path: str) -> str:
    """Why a file that was found could not be opened: Spark says of each that it does not exist."""
    if os.path.exists(path) and not os.access(path, os.R_OK):
        return f"the file {path} cannot be read: {os.strerror(errno.EACCES)}"
    return f"the file {path} is not there any more, or may not be opened; it was found when the batch began"


def _version() -> str:
    import pyspark

    return str(pyspark.__version__)


def _hadoop_version() -> str:
    """Of the Hadoop in Spark's package, whose version the jars for S3 must have."""
    import pyspark

    clients = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    return next((client.stem.removeprefix("hadoop-client-api-") for client in clients), "VERSION")


def translate_error(error: Exception) -> OuzelError:
    """What Spark raised, in one sentence: our own error if one is at its bottom."""
    text = str(error)
    ours = re.findall(r"ouzel\.errors\.\w+: (.+)", text)
    if ours:
        return OuzelError(ours[-1].strip())
    there = re.search(r"\[PATH_ALREADY_EXISTS\] Path (\S+) already exists", text)
    if there:
        return OuzelError(
            f"{there[1].removeprefix('file:')} is there already, and a batch overwrites nothing; remove it"
        )
    raised = re.search(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE: \w+)?$", text, re.M)
    if raised:
        return OuzelError(raised[1].strip())
    missing = re.search(r"\[PATH_NOT_FOUND\] Path does not exist: (\S+?)\.? ", text + " ")
    if missing:
        return OuzelError(f"there is no {missing[1].removeprefix('file:')}")
    unread = re.search(
        r"\[FAILED_READ_FILE\.FILE_NOT_EXIST\] Encountered error while reading file (\S+?)\. ", text + " "
    )
    if unread:
        return OuzelError(_describe_unread(unquote(re.sub("^file:/*", "/", unread[1]))))
    if "Failed to find data source: kafka" in text:
        return OuzelError(
            "'spark.source' = 'jvm' asks for Spark's own Kafka source, whose jars are not there; add --conf spark.jars.packages="
            f"org.apache.spark:spark-sql-kafka-0-10_2.13:{_version()}, or leave it out and Ouzel reads the topic"
        )
    if "S3AFileSystem not found" in text:
        return OuzelError(
            "Spark reads and writes S3 by jars that are not there; add "
            f"--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:{_hadoop_version()}"
        )
    if "Python worker failed to connect back" in text:
        return OuzelError(
            "a Python process beside Spark's driver has not begun within the ten seconds that Spark gives it; the machine is too busy, or "
            f"{os.environ.get('PYSPARK_PYTHON', sys.executable)}, which PYSPARK_PYTHON names, does not start here"
        )
    python = re.findall(r"^[A-Za-z][\w.]*(?:Error|Exception): (.+)$", text, re.M) if "Traceback" in text else []
    unstarted = re.findall(r"^Error from python worker:\n\s*(.+)$", text, re.M)
    told = re.findall(r"(\[[A-Z][A-Z0-9_.]+\] .+)", text)
    causes = re.findall(r"^(?:Caused by)?: [\w.$]+: (.+)$", text, re.M)
    lines = (*python[-1:], *unstarted[:1], *told[:1], *causes[-1:], *text.splitlines()[:1], type(error).__name__)
    return OuzelError(f"Spark: {lines[0].strip()}")
