"""What a cluster's workers run: they have Ouzel, which is sent there, Polars and Arrow, and nothing that compiles SQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.cloudpickle import dumps

from ouzel.connectors.writing import SinkRequest
from ouzel.spark.session import translate_error
from ouzel.spark.streaming.sinks import ByTasks
from ouzel.spark.streaming.source import OuzelStream, StreamReader

LACKING = ("lark", "sqlglot", "typer", "rich", "prompt_toolkit", "kazoo", "uvloop", "grpc")
LOAD = f"""
import pickle, sys
sys.modules.update(dict.fromkeys({LACKING}))
pickle.load(sys.stdin.buffer)
"""


class Told:
    """A frame that keeps what it is told to run."""

    run: Callable[..., Any] | None = None

    def mapInArrow(self, run: Callable[..., Any], schema: str) -> Told:
        self.run = run
        return self

    def collect(self) -> list[Any]:
        return []


def writer(folder: Path) -> object:
    """What the tasks of a micro-batch run that write it."""
    frame = Told()
    options = {"path": str(folder / "out"), "format": "parquet"}
    ByTasks("file", SinkRequest("t", options, {"n": pl.Int64()}, "append", folder)).take(frame, 0, 1)  # type: ignore[arg-type]
    return frame.run


@pytest.mark.parametrize("what", [writer, lambda folder: StreamReader.read, lambda folder: OuzelStream])
def test_a_worker_needs_no_compiler(what: Callable[[Path], object], tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOAD], input=dumps(what(tmp_path)), capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()


def test_what_a_worker_lacks_is_said() -> None:
    told = "[PYTHON_EXCEPTION] An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File ...\n"
    assert str(
        translate_error(RuntimeError(f"{told}ModuleNotFoundError: No module named 'polars'\n SQLSTATE: 38000"))
    ) == ("Spark: No module named 'polars'")
