"""Where a query comes from: a file, -e, standard input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ouzel.cli.main import app

TABLE = "CREATE TABLE words (word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.txt', 'format' = 'raw')"
QUERY = "SELECT UPPER(word) AS word FROM words"
MEMORY = ("run", "--engine", "memory", "--format", "jsonl")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a file of words."""
    (tmp_path / "words.txt").write_text("ouzel\nheron\n")
    monkeypatch.chdir(tmp_path)


def ouzel(*arguments: Any, given: str | bytes = "") -> Result:
    """Run the command line."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)


def words(result: Result) -> list[str]:
    """What it answered."""
    assert result.exit_code == 0, result.stderr
    return [json.loads(line)["word"] for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("-e", f"{TABLE}; {QUERY};"), ""),
        (("-e", f"{TABLE} -- of birds", "--execute", QUERY), ""),
        (("-",), f"{TABLE};\n{QUERY}"),
    ],
    ids=["one", "several", "stdin"],
)
def test_a_query_needs_no_file(arguments: tuple[str, ...], given: str) -> None:
    assert words(ouzel(*MEMORY, *arguments, given=given)) == ["OUZEL", "HERON"]


def test_every_command_that_takes_a_file_takes_a_text(tmp_path: Path) -> None:
    explained = ouzel("explain", "--logical", "-e", f"{TABLE}; {QUERY}")
    assert "UPPER(word)" in explained.stdout
    emitted = ouzel("batch", "--emit", "-", "-", given=f"{TABLE}; {QUERY}")
    assert "def query(" in emitted.stdout
    assert str(tmp_path) in emitted.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), 'there is no query; write FILE.sql, -e "SELECT ..." or -'),
        (("words.txt", "-e", "SELECT 1"), 'words.txt is a query too; write FILE.sql, -e "SELECT ..." or -'),
        (("-e", "SELEC 1"), "line 1, column 1: SELEC does not begin a statement; did you mean SELECT?"),
        (("-e", ""), "the file asks for nothing"),
    ],
    ids=["none", "two", "wrong", "empty"],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], said: str) -> None:
    result = ouzel("run", "--engine", "memory", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_standard_input_that_is_no_text_is_refused() -> None:
    result = ouzel("run", "--engine", "memory", "-", given=b"SELECT '\xff'")
    assert result.exit_code == 2
    assert "standard input is not UTF-8 text" in result.stderr
