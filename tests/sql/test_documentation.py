"""docs/sql.md: every example compiles, and everything it says is refused is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ouzel.compiler.sql import compile_sql
from ouzel.compiler.sql.source import QueryText
from ouzel.compiler.sql.type_names import read_type
from tests.sql.connectors import CONNECTORS, TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
REFUSED = {path.stem for path in (Path(__file__).parents[1] / "refused").glob("*.sql")}


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_compiles(example: str) -> None:
    known = set(re.findall(r"CREATE TABLE (\w+)", TABLES))
    text = example if known & set(re.findall(r"CREATE TABLE (\w+)", example)) else TABLES + example
    assert compile_sql(text, CONNECTORS).sinks


def test_the_types_of_the_page_exist() -> None:
    table = PAGE.split("## Types")[1].split("## CREATE TABLE")[0]
    rows = [
        line.strip("|").split("|")
        for line in table.splitlines()
        if line.startswith("| ") and not line.startswith("| type")
    ]
    written = [
        name
        for row in rows
        for cell in row[:2]
        for name in re.split(r",\s+(?![^(<]*[)>])", cell.replace("\\", "").strip())
        if name
    ]
    assert len(written) > 30
    for name in written:
        spelled = re.sub(r"\bp, s\b", "5, 2", re.sub(r"\((p|n)\)", "(3)", name))
        spelled = spelled.replace("<t>", "<INT>").replace("t ARRAY", "INT ARRAY").replace("<k, v>", "<INT, STRING>")
        source = QueryText(spelled)
        read_type(source, source.tokens())


@pytest.mark.parametrize(
    "file",
    ["natural_join", "temporal_join_by_the_clock",
     "match_recognize",
     "all_subquery", "now", "create_function", "drop"],
)  # fmt: skip
def test_what_is_not_there_is_refused(file: str) -> None:
    assert file in REFUSED
