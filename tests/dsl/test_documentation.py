"""docs/dsl.md cannot lie: each program runs, and gives what the SQL beside it gives."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel import Stream
from tests.house.source import ROOT

PAGE = (ROOT / "docs/dsl.md").read_text()
PAIRS = re.findall(r"^```python\n(.*?)^```\n.*?^```sql\n(.*?)^```", PAGE, re.M | re.S)
LAST_PROGRAM = PAGE.rsplit("```python\n", 1)[1].partition("```")[0]


def rows(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    return sorted(frame.rows(), key=repr)


@pytest.mark.parametrize(("program", "query"), PAIRS, ids=[str(number) for number in range(len(PAIRS))])
def test_a_program_gives_what_the_query_beside_it_gives(
    program: str, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "sql_examples/data"
    data.mkdir(parents=True)
    with (ROOT / "sql_examples/data/announcements.txt").open() as text:
        (data / "announcements.txt").write_text("".join(next(text) for _ in range(500)))
    pl.read_parquet(ROOT / "sql_examples/data/flights.parquet").gather_every(40).write_parquet(data / "flights.parquet")
    shutil.copy(ROOT / "sql_examples/data/airlines.parquet", data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "documented", module := ModuleType("documented"))
    made: dict[str, Any] = vars(module)
    exec(program, made)
    *_, last = (one for one in made.values() if isinstance(one, Stream))
    assert (
        rows(last.table("memory")) == rows(ouzel.table(ouzel.query(query, tmp_path / "sql_examples"), "memory")) != []
    )


def test_the_readme_says_the_same() -> None:
    first = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)[0]
    assert first in (ROOT / "README.md").read_text()


def test_the_example_of_a_test_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(LAST_PROGRAM, {"__name__": "documented"})
