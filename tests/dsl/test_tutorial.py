"""docs/tutorial.md is one program: it runs as it stands, processes and Spark included, and prints what the page shows, in that order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import ROOT

PAGE = (ROOT / "docs/tutorial.md").read_text()

INTERPRETED = "--conf spark.ui.enabled=false --conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN"
"""Of so few rows Spark compiles longer than it computes."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def test_there_are_ten_steps_and_each_has_code_and_what_it_prints() -> None:
    steps = re.split(r"^## \d+\. ", PAGE, flags=re.M)[1:]
    assert len(steps) == 10
    assert all("```python" in step and "```text" in step for step in steps)


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_tutorial_runs_from_its_first_step_to_its_last(tmp_path: Path) -> None:
    (tmp_path / "sql_examples").mkdir()
    (tmp_path / "sql_examples/data").symlink_to(ROOT / "sql_examples/data")
    (tmp_path / "tutorial.py").write_text("\n\n".join(blocks("python")))
    lightly = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{INTERPRETED} pyspark-shell"}
    command = [sys.executable, "tutorial.py"]
    run = subprocess.run(command, cwd=tmp_path, env=lightly, capture_output=True, text=True, timeout=590)
    assert run.returncode == 0, run.stderr[-2000:]
    place = 0
    for line in "".join(blocks("text")).splitlines():
        place = run.stdout.find(line, place)
        assert place >= 0, f"'{line}' is not printed, or not in its order: {run.stdout}"
