"""The jobs of the examples: how they read. What they answer and print: test_jobs.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "sql_examples"
JOBS = ROOT / "tests" / "golden" / "jobs"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.sql"))


@pytest.mark.parametrize("name", NAMES)
def test_the_job_reads_like_a_program_of_ones_own(name: str) -> None:
    text = (JOBS / f"{name}.py").read_text()
    code = text[text.index("\nimport argparse\n") :]
    assert ("ouzel" in code) == (name == "claims"), "nothing but PySpark is needed, but where bad records are left out"
    assert not re.search(r"\$\w", code), "no name of the plan's own making"
    assert len(code.splitlines()) < 130
    assert "CREATE TABLE" in text.split('"""')[1], "the question stands on top"
