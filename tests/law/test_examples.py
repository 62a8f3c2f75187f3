"""`ouzel run` of the examples, as a user types it, prints the answer that DuckDB gives for the same question."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from tests.law.compare import difference
from tests.law.oracle import table_of
from tests.servers.warm import WarmServers

EXAMPLES = Path(__file__).parents[2] / "sql_examples"
OUZEL = Path(sys.executable).with_name("ouzel")

ORACLES = {
    "flight_delays": """
        SELECT CAST(CAST(ts AS DATE) AS VARCHAR) AS departure_day, origin, COUNT(*) AS flights, COUNT(*) - COUNT(dep_delay) AS cancelled,
          ROUND(AVG(dep_delay), 1) AS avg_delay, MAX(dep_delay) AS max_delay,
          ROUND(100.0::DOUBLE * COUNT(*) FILTER (WHERE dep_delay > 15) / COUNT(*), 1) AS late_percent
        FROM 'flights.parquet' GROUP BY ALL""",
    "word_count": """
        SELECT word, COUNT(*) AS occurrences
        FROM (SELECT unnest(string_split(line, ' ')) AS word
              FROM read_csv('announcements.txt', columns = {line: 'VARCHAR'}, header = false, delim = '\\t'))
        GROUP BY word""",
}


def printed(example: str, *arguments: str) -> pl.DataFrame:
    """The final table that the command prints: as it is without arguments, with some forked from a process that is warm."""
    given = ["run", str(EXAMPLES / f"{example}.sql"), "--format", "jsonl", *arguments]
    if arguments:
        assert WarmServers.running is not None
        forked = WarmServers.running.command(given, os.environ)
        out, err = forked.communicate(120)
        code = forked.wait()
    else:
        run = subprocess.run([str(OUZEL), *given], capture_output=True, text=True, timeout=120, check=False)
        out, err, code = run.stdout, run.stderr, run.returncode
    assert code == 0, err
    return pl.DataFrame([json.loads(line) for line in out.splitlines()], infer_schema_length=None)


def oracle(example: str) -> pl.DataFrame:
    """DuckDB's answer over the example's own data."""
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{EXAMPLES / 'data'}'")
        return table_of(connection, ORACLES[example])


@pytest.mark.server
@pytest.mark.parametrize("arguments", [(), ("--parallelism", "2")], ids=["alone", "parallel"])
@pytest.mark.parametrize("example", sorted(ORACLES))
def test_the_example_prints_what_duckdb_answers(example: str, arguments: tuple[str, ...]) -> None:
    expected = oracle(example)
    assert expected.height > 100
    assert (found := difference(expected, printed(example, *arguments))) == "", found
