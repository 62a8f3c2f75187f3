"""Fixtures of the law: one folder of inputs for the whole session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.law.inputs import write_inputs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the law's tables in `data`."""
    directory = tmp_path_factory.mktemp("law")
    write_inputs(directory)
    return directory


@pytest.fixture(scope="module")
def one_partition(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark that shuffles into one partition: the law's tables are too small for two."""
    partitions = "spark.sql.shuffle.partitions"
    before = spark.conf.get(partitions)
    spark.conf.set(partitions, "1")
    yield spark
    spark.conf.set(partitions, before)
