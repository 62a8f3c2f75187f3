"""The law, on queries that nobody wrote: drawn from a grammar, run in the simulator with faults and in Spark, and answered by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.effort import SEEDS_VARIABLE, seeds
from tests.fuzz.relations import Relations
from tests.law.cases import Case
from tests.law.compare import difference
from tests.law.engines import memory_answer
from tests.law.inputs import write_inputs
from tests.law.oracle import connected, oracle_answer
from tests.law.test_spark import spark_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

ROWS = 60
QUERIES = 8
"""Drawn from each seed for the simulator; a job of Spark takes so long that the first must do for it."""


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The law's tables, with few rows."""
    directory = tmp_path_factory.mktemp("few")
    write_inputs(directory, ROWS)
    return directory


def drawn(seed: int, directory: Path) -> Iterator[Case]:
    """The queries of a seed."""
    random, oracle = Random(seed), connected(directory)

    def count(query: str) -> int:
        return int(oracle.sql(query).fetchall()[0][0])

    for number in range(QUERIES):
        yield Case("random", f"random_{seed}_{number}", *Relations(random, count).query())


@contextmanager
def told(test: str, case: Case, seed: int) -> Iterator[None]:
    """What fails inside says which query it was and how to run it again."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{case.text}\n-- duckdb:\n{case.oracle}")
        error.add_note(f"replay: {SEEDS_VARIABLE}={seed} .venv/bin/pytest 'tests/fuzz/test_relations.py::{test}'")
        raise


@pytest.mark.parametrize("seed", seeds())
def test_a_query_drawn_at_random_has_the_oracles_answer(seed: int, few: Path) -> None:
    for number, case in enumerate(drawn(seed, few)):
        with told("test_a_query_drawn_at_random_has_the_oracles_answer", case, seed):
            answer = memory_answer(case, few, seed * QUERIES + number)
            assert (found := difference(oracle_answer(case, few), answer.rows)) == "", f"{found}\n{answer.story}"


@pytest.mark.spark
@pytest.mark.parametrize("seed", seeds())
def test_its_spark_job_has_it_too(seed: int, few: Path, spark: SparkSession) -> None:
    case = next(drawn(seed, few))
    with told("test_its_spark_job_has_it_too", case, seed):
        assert difference(oracle_answer(case, few), spark_answer(case, few, spark)) == ""
