"""A terminal of 60 columns: helps, errors and warnings end their lines between words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from ouzel.cli.main import app
from ouzel.cli.speech import around_carets
from tests.cli.terminals import Case, run_all

NARROW, WIDE = 60, 1_000
TABLE = "CREATE TABLE seen (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '3', 'fields.n.kind' = 'sequence'); "

SAID = (
    ("explain", "-e", f"{TABLE}SELECT number FROM seen;"),
    ("explain", "-e", f"{TABLE}SELECT n AS an_uncommonly_long_name_for_a_column FROM seen WHERE n = NULL;"),
    ("run", "-e", f"{TABLE}SELECT 10 / n AS parts FROM seen;", "--engine", "memory"),
    ("run", "-e", f"{TABLE}SELECT n FROM seen;", "--set", "paralelism=2"),
    ("run", "there_is_no_such_file_as_this_one.sql"),
)
"""Commands that say something on stderr, of which some is wider than the terminal."""


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of a command, and of all below it if it is a group."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


def words(screen: str) -> set[str]:
    """What is between spaces and hyphens, behind which a line may end too."""
    return set(re.split(r"[\s-]+", screen))


def test_no_line_ends_within_a_word(tmp_path: Path) -> None:
    helps = [(*path, "--help") for path in commands(typer.main.get_command(app))]
    asked = [*SAID, *helps]
    assert len(helps) > 20
    cases = [Case(arguments, "12", width) for arguments in asked for width in (NARROW, WIDE)]
    outcomes = run_all(cases, tmp_path)
    for arguments, narrow, wide in zip(asked, outcomes[::2], outcomes[1::2], strict=True):
        lines = narrow.shown.splitlines()
        whole = words(wide.shown)
        broken = {word for word in words(narrow.shown) - whole if "…" not in word}
        long = {word for word in whole if len(word) > NARROW - 34}
        pieces = {word for word in broken if not any(word in other for other in long)}
        assert not pieces, f"{arguments}: {pieces}: {narrow.shown}"
        assert max(map(len, lines)) <= NARROW, f"{arguments}: {narrow.shown}"


@pytest.mark.parametrize(
    ("line", "at", "shown"),
    [
        ("SELECT a", 7, ["SELECT a", "       ^"]),
        (f"SELECT {'b, ' * 20}a FROM t WHERE c = d", 67, ["…, b, a FROM t…", "      ^"]),
        (f"SELECT {'数, ' * 20}a", 87, ["… 数, a", "      ^"]),
        (f"a FROM {'b' * 40}", 0, ["a FROM bbbbbbb…", "^"]),
    ],
)
def test_the_carets_stay_below_what_they_mean(line: str, at: int, shown: list[str]) -> None:
    assert list(around_carets(line, " " * at + "^", 15)) == shown
