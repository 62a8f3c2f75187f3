"""docs/cookbook.md and the pages beside it cannot lie: each query gives the answer that is shown, and DuckDB gives the same."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import polars as pl
import pytest

import ouzel
from ouzel import Stream
from tests.sql.shown import ROOT, TABLES, Example, examples

COOKBOOK = examples("cookbook.md")
OTHERS = [example for page in ("time-zones.md", "late-data.md", "dirty-files.md") for example in examples(page)]
WITH_PROGRAM = [example for example in COOKBOOK if example.program]
ORACLE = dict(
    re.findall(
        r"^-- question: (.+)\n((?:.*\n)*?.*;)$", (Path(__file__).parent / "cookbook" / "duckdb.sql").read_text(), re.M
    )
)
"""What DuckDB is asked, by question; `same;` is the query of the page."""


def named(example: Example) -> str:
    """How a test names an example."""
    number = examples(example.page.name).index(example)
    return f"{example.page.stem}-{number}-" + re.sub(r"\W+", "_", example.heading.lower()).strip("_")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory in which the paths of the pages lead to the data."""
    (tmp_path / "sql_examples").symlink_to(ROOT / "sql_examples")
    return tmp_path


@pytest.fixture(scope="module")
def oracle() -> duckdb.DuckDBPyConnection:
    """DuckDB over the same files."""
    base = duckdb.connect()
    shop = ROOT / "sql_examples/shop"
    for name in ("orders", "prices", "customers", "products"):
        base.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{shop}/{name}.csv')")
    base.execute(f"CREATE TABLE clicks AS SELECT * REPLACE (ts::TIMESTAMP AS ts) FROM read_json('{shop}/clicks.jsonl')")
    for name in ("flights", "weather", "airlines"):
        base.execute(f"CREATE VIEW {name} AS SELECT * FROM '{ROOT}/sql_examples/data/{name}.parquet'")
    return base


def rows(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """All rows as texts, in an order; numbers without their digits, for DuckDB has other types for sums and means."""
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    plain = frame.with_columns(pl.col(name).cast(pl.Float64).round(6) for name in numbers)
    return sorted(tuple(map(str, row)) for row in plain.rows())


def last_of(base: duckdb.DuckDBPyConnection, text: str) -> pl.DataFrame:
    """The answer to the last statement; what stands before it makes views."""
    *before, query = (part for part in text.split(";") if part.strip())
    for statement in before:
        base.execute(statement.replace("CREATE VIEW", "CREATE OR REPLACE TEMP VIEW"))
    return base.sql(query).pl()


def test_the_page_has_its_tables_and_25_questions() -> None:
    page = (ROOT / "docs/cookbook.md").read_text()
    assert f"```sql\n{TABLES}```" in page
    assert len(re.findall(r"^### ", page, re.M)) >= 25
    assert len(COOKBOOK) == page.count("```sql\n") - 1, "each query but the tables has an answer below it"
    assert len(ORACLE) >= 20
    assert ORACLE.keys() <= {example.heading for example in COOKBOOK}


@pytest.mark.parametrize("example", [*COOKBOOK, *OTHERS], ids=named)
def test_the_answer_is_the_one_shown(
    example: Example, place: Path, oracle: duckdb.DuckDBPyConnection, update_golden: bool
) -> None:
    table, shown = example.run(place)
    if update_golden:
        example.write(shown)
    else:
        assert shown == example.answer, "pytest --update-golden writes it anew"
    if example.page.name == "cookbook.md" and (asked := ORACLE.get(example.heading)):
        assert rows(table) == rows(last_of(oracle, example.query if asked == "same;" else asked))


@pytest.mark.parametrize("example", WITH_PROGRAM, ids=named)
def test_the_program_gives_the_answer_too(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(sys.modules, "cooked", module := ModuleType("cooked"))
    made: dict[str, Any] = vars(module)
    exec(example.program, made)
    *_, last = (one for one in made.values() if isinstance(one, Stream))
    assert set(last.table("memory")["value"]) == set(ouzel.table(example.job(ROOT), "memory")["revenue"])


def test_dead_letters_are_those_that_the_page_shows(place: Path, update_golden: bool) -> None:
    (example,) = (one for one in OTHERS if "dead.jsonl" in one.query)
    example.run(place)
    page = example.page.read_text()
    letters, dirty = (place / "dead.jsonl").read_text(), (ROOT / "sql_examples/shop/dirty_orders.csv").read_text()
    told = letters.replace(f"{place}/", "")
    if update_golden:
        page = re.sub(r"```json\n.*?```", lambda _: f"```json\n{told}```", page, flags=re.S)
        example.page.write_text(re.sub(r"```csv\n.*?```", lambda _: f"```csv\n{dirty}```", page, flags=re.S))
    else:
        assert f"```json\n{told}```" in page
        assert f"```csv\n{dirty}```" in page
