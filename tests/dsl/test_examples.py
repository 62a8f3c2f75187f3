"""Each program in dsl_examples: its plan stands beside it in tests/golden/programs (`pytest --update-golden`), and its answer is SQL's."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import ouzel
from ouzel import Job, Stream
from ouzel.explain import explain
from tests.house.source import ROOT

EXAMPLES = sorted((ROOT / "dsl_examples").glob("*.py"))
GOLDEN = ROOT / "tests/golden/programs"


def answered(path: Path) -> Stream[Any]:
    """The last stream that an example makes."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    *_, last = (one for one in vars(module).values() if isinstance(one, Stream))
    return last


def explained(job: Job) -> str:
    page = explain(job.program, job.topology, job.packing, ("logical", "topology", "packing"), width=140)
    return page.replace(f"{ROOT}/", "")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_plan_of_a_program(path: Path, update_golden: bool) -> None:
    page, golden = explained(answered(path).job()), GOLDEN / f"{path.stem}.txt"
    if update_golden:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(page)
    assert page == golden.read_text()
    assert f"python dsl_examples/{path.name}" in path.read_text()
    assert {one.stem for one in GOLDEN.glob("*.txt")} == {one.stem for one in EXAMPLES}


def test_the_mean_delays_are_those_of_sql() -> None:
    program = answered(ROOT / "dsl_examples/flight_delays.py").table("memory")
    days = {(key, start.date()): value for key, start, _, value in program.rows()}
    query = ouzel.table(ouzel.query(ROOT / "sql_examples/flight_delays.sql"), "memory")
    wanted = {
        (origin, day): delay for day, origin, delay in query.select("departure_day", "origin", "avg_delay").rows()
    }
    assert days == pytest.approx(wanted, abs=0.051), "SQL has rounded them"
