"""Ouzel's wheel, given with `spark-submit --py-files`: to the driver as it is, to the workers as the .zip that Spark asks for."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import ouzel

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def hand_on(spark: SparkSession) -> None:
    """See that workers can import ouzel if it came as a wheel: Spark puts --py-files on their path only if they end in .zip or .egg."""
    wheel = next((folder for folder in Path(ouzel.__file__).parents if folder.suffix == ".whl"), None)
    if wheel is None or not wheel.is_file():
        return
    name = f"{wheel.stem}.zip"
    context = spark.sparkContext
    if name not in context._python_includes:
        archive = Path(tempfile.mkdtemp(prefix="ouzel-wheel-")) / name
        context.addPyFile(str(shutil.copy(wheel, archive)))
