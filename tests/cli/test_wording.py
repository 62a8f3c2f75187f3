"""Values that the command line does not take, in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.cli.query import read_query
from ouzel.cli.wording import in_plain_words


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        (
            "Value error, 'jsnl' is not one of 'table', 'jsonl'.",
            "'jsnl' is not one of 'table', 'jsonl'; did you mean jsonl?",
        ),
        ("'json' is not one of 'table', 'jsonl'.", "'json' is not one of 'table', 'jsonl'; did you mean jsonl?"),
        ("Value error, 'parquet' is not one of 'table', 'csv'.", "'parquet' is not one of 'table', 'csv'."),
        ("'x' has no '='; write --set key=value", "'x' has no '='; write --set key=value"),
    ],
)
def test_the_choice_that_is_meant_is_said(said: str, plain: str) -> None:
    assert in_plain_words(said) == plain


def test_a_misspelt_format_is_answered_with_the_one_that_is_meant() -> None:
    result = CliRunner().invoke(app, ["run", "-e", "SELECT 1 AS x", "--format", "jsnl"])
    assert result.exit_code == 2
    assert "did you mean jsonl?" in result.output
    assert "Value error" not in result.output


@pytest.mark.parametrize(
    ("value", "written"),
    [("csv", "--format csv"), ("json", "--format jsonl"), ("my out.csv", "--format csv > 'my out.csv'")],
)
def test_the_option_of_other_tools_for_the_result_is_answered_with_ours(value: str, written: str) -> None:
    result = CliRunner().invoke(app, ["run", "-e", "SELECT 1 AS x", "--output", value])
    assert result.exit_code == 2
    assert f"write {written}" in " ".join(result.output.split())
    assert "--output" not in CliRunner().invoke(app, ["run", "-h"]).output


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("SELECT COUNT(*) FROM 'a.csv'", """-e "SELECT COUNT(*) FROM 'a.csv'\""""),
        ('select "a$b" from t', """-e 'select "a$b" from t'"""),
    ],
)
@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_query_in_place_of_a_file_is_told_of_e(command: str, query: str, written: str) -> None:
    result = CliRunner().invoke(app, [command, query])
    assert result.exit_code == 2
    assert f"write {written}" in result.output


def test_a_file_that_is_called_as_a_query_begins_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "select one.sql").write_text("SELECT 1 AS x")
    monkeypatch.chdir(tmp_path)
    assert read_query(Path("select one.sql"), []).file == Path("select one.sql")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["submit", "count.py", "--input", "x"], "and write INPUT=… ouzel submit …"),
        (["submit", "count.py", "x"], "and write INPUT=… ouzel submit …"),
        (["update", "count", "count.py", "--input", "x"], "and write INPUT=… ouzel update …"),
        (["run", "count.py", "--input", "x"], "and write INPUT=… python count.py"),
    ],
)
def test_a_program_is_given_no_arguments(given: list[str], told: str) -> None:
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert "a program is given no arguments: let it read a variable of the environment" in result.output
    assert result.output.endswith(f"{told}\n")


@pytest.mark.parametrize(("file", "option"), [("count.sql", "--input"), ("count.py", "--nme")])
def test_an_option_of_ours_is_none_of_a_program(file: str, option: str) -> None:
    result = CliRunner().invoke(app, ["submit", file, option, "x"])
    assert result.exit_code == 2
    assert f"No such option: {option}" in result.output
    assert "a program is given" not in result.output


def test_an_option_that_is_only_there_to_be_refused_is_not_meant() -> None:
    result = CliRunner().invoke(app, ["run", "count.sql", "--outputs", "x"])
    assert result.exit_code == 2
    assert "No such option: --outputs" in result.output
    assert "Possible options" not in result.output
    assert "(Possible options: --help)" in CliRunner().invoke(app, ["run", "count.sql", "--hlep"]).output


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["run", "--set", "batch.rows", "100", "q.sql"], "--set takes KEY=VALUE; write --set batch.rows=100"),
        (["run", "q.sql", "--set", "batch.rows", "100"], "--set takes KEY=VALUE; write --set batch.rows=100"),
        (["batch", "q.sql", "--conf", "spark.x", "1"], "--conf takes KEY=VALUE; write --conf spark.x=1"),
        (["run", "--set", "batch.rows=100", "q.sql", "r.sql"], "`ouzel run` takes one query, and r.sql is behind it; "),
        (["q.sql"], "no command is given; did you mean: ouzel run q.sql"),
        (["rnu", "q.sql"], "No such command 'rnu'"),
    ],
)
def test_arguments_in_the_wrong_place_are_told_what_to_write(args: list[str], told: str) -> None:
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 2
    assert told in result.output


@pytest.mark.parametrize("command", ["run", "explain", "batch"])
def test_several_files_of_sql_are_told_what_to_do(command: str) -> None:
    result = CliRunner().invoke(app, [command, "a.sql", "b.sql"])
    assert result.exit_code == 2
    told = f"`ouzel {command}` takes one query, and b.sql is behind it; give it several files as one: "
    assert f"{told}cat a.sql b.sql | ouzel {command} -" in result.output
