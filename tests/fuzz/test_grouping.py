"""A group of nothing: random groupings of no row or of few have one answer, the topology's, the batch job's and DuckDB's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from ouzel.errors import OuzelError
from ouzel.session import Job, load_text
from tests.effort import seeds
from tests.fuzz.grouping import Question, draw_question
from tests.law.engines import folded, run_to_end
from tests.law.together import Texts, answers_together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUESTIONS = 12
"""For each seed of `make law`."""

Rows = Counter[Texts]


def asked() -> list[int]:
    """The questions, by their seeds."""
    return [seed * QUESTIONS + number for seed in seeds() for number in range(QUESTIONS)]


def loaded(question: Question, directory: Path) -> Job:
    """The question as a job over its tables, in a folder of its own."""
    directory.mkdir(parents=True)
    return load_text(question.write(directory), directory, "grouping", question.settings)


def spelled(rows: list[tuple[object, ...]]) -> Rows:
    """Rows of numbers as a multiset of texts."""
    return Counter(tuple(None if value is None else str(value) for value in row) for row in rows)


def oracle(question: Question) -> Rows:
    """What DuckDB answers."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, rows in question.rows.items():
            connection.execute(f"CREATE TABLE {name} (a INT, b INT, v INT)")
            if rows:
                connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
        return spelled(connection.execute(question.oracle).fetchall())


def test_the_topology_agrees_with_the_oracle(tmp_path: Path) -> None:
    of_nothing = 0
    for seed in asked():
        question = draw_question(seed)
        try:
            frames, _ = run_to_end(job := loaded(question, tmp_path / str(seed)), "memory")
        except OuzelError as error:
            error.add_note(f"seed {seed}: {question}")
            raise
        expected = oracle(question)
        assert spelled(folded(job, frames).rows()) == expected, f"seed {seed}: {question}"
        of_nothing += bool(expected) and not question.rows["t"]
    assert of_nothing > len(seeds()), "hardly a table without rows has an answer: the test tests nothing"


@pytest.mark.spark
def test_the_batch_job_agrees_with_the_oracle(tmp_path: Path, one_partition: SparkSession) -> None:
    questions = {seed: draw_question(seed) for seed in asked()}
    programs = {
        str(seed): (loaded(question, tmp_path / str(seed)).program, tmp_path / str(seed))
        for seed, question in questions.items()
    }
    for seed, rows in answers_together(one_partition, programs).items():
        question = questions[int(seed)]
        assert Counter(rows) == oracle(question), f"seed {seed}: {question}"
