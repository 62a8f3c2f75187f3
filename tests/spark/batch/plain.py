"""A Python that knows Spark and not Ouzel, and Ouzel's wheel: what a person has who submits a job."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyspark

from ouzel.loops import kept_of
from ouzel.spark.wheel import package
from tests.servers.jvm import JVM
from tests.servers.wheel import ROOT, build_wheel
from tests.servers.workers import WarmWorkers

PACKAGES = (
    "pyspark", "py4j", "pyarrow", "polars", "_polars_runtime_32", "numpy", "numpy.libs", "numba", "llvmlite", "llvmlite.libs",
    "confluent_kafka", "confluent_kafka.libs", "pandas", "dateutil", "google", "grpc", "grpc_status", "zstandard", "typing_extensions.py",
    "xxhash",
)  # fmt: skip
"""What must stand beside the wheel, Kafka's client among it, and what Spark Connect needs."""
WORKERS_IMPORT = (
    "numba", "pandas", "polars", "pyspark.sql.worker.create_data_source", "pyspark.sql.worker.plan_data_source_read", "pyspark.worker",
)  # fmt: skip
SETTINGS = (
    "spark.ui.enabled=false", "spark.sql.shuffle.partitions=2", "spark.log.level=ERROR", "spark.driver.host=127.0.0.1",
    f"spark.executor.extraJavaOptions={JVM}",
)  # fmt: skip

INTERPRETED = (
    "--conf", "spark.sql.codegen.wholeStage=false", "--conf", "spark.sql.codegen.factoryMode=NO_CODEGEN",
    "--conf", "spark.sql.adaptive.enabled=false",
)  # fmt: skip
"""Options of a job that proves nothing of the code that Spark compiles, which costs more than it saves on a few rows."""


@dataclass(frozen=True)
class PlainPython:
    """An environment of its own, the wheel, and what forks Spark's workers of a process of that environment, which has no Ouzel."""

    python: Path
    wheel: Path
    workers: WarmWorkers

    def environment(self) -> dict[str, str]:
        """What processes are started with, so that Spark's workers run this Python."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
        environment |= {"PYSPARK_PYTHON": str(self.workers.python), "PYSPARK_DRIVER_PYTHON": str(self.python)}
        return environment

    def submit(self, job: Path, *options: str, master: str = "local[2]", given: Sequence[str] = ()) -> str:
        """What the job prints when PySpark's own script runs it, somewhere else than in the project; `given` are its own arguments."""
        script = Path(pyspark.__file__).parent / "bin" / "spark-submit"
        command = [str(script), "--master", master, *(part for each in SETTINGS for part in ("--conf", each))]
        command += [*options, str(job), *given]
        return _printed(command, self.environment())

    def connect(self, job: Path, *options: str, given: Sequence[str] = ()) -> str:
        """What the job prints as a client of Spark Connect, whose server starts and ends with it."""
        settings = [part for each in SETTINGS for part in ("--conf", each)]
        environment = {
            "SPARK_REMOTE": "local[2]",
            "PYSPARK_SUBMIT_ARGS": shlex.join([*settings, *options, "pyspark-shell"]),
        }
        return _printed([str(self.python), str(job), *given], {**self.environment(), **environment})


LIMIT_S = 600
"""How long a submitted program may take, where others use the machine too."""


def _printed(command: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd="/", check=False, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def plain_python(folder: Path) -> PlainPython:
    """Make both in a folder."""
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    spark = find_spec("pyspark")
    assert spark is not None
    assert spark.origin is not None
    for name in PACKAGES:
        place = Path(spark.origin).parents[1] / name
        if place.exists():
            (site / name).symlink_to(place)
    made = PlainPython(python, build_wheel(folder), WarmWorkers(str(python), WORKERS_IMPORT))
    for archive in (made.wheel, package()):
        _keep_compiled(archive)
    command = [str(python), "-c", "import ouzel"]
    missing = subprocess.run(command, cwd="/", env=made.environment(), capture_output=True, text=True, check=False)
    assert "No module named 'ouzel'" in missing.stderr
    return made


def _keep_compiled(archive: Path) -> None:
    """Workers find compiled what is so here: Numba knows a source by its time and size, and takes ten CPU seconds to do it again."""
    others = shutil.ignore_patterns("*.pyc")
    shutil.copytree(ROOT / "ouzel", kept_of(archive) / "ouzel", ignore=others, dirs_exist_ok=True)
