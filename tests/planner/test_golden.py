"""EXPLAIN of every example stands beside it in tests/golden; `pytest --update-golden` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.explain import explain
from ouzel.session import load

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = sorted((ROOT / "sql_examples").glob("*.sql"))


@pytest.mark.parametrize("query", EXAMPLES, ids=lambda query: query.stem)
def test_the_plan_of_an_example(query: Path, update_golden: bool) -> None:
    job = load(query)
    page = explain(job.program, job.topology, job.packing, ("logical", "topology", "packing", "batch"), width=140)
    golden = GOLDEN / f"{query.stem}.txt"
    if update_golden:
        golden.write_text(page)
    assert page == golden.read_text()


def test_no_plan_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {query.stem for query in EXAMPLES}
