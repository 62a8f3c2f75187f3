"""The command line where stdin, stdout and stderr are terminals or not, in all eight ways, on narrow and wide ones."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest

from tests.cli.terminals import CONTROL, Case, Outcome, Terminal, run_all
from tests.servers.warm import WarmServers

WAYS = ["".join(way) for way in product(("", "0"), ("", "1"), ("", "2"))]
WIDTHS = (60, 80, 200)

NUMBERS = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence');
"""
GROWS = "SELECT n, REPEAT('x', 70) AS filler FROM numbers"
CHANGES = "SELECT n > 0 AS positive, COUNT(*) AS many FROM numbers GROUP BY n > 0"
FILLER = "x" * 70

ANSWERS = {
    (GROWS, "csv"): ["n,filler", *(f"{n},{FILLER}" for n in range(3))],
    (GROWS, "jsonl"): [f'{{"n": {n}, "filler": "{FILLER}"}}' for n in range(3)],
    (GROWS, "changelog"): [f'{{"op": "+", "n": {n}, "filler": "{FILLER}"}}' for n in range(3)],
    (CHANGES, "csv"): ["positive,many", "false,1", "true,2"],
    (CHANGES, "jsonl"): ['{"positive": false, "many": 1}', '{"positive": true, "many": 2}'],
    (CHANGES, "table"): ["true 2", "false 1"],
}
"""Query and format -> the lines of the answer; of a table the words of its rows."""


def run(query: str, form: str) -> tuple[str, ...]:
    """The arguments of a command."""
    return ("run", "--engine", "memory", "-e", NUMBERS + query, "--format", form)


def test_every_format_on_every_kind_of_stream(tmp_path: Path) -> None:
    asked = [(answer, way, width) for answer in ANSWERS for way in WAYS for width in WIDTHS]
    cases = [Case(run(*answer), way, width) for answer, way, width in asked]
    for (answer, way, width), outcome in zip(asked, run_all(cases, tmp_path), strict=True):
        wrong = _wrong(answer[1], ANSWERS[answer], way, width, outcome)
        assert not wrong, f"--format {answer[1]} of {answer[0]}, terminals {way!r}, {width} columns: {wrong}: {outcome}"


def _wrong(form: str, lines: list[str], way: str, width: int, outcome: Outcome) -> str:
    """What is wrong with it; empty if nothing is."""
    answered = (outcome.shown if "1" in way else outcome.out).splitlines()
    said = outcome.shown if "2" in way else outcome.err
    found = [" ".join(line.split()) for line in answered] if form == "table" else answered
    checks = {
        f"exit code {outcome.code}": outcome.code == 0,
        "lines of the answer are missing": [line for line in found if line in lines][-len(lines) :] == lines,
        "more than the answer is in the file": "1" in way or form == "table" or answered == lines,
        "control sequences are in a file": not CONTROL.search(outcome.out + outcome.err),
        "no summary": "answered in" in said,
        "rows are on stderr": "1" in way or not set(lines) & set(said.splitlines()),
        "words are in the answer": "2" in way or "answered in" not in "".join(answered),
        "lines are too wide": all(len(line) <= width or line in lines for line in outcome.shown.splitlines()),
        "the terminal has what is not for it": bool(outcome.screen) == bool(set(way) & {"1", "2"}),
    }
    return ", ".join(problem for problem, holds in checks.items() if not holds)


@pytest.mark.server
def test_a_topology_writes_into_a_file_while_the_terminal_shows_how_it_stands(tmp_path: Path) -> None:
    assert WarmServers.running is not None
    terminal, path = Terminal(80), tmp_path / "numbers.csv"
    with path.open("wb") as out:
        command = WarmServers.running.command(
            ["run", "-e", NUMBERS + GROWS, "--format", "csv"],
            {**os.environ, "TERM": "xterm"},
            outputs=(out.fileno(), terminal.theirs),
        )
        code = command.wait(120)
    shown = CONTROL.sub("", terminal.close())
    assert code == 0, shown
    assert path.read_text().splitlines() == ANSWERS[GROWS, "csv"]
    assert "rows in" in shown.partition("answered in")[0] or "starting" in shown
    assert "answered in" in shown
