"""The jobs of the examples: how they read, and what one prints that is given to spark-submit as it is. Their answers: test_jobs.py."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ouzel.session import load
from ouzel.spark.batch.run import batch_run
from tests.law.engines import folded, run_to_end
from tests.spark.batch.plain import PlainPython

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "sql_examples"
JOBS = ROOT / "tests" / "golden" / "jobs"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.sql"))


@pytest.mark.spark
@pytest.mark.slow
def test_what_a_submitted_job_prints(tmp_path: Path, plain: PlainPython) -> None:
    shutil.copy(EXAMPLES / "storms.sql", tmp_path)
    (tmp_path / "data").symlink_to(EXAMPLES / "data")
    made = batch_run(load(tmp_path / "storms.sql"))
    (tmp_path / "storms.py").write_text(made.text())
    printed = plain.submit(tmp_path / "storms.py")
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line.startswith("|")
    ]
    expected = folded(made.job, run_to_end(made.job, "memory", 200)[0])
    assert cells[0] == expected.columns
    shown = {(row[0], row[2], float(row[3])) for row in cells[1:]}
    assert shown <= {(str(row[0]), row[2], row[3]) for row in expected.iter_rows()}
    assert len(cells) == min(expected.height, 20) + 1


@pytest.mark.parametrize("name", NAMES)
def test_the_job_reads_like_a_program_of_ones_own(name: str) -> None:
    text = (JOBS / f"{name}.py").read_text()
    code = text[text.index("\nimport argparse\n") :]
    assert ("ouzel" in code) == (name == "claims"), "nothing but PySpark is needed, but where bad records are left out"
    assert not re.search(r"\$\w", code), "no name of the plan's own making"
    assert len(code.splitlines()) < 120
    assert "CREATE TABLE" in text.split('"""')[1], "the question stands on top"
