"""The law, on real processes: each case once, spread over a few shapes of topology."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from tests.law.cases import ON_TIME, Case
from tests.law.compare import difference
from tests.law.engines import Pairs, heron_answer
from tests.law.oracle import oracle_answer

SHAPES: tuple[Pairs, ...] = (
    (("parallelism", "1"), ("containers", "1"), ("batch.rows", "100")),
    (("parallelism", "2"), ("containers", "2"), ("batch.rows", "300")),
    (("parallelism", "3"), ("containers", "2"), ("batch.rows", "50"), ("max.pending.rows", "200")),
)


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "shape"),
    [pytest.param(case, shape, id=case.name) for case, shape in zip(ON_TIME, cycle(SHAPES), strict=False)],
)
def test_processes_agree_with_the_oracle(case: Case, shape: Pairs, inputs: Path) -> None:
    answer = heron_answer(case, inputs, () if case.family == "hints" else shape)
    assert (found := difference(oracle_answer(case, inputs), answer.rows)) == "", f"{found}\n{answer.story}"
    assert answer.late == 0
