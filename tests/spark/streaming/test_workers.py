"""What a cluster's workers run: they have Ouzel, which is sent there, Polars and Arrow, and nothing that compiles SQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.cloudpickle import dumps

from ouzel.connectors.writing import SinkRequest
from ouzel.spark.session import translate_error
from ouzel.spark.streaming.sinks import ByTasks
from ouzel.spark.streaming.source import OuzelStream, StreamReader
from tests.law.cases import CASES, Case
from tests.law.conftest import inputs
from tests.law.structured import streaming_of
from tests.law.test_ways import SAMPLE

__all__ = ["inputs"]

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


HOLD = f"""
import sys
sys.modules.update(dict.fromkeys({LACKING}))
from ouzel.spark.io.buckets import END_MS, Bucket, read_operator
for line in sys.stdin:
    held = read_operator(line.strip())
    bucket = Bucket(held, None)
    bucket.handle([], 0)
    Bucket(held, bucket.keep()).handle([], END_MS)
    print(type(held.operator).__name__)
"""


def test_a_worker_that_holds_an_operator_needs_no_compiler(inputs: Path) -> None:
    texts = [text for case in CASES if case.name in SAMPLE for text in operators_of(case, inputs)]
    assert len(texts) > 10
    done = subprocess.run(
        [sys.executable, "-c", HOLD], input="\n".join(texts), text=True, capture_output=True, check=False
    )
    assert not done.returncode, done.stderr
    assert len(done.stdout.splitlines()) == len(texts)


def operators_of(case: Case, inputs: Path) -> Iterator[str]:
    """The operators of ours in a case of the law that keep state, as they travel."""
    names: dict[str, dict[str, str]] = {}
    query = streaming_of(case, inputs)
    exec(query.functions, {}, names)
    held = names.get("OPERATORS", {}).items()
    return (text for name, text in held if not name.startswith("SideJoin"))  # that one runs in tasks


def test_what_a_worker_lacks_is_said() -> None:
    told = "[PYTHON_EXCEPTION] An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File ...\n"
    assert str(
        translate_error(RuntimeError(f"{told}ModuleNotFoundError: No module named 'polars'\n SQLSTATE: 38000"))
    ) == ("Spark: No module named 'polars'")
