"""Every example gives the answer that DuckDB gives, in one process."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from tests.cli.examples import BAD_CLAIMS, asked, claims, same
from tests.house.source import ROOT

PRINTED = ("flight_delays", "word_count", "storms", "airport_traffic", "worst_routes", "wind_and_delays")


def run_memory(path: Path, *options: str) -> tuple[str, str]:
    """What `ouzel run --engine memory` prints."""
    result = CliRunner().invoke(app, ["run", str(path), "--engine", "memory", "--format", "jsonl", *options])
    assert result.exit_code == 0, result.stderr
    return result.stdout, result.stderr


def test_no_example_is_forgotten() -> None:
    assert {path.stem for path in (ROOT / "sql_examples").glob("*.sql")} == {*PRINTED, "late_carriers", "claims"}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_answers_as_duckdb_does(name: str, examples: Path) -> None:
    out, err = run_memory(examples / f"{name}.sql")
    rows = [json.loads(line) for line in out.splitlines()]
    same(rows, asked(name, examples))
    assert len(rows) > 10
    assert "late" not in err


def test_parallelism_changes_nothing(examples: Path) -> None:
    path = examples / "airport_traffic.sql"
    alone, together = (run_memory(path, "--parallelism", tasks)[0].splitlines() for tasks in ("1", "3"))
    assert sorted(alone) == sorted(together)


def test_insert_into_writes_files(examples: Path) -> None:
    out, err = run_memory(examples / "late_carriers.sql")
    assert out == ""
    assert "336,776 rows in" in err
    assert "adding to" not in err
    same(pl.read_parquet(examples / "data/late_carriers/*.parquet").to_dicts(), asked("late_carriers", examples))
    parts = len(list((examples / "data/late_carriers").iterdir()))
    _, err = run_memory(examples / "late_carriers.sql")
    assert f"table 'late_carriers': adding to the {parts} parts that earlier runs left in" in err
    assert len(list((examples / "data/late_carriers").iterdir())) > parts


def test_bad_records_are_counted_and_kept(examples: Path) -> None:
    out, err = run_memory(examples / "claims.sql")
    same([json.loads(line) for line in out.splitlines()], claims(examples))
    assert f"bad {len(BAD_CLAIMS)}" in err
    letters = (examples / "data/bad_claims.jsonl").read_text().splitlines()
    assert len(letters) == len(BAD_CLAIMS)
    for number in BAD_CLAIMS:
        assert any(f"claims.csv:{number + 1}" in letter for letter in letters), number


def test_a_bad_record_that_may_not_be_stops_the_run(examples: Path) -> None:
    text = (examples / "claims.sql").read_text().replace("'dead-letter',", "'fail',")
    (examples / "strict.sql").write_text(
        "\n".join(line for line in text.splitlines() if "dead-letter.path" not in line)
    )
    text = (examples / "strict.sql").read_text().replace("'fail',", "'fail'")
    (examples / "strict.sql").write_text(text)
    result = CliRunner().invoke(app, ["run", str(examples / "strict.sql"), "--engine", "memory"])
    assert result.exit_code == 1
    assert "claims.csv:8" in result.stderr
    assert result.stdout == ""
