"""Ouzel on the workers of a cluster, where nobody has installed it: its wheel if it came as one, else an archive of the package.

Spark puts what is given with `spark-submit --py-files` on the path of its workers only if it ends in .zip or .egg.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import ouzel
from ouzel.errors import NotSupported

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

PACKAGE = "ouzel-package.zip"


def refuse_connect_session(spark: SparkSession) -> None:
    """See that a session is no client of Spark Connect: that has no way to what Ouzel's readers and writers need.

    Raises:
        NotSupported: it is one.
    """
    if ".connect." in type(spark).__module__:
        raise NotSupported(
            "Ouzel's own readers and writers need Spark's driver in this process, and Spark Connect has it elsewhere",
            instead="give the job to spark-submit, or read and write files only",
        )


def hand_on(spark: SparkSession) -> None:
    """See that workers can import ouzel. Those of this machine run the Python that runs here, and find what it finds.

    Raises:
        NotSupported: the session is a client of Spark Connect.
    """
    refuse_connect_session(spark)
    context = spark.sparkContext
    wheel = next((folder for folder in Path(ouzel.__file__).parents if folder.suffix == ".whl"), None)
    if wheel is not None and wheel.is_file():
        name = f"{wheel.stem}.zip"
        if name not in context._python_includes:
            archive = Path(tempfile.mkdtemp(prefix="ouzel-wheel-")) / name
            _send(context, str(shutil.copy(wheel, archive)))
    elif not context.master.startswith("local") and PACKAGE not in context._python_includes:
        _send(context, str(package()))


def _send(context: SparkContext, archive: str) -> None:
    """Send it to all executors. Workers have it on their path once they run; the daemon that forks them (daemon.py) by its environment.

    An executor runs in the folder where it keeps what it is sent.
    """
    context.addPyFile(archive)
    paths = os.path.basename(archive), context.environment.get("PYTHONPATH", "")
    context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


@cache
def package() -> Path:
    """The installed package as an archive."""
    root = Path(ouzel.__file__).parent
    archive = Path(tempfile.mkdtemp(prefix="ouzel-package-")) / PACKAGE
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                out.write(path, path.relative_to(root.parent))
    return archive
