"""The job of every example, under plain spark-submit or in a warm session, gives the answer of the memory engine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.batch.run import Batch, batch, rows_of
from ouzel.planner.spark import run_job
from ouzel.session import load
from tests.law.compare import difference
from tests.law.engines import folded, run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[2] / "sql_examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.sql"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples and their data, in a folder that a job may write to."""
    if not (EXAMPLES / "data" / "flights.parquet").exists():
        subprocess.run([sys.executable, str(EXAMPLES / "make_data.py")], check=True, capture_output=True)
    copy = tmp_path_factory.mktemp("examples")
    (copy / "data").mkdir()
    for path in [*EXAMPLES.glob("*.sql"), *EXAMPLES.glob("*.csv")]:
        shutil.copy(path, copy)
    for path in (EXAMPLES / "data").iterdir():
        if path.is_file():
            (copy / "data" / path.name).symlink_to(path.resolve())
    return copy


def example(folder: Path, name: str) -> Batch:
    return batch(load(folder / f"{name}.sql"))


def memory_answer(made: Batch) -> pl.DataFrame:
    frames, _ = run_to_end(made.job, "memory", 200)
    return folded(made.job, frames)


def submit(text: str, folder: Path) -> str:
    """What the job prints when PySpark's own script runs it."""
    (folder / "job.py").write_text(text)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    script = Path(sys.executable).parent / "spark-submit"
    command = [str(script), "--master", "local[2]", "--conf", "spark.ui.enabled=false", str(folder / "job.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/", check=False, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "late_carriers"])
def test_the_job_answers_as_the_memory_engine(name: str, folder: Path, spark: SparkSession) -> None:
    made = example(folder, name)
    assert made.result is not None
    answer = rows_of(run_job(made.text(), spark), made.result)
    assert answer.height > 10
    assert (found := difference(memory_answer(made), answer)) == "", found


@pytest.mark.spark
@pytest.mark.slow
def test_what_a_submitted_job_writes(folder: Path) -> None:
    made = example(folder, "late_carriers")
    submit(made.text(), folder)
    written = pl.read_parquet(folder / "data/late_carriers/*.parquet")
    shutil.rmtree(folder / "data/late_carriers")
    run_to_end(made.job, "memory", 200)
    expected = pl.read_parquet(folder / "data/late_carriers/*.parquet")
    assert expected.height > 100
    assert (found := difference(expected, written)) == "", found


@pytest.mark.spark
@pytest.mark.slow
def test_what_a_submitted_job_prints(folder: Path) -> None:
    made = example(folder, "storms")
    printed = submit(made.text(), folder)
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("|")
    ]
    expected = memory_answer(made)
    assert cells[0] == expected.columns
    shown = {(row[0], row[2], float(row[3])) for row in cells[1:]}
    assert shown == {(str(row[0]), row[2], row[3]) for row in expected.iter_rows()}
    assert len(cells) == expected.height + 1


@pytest.mark.parametrize("name", NAMES)
def test_the_job_reads_like_a_program_of_ones_own(name: str, folder: Path) -> None:
    text = example(folder, name).text()
    compile(text, "job.py", "exec")
    code = text.split('"""')[2]
    assert ("ouzel" in code) == (name == "claims"), "nothing but PySpark is needed, but where bad records are left out"
    assert not re.search(r"\$\w", code), "no name of the plan's own making"
    assert len(code.splitlines()) < 80
    assert "CREATE TABLE" in text.split('"""')[1], "the question stands on top"
