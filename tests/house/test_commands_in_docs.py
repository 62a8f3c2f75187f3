"""Commands that the pages speak of exist, and so do the options that stand behind them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from ouzel.cli.main import app
from tests.house.source import ROOT

PAGES = [page for page in sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")}) if page.name != "CHANGELOG.md"]
"""All but the history, which tells of what was, too."""

COMMAND = re.compile(r"(?:^(?:    |\$ |.*/)?|`)ouzel ([a-z][^`\n|&;]*)", re.M)
"""At the start of a line of a block, or of code in a sentence."""

ALL = typer.main.get_command(app)

SETTING = re.compile(r"--set[ =]\S+")


def command_of(words: list[str]) -> Any:
    """The command that the words begin with, or None."""
    command: Any = ALL
    for word in words:
        below = getattr(command, "commands", {})
        if not below:
            break
        command = below.get(word)
    return command


def mistakes(text: str) -> list[str]:
    """Commands in a page's code that do not exist, or have no such option."""
    wrong = []
    for line in COMMAND.findall(text):
        words = re.match(r"[a-z][a-z-]*(?: [a-z][a-z-]*)*", line)
        command = command_of(words.group().split() if words else [])
        known = {
            "--help",
            *(name for one in getattr(command, "params", ()) for name in (*one.opts, *one.secondary_opts)),
        }
        options = re.findall(r"(?<!\S)--[a-z][a-z-]*", SETTING.sub("", line))
        if command is None or not known.issuperset(options):
            wrong.append(f"ouzel {line}")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_their_options_exist(page: Path) -> None:
    assert mistakes(page.read_text()) == []


def test_what_is_not_there_is_found() -> None:
    assert mistakes(
        "`ouzel list --state failed`, `ouzel lost`\n\n    ouzel run q.sql --set a.b=--c --format csv\n"
    ) == [
        "ouzel list --state failed",
        "ouzel lost",
    ]
