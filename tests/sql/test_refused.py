"""Queries that must fail: tests/refused holds them, each with its message on the first line and what is underlined on the second."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel.compiler.sql import compile_sql
from ouzel.errors import NotSupported, QueryError
from ouzel.job import connector_traits
from tests.sql.connectors import CONNECTORS, TABLES

REFUSED = sorted((Path(__file__).parents[1] / "refused").glob("*.sql"))


def test_there_are_enough() -> None:
    assert len(REFUSED) >= 45


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_refused(path: Path) -> None:
    error_line, at_line, query = path.read_text().split("\n", 2)
    expected, underlined = error_line.removeprefix("-- error: "), at_line.removeprefix("-- at: ")
    text = query if "CREATE TABLE" in query else TABLES + query
    with pytest.raises(QueryError) as caught:
        compile_sql(text, CONNECTORS)
    error = caught.value
    advice = f"; {error.instead}" if error.instead else ""
    assert f"{error.problem}{advice}" == expected
    assert error.text == text, "the error shows another text than the user's"
    assert text[error.at : error.at + error.length] == underlined
    assert ("not supported" in error.problem) == isinstance(error, NotSupported)


@pytest.mark.parametrize("name", ["jdbc", "postgresql"])
def test_a_connector_that_has_another_name_here(name: str) -> None:
    text = f"CREATE TABLE s (word STRING) WITH ('connector' = '{name}', 'table' = 's');"
    with pytest.raises(QueryError, match=f"there is no connector '{name}'") as caught:
        compile_sql(text, connector_traits())
    assert caught.value.instead == "write 'postgres', which is written and not read"
