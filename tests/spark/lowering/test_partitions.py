"""The text of jobs that read folders named by values of columns."""

from __future__ import annotations

from ouzel.spark.io import filters
from ouzel.spark.lowering import partitions


def test_each_sign_that_a_job_writes_is_read() -> None:
    assert sorted(partitions.SIGNS.values()) == sorted(filters.SIGNS)
