"""DuckDB's answer to a case, over the same files. Shares no code with Ouzel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
import polars as pl

from tests.law.cases import HERE, Case

ROUNDED = (HERE / "rounded.duckdb.sql").read_text(encoding="utf-8")
"""The macro by which an oracle rounds: the rule of the language rounds the number that is written, DuckDB's ROUND the one in binary."""


@cache
def connected(directory: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with the law's tables of this folder."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"SET file_search_path = '{directory}'; SET TimeZone = 'UTC'")
    connection.execute(ROUNDED + (HERE / "prelude.duckdb.sql").read_text(encoding="utf-8"))
    return connection


@cache
def oracle_answer(case: Case, directory: Path) -> pl.DataFrame:
    """The table that the case's question has, in no order."""
    return table_of(connected(directory), case.oracle)


def table_of(connection: duckdb.DuckDBPyConnection, query: str) -> pl.DataFrame:
    """What DuckDB answers."""
    answer = pl.from_arrow(connection.sql(query).to_arrow_table())
    assert isinstance(answer, pl.DataFrame)
    return answer
