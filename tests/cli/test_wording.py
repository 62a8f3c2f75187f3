"""Values that the command line does not take, in plain words."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
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
