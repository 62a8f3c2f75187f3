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
