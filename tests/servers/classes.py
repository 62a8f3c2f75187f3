"""The archive of classes that tests' JVMs of Spark map instead of reading 280 jars: such a JVM starts in half of the CPU seconds.

It is made once for an environment, by `make` before it runs tests, and is never needed: without it a JVM starts as any other does, and
one that finds an archive of another JDK, or of other jars, leaves it without a word.

    python -m tests.servers.jvm
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(sys.prefix) / "classes"
"""It goes with the environment."""

LIMIT_S = 600
WORK = Path(__file__).with_name("classes_loaded.py")
"""What is run to see which classes are loaded."""


def spark_archive() -> Path:
    """Where the archive is, if it has been made: another for each JDK and whenever the jars are others."""
    spark, java = find_spec("pyspark"), shutil.which("java")
    assert spark is not None
    assert spark.origin is not None
    files = [Path(java).resolve()] if java else []
    files += sorted((Path(spark.origin).parent / "jars").glob("*.jar"))
    state = [(str(path), (found := path.stat()).st_size, found.st_mtime_ns) for path in files]
    return FOLDER / f"spark-{hashlib.sha256(repr(state).encode()).hexdigest()[:16]}.jsa"


def archive_options() -> tuple[str, ...]:
    """What a JVM of Spark is given to map the archive: nothing where there is none."""
    archive = spark_archive()
    if any(letter.isspace() for letter in str(archive)) or not archive.exists():  # spaces separate options
        return ()
    return f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"


def make_archive(options: str) -> None:
    """Make it, unless it is there; JVMs of tests start with these other options.

    A process that comes meanwhile waits. What is not finished has another name, so nobody ever maps half an archive.
    """
    archive = spark_archive()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.exists():
            return
        for old in FOLDER.glob("spark-*"):
            old.unlink()
        unfinished = archive.with_suffix(".part")
        submitted = f"{options} -XX:ArchiveClassesAtExit={unfinished} -Xlog:disable"
        environment = {**os.environ, "SPARK_SUBMIT_OPTS": submitted}
        try:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, str(WORK), folder]
                subprocess.run(command, env=environment, capture_output=True, check=True, timeout=LIMIT_S)
            tried = ["java", f"-XX:SharedArchiveFile={unfinished}", "-version"]
            subprocess.run(tried, capture_output=True, check=True)  # one that is cut would end every JVM that maps it
            unfinished.rename(archive)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"tests go on without an archive of Spark's classes: {error}", file=sys.stderr)
