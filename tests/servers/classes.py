"""Archives of classes that tests' JVMs of Spark and Kafka map instead of reading 280 jars: such a JVM starts in half of the CPU seconds.

They are made once for an environment, by `make` before it runs tests, and are never needed: without one a JVM starts as any other does,
and one that finds an archive of another JDK, or of other jars, leaves it without a word.

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
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(sys.prefix) / "classes"
"""It goes with the environment."""

LIMIT_S = 600
WORK = Path(__file__).with_name("classes_loaded.py")
"""What is run to see which classes are loaded."""


def spark_archive() -> Path:
    """Where Spark's archive is, if it has been made: another for each JDK and whenever the jars are others."""
    spark = find_spec("pyspark")
    assert spark is not None
    assert spark.origin is not None
    return archive_of("spark", Path(spark.origin).parent / "jars")


def archive_of(name: str, jars: Path) -> Path:
    """Where the archive of these jars is, if it has been made."""
    java = shutil.which("java")
    files = [*([Path(java).resolve()] if java else []), *sorted(jars.glob("*.jar"))]
    state = [(str(path), (found := path.stat()).st_size, found.st_mtime_ns) for path in files]
    return FOLDER / f"{name}-{hashlib.sha256(repr(state).encode()).hexdigest()[:16]}.jsa"


def archive_options(archive: Path) -> tuple[str, ...]:
    """What a JVM is given to map the archive: nothing where there is none."""
    if any(letter.isspace() for letter in str(archive)) or not archive.exists():  # spaces separate options
        return ()
    return f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"


def making_options(unfinished: Path) -> tuple[str, ...]:
    """What a JVM is given to write the archive when it ends."""
    return f"-XX:ArchiveClassesAtExit={unfinished}", "-Xlog:disable"


def make_archive(archive: Path, run: Callable[[Path, Path], None]) -> None:
    """Make it, unless it is there: `run` runs a JVM that writes what it has loaded to the first path; the second is a folder to work in.

    A process that comes meanwhile waits. What is not finished has another name, so nobody ever maps half an archive.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.exists():
            return
        for old in FOLDER.glob(f"{archive.name.partition('-')[0]}-*"):
            old.unlink()
        unfinished = archive.with_suffix(".part")
        try:
            with tempfile.TemporaryDirectory() as folder:
                run(unfinished, Path(folder))
            tried = ["java", f"-XX:SharedArchiveFile={unfinished}", "-version"]
            subprocess.run(tried, capture_output=True, check=True)  # one that is cut would end every JVM that maps it
            unfinished.rename(archive)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            print(f"tests go on without {archive.name}, an archive of classes: {error}", file=sys.stderr)


def run_spark(options: str, unfinished: Path, folder: Path) -> None:
    """Run a session of Spark; JVMs of tests start with these other options."""
    environment = {**os.environ, "SPARK_SUBMIT_OPTS": " ".join((options, *making_options(unfinished)))}
    command = [sys.executable, str(WORK), str(folder)]
    subprocess.run(command, env=environment, capture_output=True, check=True, timeout=LIMIT_S)
