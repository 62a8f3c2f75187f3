"""Fixtures of the law: one folder of inputs for the whole session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.law.inputs import write_inputs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERPRETED = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the law's tables in `data`."""
    directory = tmp_path_factory.mktemp("law")
    write_inputs(directory)
    return directory


@pytest.fixture(scope="module")
def interpreter(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark as long as it compiles no code: the law's tables are too small for that."""
    before = {key: spark.conf.get(key) for key in INTERPRETED}
    for key, value in INTERPRETED.items():
        spark.conf.set(key, value)
    yield spark
    for key, kept in before.items():
        spark.conf.set(key, kept)
