"""Where a query comes from: a file, -e, standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ouzel.cli.main import app
from tests.house.source import ROOT

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


@pytest.mark.parametrize("ends", ["", ";", " -- of birds\n"], ids=["open", "closed", "commented"])
def test_an_error_names_the_line_of_the_text_that_is_meant(ends: str) -> None:
    """Each -e begins on the line behind that of the one before."""
    wrong = ouzel(*MEMORY, "-e", TABLE + ends, "-e", "SELECT UPPER(wort) AS word\nFROM words")
    assert wrong.exit_code == 2
    line = 3 if "--" in ends else 2
    assert f"line {line}, column 14: there is no column wort in words" in wrong.stderr


def test_bytes_that_the_locale_did_not_read_are_text_all_the_same() -> None:
    """Where it is C, Python keeps each byte that is not ASCII as half of a surrogate pair."""
    query = "SELECT 'Müller' AS word".encode().decode("ascii", "surrogateescape")
    assert words(ouzel(*MEMORY, "-e", query)) == ["Müller"]
    wrong = ouzel(*MEMORY, "-e", "SELECT '\udcff' AS word")
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "error: the query behind -e is not UTF-8 text: invalid start byte at byte 8\n",
    )


def test_a_working_directory_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'cd "$0" && rmdir "$0" && exec "$@"'
    arguments = [sys.executable, "-m", "ouzel", "explain", "-e", "SELECT 1 AS one"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        ["sh", "-c", command, str(gone), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stderr == "error: the working directory has been removed; `cd` to one that is there\n"
    assert ended.returncode == 1


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
        (
            ("words.txt", "-e", "SELECT 1"),
            'there are two queries, words.txt and that behind -e; leave one out, or give both as one: -e "$(cat words.txt)" -e ...',
        ),
        (
            ("words.sql", "more.sql"),
            "`ouzel run` takes one query, and more.sql is behind it; give it several files as one: cat words.sql more.sql | ouzel run -",
        ),
        ((".",), ". is a folder, and no query; write a file of SQL"),
        (
            ("-e", "-- later\n;"),
            "error: there is no statement in the query, which holds comments alone; end it with SELECT",
        ),
        (("-e", "SELEC 1"), "line 1, column 1: SELEC does not begin a statement; did you mean SELECT?"),
        (("-e", ""), "error: there is no statement in the query, which holds nothing; end it with SELECT"),
        (
            ("words.py",),
            "words.py is a program in Python, and no query; run it by `python words.py`, or by `ouzel submit words.py`",
        ),
    ],
    ids=["none", "two", "files", "folder", "comments", "wrong", "empty", "program"],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], said: str) -> None:
    result = ouzel("run", "--engine", "memory", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_standard_input_that_is_no_text_is_refused() -> None:
    result = ouzel("run", "--engine", "memory", "-", given=b"SELECT '\xff'")
    assert result.exit_code == 2
    assert "standard input is not UTF-8 text" in result.stderr


def test_what_is_described_is_printed_and_can_be_copied() -> None:
    told = ouzel("run", "-e", "DESCRIBE 'words.txt'; SHOW TABLES", "--engine", "memory")
    described, _, shown = told.stdout.partition("\n\n")
    assert described.endswith("WITH ('connector' = 'file', 'path' = 'words.txt', 'format' = 'raw');")
    assert [line.split() for line in shown.splitlines()[2:]] == [["words", "table", "file", "1"]]
    assert words(ouzel(*MEMORY, "-e", f"{described} SELECT line AS word FROM words")) == ["ouzel", "heron"]


def test_what_is_described_can_be_read_by_a_program() -> None:
    told = ouzel("batch", "-e", "DESCRIBE 'words.txt'", "--format", "jsonl")
    assert json.loads(told.stdout) == {"column": "line", "type": "VARCHAR", "nullable": True, "of": None}
    assert ouzel("run", "-e", "SHOW CONNECTORS LIKE 'kafka'", "--format", "csv").stdout == (
        'connector,reads,writes,meaning\nkafka,true,"append, upsert, retract",Topics of a Kafka cluster\n'
    )


@pytest.mark.parametrize("command", ["explain", "reconcile"])
def test_what_only_tells_cannot_be_explained(command: str) -> None:
    result = ouzel(command, "-e", "SHOW TABLES")
    assert result.exit_code == 2
    assert "the query asks for nothing that runs; end it with SELECT ..., or with INSERT INTO" in result.stderr
