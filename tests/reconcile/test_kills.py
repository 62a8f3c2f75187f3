"""`kill -9` while rows flow: what survives reconciles without a difference, and what dies with a task is found to be lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.reconcile import Class, Reconciliation, Recorder
from ouzel.runtime.run import Status
from ouzel.session import Job
from tests.cli.fakes import FakeHandle
from tests.law.test_kills import SETTINGS, WINDOWS, aggregate, run_with_a_kill, source
from tests.reconcile.planting import found

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow]


def reconciled(ran: tuple[Job, list[pl.DataFrame], Status], home: Path, spark: SparkSession) -> Reconciliation:
    """The reconciliation of a run that is over."""
    job, frames, status = ran
    recorder = Recorder(FakeHandle([frames], status), job, "heron", home, SETTINGS)
    recorder.results()
    recorder.stop()
    return found(job, home, spark)


def test_a_killed_source_makes_no_difference(tmp_path: Path, spark: SparkSession) -> None:
    result = reconciled(run_with_a_kill(WINDOWS, source, tmp_path), tmp_path / "record", spark)
    assert result.differing == 0, (result.counts, result.record)
    assert result.matched == result.batch_rows > 100


def test_counts_that_died_with_their_instance_are_lost(tmp_path: Path, spark: SparkSession) -> None:
    result = reconciled(run_with_a_kill(WINDOWS, aggregate, tmp_path), tmp_path / "record", spark)
    assert set(result.counts) == {Class.LOST}, (result.counts, result.record)
    assert result.explained
    assert 0 < result.counts[Class.LOST] < result.matched
