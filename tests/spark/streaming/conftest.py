"""What the tests of Structured Streaming share: jobs, and plans written by hand for what only the engine does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.runtime.run import RunState, Status
from ouzel.session import Job, load_text
from ouzel.spark.streaming.run import StructuredHandle, start_structured
from tests.law.engines import folded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_S = 500
"""How long a run may take, where others use the machine too."""


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Job]:
    """Compiles SQL whose paths start in the test's folder."""
    return lambda text, *pairs: load_text(text, tmp_path, "query", pairs)


def ended(handle: StructuredHandle) -> Status:
    """How a run ended, once it has."""
    for _ in range(WAIT_S * 2):
        if handle.wait(0.5):
            break
    return handle.stop()


def answer(job: Job, spark: SparkSession) -> tuple[pl.DataFrame, Status]:
    """The table of the trailing SELECT, run as Structured Streaming to its end."""
    handle = start_structured(job, spark=spark)
    status = ended(handle)
    assert status.state is RunState.FINISHED, status.reason
    return folded(job, handle.results()), status
