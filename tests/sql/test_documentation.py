"""docs/sql.md, joins.md and windows.md: every example compiles. What it says is refused is in `tests/house/test_refusals.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ouzel.compiler.sql import compile_sql
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.type_names import read_type
from tests.sql.connectors import CONNECTORS, TABLES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "sql.md").read_text()
PAGES = "".join((DOCS / f"{name}.md").read_text() for name in ("sql", "joins", "windows"))
EXAMPLES = re.findall(r"```sql\n(.*?)```", PAGES, re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 40


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
        spelled = (
            spelled.replace("<t>", "<INT>")
            .replace("t ARRAY", "INT ARRAY")
            .replace("t[]", "INT[]")
            .replace("<k, v>", "<INT, STRING>")
        )
        source = QueryText(spelled)
        read_type(source, source.tokens())
