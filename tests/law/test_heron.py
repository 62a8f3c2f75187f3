"""The law, on real processes: the cases as sinks of a few topologies, spread over a few shapes, and some each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from ouzel.session import load
from tests.law.cases import ON_TIME, PRELUDE, Case
from tests.law.compare import WEIGHT, difference, plain_fold
from tests.law.engines import Pairs, heron_answer, loaded, run_to_end
from tests.law.oracle import oracle_answer

SHAPES: tuple[Pairs, ...] = (
    (("parallelism", "1"), ("containers", "1"), ("batch.rows", "100")),
    (("parallelism", "2"), ("containers", "2"), ("batch.rows", "300")),
    (("parallelism", "2"), ("containers", "2"), ("batch.rows", "100"), ("max.pending.rows", "400")),
)
UNEVEN: Pairs = (("parallelism", "3"), ("containers", "2"), ("batch.rows", "50"), ("max.pending.rows", "200"))
"""For one topology, and for every third of the queries by themselves: three tasks do not fit evenly into two containers."""
TOGETHER = 16
PATIENT: Pairs = (("hang.timeout.ms", "60000"),)
"""Dozens of processes share the machine's cores: one of them may have none for ten seconds, and is not killed for that."""
ALONE = [case for case in ON_TIME if case.family == "hints" or "SET '" in case.text]
"""Cases whose own settings would be their neighbours' too."""
SHARING = [case for case in ON_TIME if case not in ALONE]
GROUPS = [SHARING[first :: -(-len(SHARING) // TOGETHER)] for first in range(-(-len(SHARING) // TOGETHER))]
"""Cases side by side, those of one family in different topologies."""
SINGLE = SHARING[:: len(SHARING) // 10]


def inserting(case: Case, inputs: Path, out: Path) -> str:
    """The case with a table of Parquet for its answer."""
    *before, select = [statement for statement in case.text.split(";") if statement.strip()]
    columns = ", ".join(f'"{field.name}" {field.type}' for field in loaded(case, inputs, ()).program.sinks[-1].schema)
    where = f"'connector' = 'file', 'path' = '{out / case.name}', 'format' = 'parquet', 'changelog' = 'true'"
    table = f"CREATE TABLE answer_{case.name} ({columns}) WITH ({where})"
    return "".join(f"{statement};\n" for statement in (*before, table, f"INSERT INTO answer_{case.name} {select}"))


def written(folder: Path, case: Case, inputs: Path) -> pl.DataFrame:
    """What the rows of a file table add up to."""
    schema = oracle_answer(case, inputs).schema
    parts = sorted(folder.glob("*.parquet"))
    frames = [pl.read_parquet(part).rename({"op": WEIGHT}, strict=False) for part in parts]
    return plain_fold([pl.concat(frames)], schema.names()) if frames else schema.to_frame()


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_topologies_of_several_queries_agree_with_the_oracle(number: int, inputs: Path, tmp_path: Path) -> None:
    cases: Sequence[Case] = GROUPS[number]
    path = inputs / f"together_{number}.sql"
    path.write_text(PRELUDE + "".join(inserting(case, inputs, tmp_path) for case in cases), encoding="utf-8")
    shape = UNEVEN if number == 2 else SHAPES[number % len(SHAPES)]
    _, status = run_to_end(load(path, (*shape, *PATIENT)), "heron")
    found = {
        case.name: difference(oracle_answer(case, inputs), written(tmp_path / case.name, case, inputs))
        for case in cases
    }
    assert not any(found.values()), f"{found}\n{dict(shape)}, {status}"
    assert status.rows_late == 0


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("case", [*ALONE, *SINGLE], ids=str)
def test_processes_agree_with_the_oracle(case: Case, inputs: Path) -> None:
    shape = () if case in ALONE else (*SHAPES[:2], UNEVEN)[SINGLE.index(case) % 3]
    answer = heron_answer(case, inputs, shape)
    assert (found := difference(oracle_answer(case, inputs), answer.rows)) == "", f"{found}\n{answer.story}"
    assert answer.late == 0
