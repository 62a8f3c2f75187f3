"""Emitted jobs stand beside their queries in tests/golden/jobs, and those of the examples there too: read them as a colleague would.

`pytest --update-golden` writes them anew. ruff reads and formats them with the rest of the tree, so what it says of code it says of jobs.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.session import load
from ouzel.spark.batch.run import batch_run
from ouzel.spark.lowering.text import is_identifier

ROOT = Path(__file__).parents[3]
JOBS = ROOT / "tests" / "golden" / "jobs"
EXAMPLES = sorted((ROOT / "sql_examples").glob("*.sql"))
QUERIES = [*EXAMPLES, *sorted(JOBS.glob("*.sql"))]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_the_job_of_a_query(query: Path, update_golden: bool) -> None:
    made = batch_run(load(query))
    text = replace(made, job=replace(made.job, directory=Path("/data"))).text()
    golden = JOBS / f"{query.stem}.py"
    if update_golden:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_only_what_spark_cannot_do_needs_the_wheel() -> None:
    """Records that are bad, rows that are made up, and Kafka without a jar."""
    needing = {path.stem for path in JOBS.glob("*.py") if "from ouzel" in path.read_text(encoding="utf-8")}
    assert needing == {"claims", "datagen", "kafka_window", "two_sinks"}


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.py")), ids=lambda path: path.stem)
def test_no_table_takes_the_name_of_what_a_job_uses(path: Path) -> None:
    """A variable of its name would hide it: `read_json = read_json(...)` is an error."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    imported = {name.asname or name.name for node in module.body if isinstance(node, IMPORTS) for name in node.names}
    functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    constants = {node.targets[0].id for node in module.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    assert not {name for name in imported | functions | constants if is_identifier(name)}


IMPORTS = (ast.Import, ast.ImportFrom)


def test_no_job_is_left_over() -> None:
    assert {path.stem for path in JOBS.glob("*.py")} == {query.stem for query in QUERIES}


@pytest.mark.parametrize("command", [("format", "--check", "--diff"), ("check",)], ids=lambda command: command[0])
def test_jobs_are_written_as_a_formatter_would_write_them(command: tuple[str, ...]) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run([ruff, *command, JOBS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
