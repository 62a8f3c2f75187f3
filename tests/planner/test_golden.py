"""EXPLAIN of every example stands beside it in tests/golden; `pytest --update-golden` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.explain import explain
from ouzel.session import load

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
QUERIES = ROOT / "sql_examples"
PROGRAMS = ROOT / "dsl_examples"
"""Their plans are compared in tests/dsl/test_examples.py."""
EXAMPLES = sorted([*QUERIES.glob("*.sql"), *QUERIES.glob("nexmark/*.sql")])


@pytest.mark.parametrize("query", EXAMPLES, ids=lambda query: query.stem)
def test_the_plan_of_an_example(query: Path, update_golden: bool) -> None:
    job = load(query)
    sections = ("logical", "topology") if query.parent != QUERIES else ("logical", "topology", "packing", "batch")
    page = explain(job.program, job.topology, job.packing, sections, width=140)
    golden = GOLDEN / query.relative_to(QUERIES).with_suffix(".txt")
    if update_golden:
        golden.write_text(page)
    assert page == golden.read_text()


def test_no_plan_is_left_over() -> None:
    plans = {path.relative_to(GOLDEN).with_suffix("") for path in GOLDEN.rglob("*.txt")}
    programs = {Path("programs", path.stem) for path in PROGRAMS.glob("*.py")}
    assert plans == {query.relative_to(QUERIES).with_suffix("") for query in EXAMPLES} | programs
