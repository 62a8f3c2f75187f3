"""Published faults of other engines, as small queries with the right answer: `cases/` has a folder for each.

`case.sql` is the query and `expected.jsonl` its answer, `expected_alt.jsonl` another that is as right. `meta.json` says where it comes
from, who has checked the answer, which types its columns have and whether its rows have an order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ouzel.session import Job, load
from tests.law.engines import folded, run_to_end
from tests.law.together import answers_together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent / "cases"

OTHERWISE_IN_BATCH = {
    "line_ends_in_quotes": "Spark's reader makes one letter of a line end of two inside quotes, which docs/batch.md says"
}
"""Cases whose batch job is known to answer something else, and why."""

Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Found:
    """One case."""

    folder: Path
    kinds: dict[str, str]
    ordered: bool

    @classmethod
    def read(cls, folder: Path) -> Found:
        """The case of a folder."""
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        return cls(folder, {column["name"]: column["type"] for column in meta["columns"]}, meta["ordered"])

    def job(self) -> Job:
        """The case as a job over its own input."""
        return load(self.folder / "case.sql")

    @property
    def answers(self) -> Iterator[list[Row]]:
        """The rows of each answer that is right."""
        for path in sorted(self.folder.glob("expected*.jsonl")):
            lines = path.read_text(encoding="utf-8").splitlines()
            yield [self.spell(json.loads(line).values()) for line in lines]

    def spell(self, values: Iterable[Any]) -> Row:
        """A row of any engine as texts."""
        return tuple(
            None if value is None else _spell(value, kind)
            for value, kind in zip(values, self.kinds.values(), strict=True)
        )

    def check(self, rows: list[Row]) -> None:
        """Whether these rows are one of the answers."""
        right = list(self.answers)
        if self.ordered:
            assert rows in right
        else:
            assert Counter(rows) in [Counter(each) for each in right], f"{rows} is none of {right}"


def _spell(value: Any, kind: str) -> str:
    """One value as a text, the same whether it comes from JSON, from a frame or from Spark as text."""
    match kind:
        case "BOOLEAN":
            return str(value).lower()
        case "DOUBLE":
            return repr(float(value))
        case "DECIMAL":
            return str(Decimal(str(value)))
    return str(value)


CASES = {path.name: Found.read(path) for path in sorted(FOLDER.iterdir())}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_topology_answers(case: Found) -> None:
    job = case.job()
    result = job.program.result
    assert result is not None
    kinds = {field.name: str(field.type).split("(")[0].replace("STRING", "VARCHAR") for field in result.schema}
    assert kinds == case.kinds
    frames, status = run_to_end(job, "memory")
    assert (status.rows_bad, status.rows_failed, status.rows_late) == (0, 0, 0)
    case.check([case.spell(row) for row in folded(job, frames).iter_rows()])


@pytest.mark.spark
def test_the_batch_job_answers(spark: SparkSession) -> None:
    """All of them in one job of Spark's."""
    every = [case for name, case in CASES.items() if name not in OTHERWISE_IN_BATCH]
    answers = batch_answers(spark, every)
    for case in every:
        case.check(answers[case.folder.name])


def batch_answers(spark: SparkSession, cases: list[Found]) -> dict[str, list[Row]]:
    """The rows of each case, by the name of its folder."""
    found = answers_together(spark, {case.folder.name: (case.job().program, case.folder) for case in cases})
    return {name: [CASES[name].spell(row) for row in rows] for name, rows in found.items()}
