"""The job of every example, under plain spark-submit, gives the answer of the memory engine."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ouzel.batch.run import Batch, batch
from ouzel.planner.spark.parquet import PARQUET
from ouzel.session import load
from tests.batch.plain import PlainPython, plain_python
from tests.law.compare import difference
from tests.law.engines import folded, run_to_end

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
        if path.suffix in (".parquet", ".txt"):
            (copy / "data" / path.name).symlink_to(path.resolve())
    return copy


def example(folder: Path, name: str) -> Batch:
    return batch(load(folder / f"{name}.sql"))


def memory_answer(made: Batch) -> pl.DataFrame:
    frames, _ = run_to_end(made.job, "memory", 200)
    return folded(made.job, frames)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> PlainPython:
    """A Python that knows Spark and not Ouzel, and the wheel."""
    return plain_python(tmp_path_factory.mktemp("plain"))


def submitted(plain: PlainPython, folder: Path, name: str, output: Path | None = None) -> str:
    """What the job of an example prints; a job that imports Ouzel is given the wheel."""
    made = example(folder, name)
    job = folder / f"{name}.py"
    job.write_text((made if output is None else made.into(output)).text())
    wheel = ("--py-files", str(plain.wheel)) if "ouzel.batch import" in job.read_text() else ()
    return plain.submit(job, *wheel)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("late_carriers", "storms")])
def test_a_submitted_job_answers_as_the_memory_engine(name: str, folder: Path, plain: PlainPython) -> None:
    expected = memory_answer(example(folder, name))
    letters = folder / "data" / "bad_claims.jsonl"
    kept = letters.read_text().splitlines() if name == "claims" else []
    letters.unlink(missing_ok=True)
    told = submitted(plain, folder, name, folder / f"{name}.parquet")
    answer = pl.read_parquet(folder / f"{name}.parquet/*.parquet")
    assert answer.height > 10
    assert (found := difference(expected, answer)) == "", found
    if name == "claims":
        assert "claims: 6 bad records left out; they are in " in told
        assert sorted(letters.read_text().splitlines()) == sorted(kept), "the same dead letters as the topology's"


@pytest.mark.spark
@pytest.mark.slow
def test_what_a_submitted_job_writes(folder: Path, plain: PlainPython) -> None:
    submitted(plain, folder, "late_carriers")
    written = pl.read_parquet(folder / "data/late_carriers/*.parquet")
    shutil.rmtree(folder / "data/late_carriers")
    run_to_end(example(folder, "late_carriers").job, "memory", 200)
    expected = pl.read_parquet(folder / "data/late_carriers/*.parquet")
    assert expected.height > 100
    assert (found := difference(expected, written)) == "", found


@pytest.mark.spark
@pytest.mark.slow
def test_what_a_submitted_job_prints(folder: Path, plain: PlainPython) -> None:
    printed = submitted(plain, folder, "storms")
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("|")
    ]
    expected = memory_answer(example(folder, "storms"))
    assert cells[0] == expected.columns
    shown = {(row[0], row[2], float(row[3])) for row in cells[1:]}
    assert shown <= {(str(row[0]), row[2], row[3]) for row in expected.iter_rows()}
    assert len(cells) == min(expected.height, 20) + 1


@pytest.mark.parametrize("name", NAMES)
def test_the_job_reads_like_a_program_of_ones_own(name: str, folder: Path) -> None:
    text = example(folder, name).text()
    compile(text, "job.py", "exec")
    code = text[text.index("\nimport argparse\n") :]
    assert ("ouzel" in code) == (name == "claims"), "nothing but PySpark is needed, but where bad records are left out"
    assert not re.search(r"\$\w", code), "no name of the plan's own making"
    assert len(code.replace(PARQUET, "").splitlines()) < 100, "but for the look at the types that Parquet files hold"
    assert "CREATE TABLE" in text.split('"""')[1], "the question stands on top"
