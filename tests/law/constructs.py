"""The constructs of SQL as docs/sql.md has them, and which cases of the law hold each."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def rows() -> tuple[tuple[str, ...], ...]:
    """The rows of the table: construct, two columns of where it runs, and what holds it; a title of a group has only its name."""
    page = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8").split("## Construct by construct")[1]
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return tuple(tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines[1:])


def constructs() -> dict[str, tuple[str, ...]]:
    """The other cells of each construct."""
    return {row[0]: row[1:] for row in rows() if not row[0].startswith("**")}


@cache
def families() -> dict[str, frozenset[str]]:
    """The names of the law's cases, by file."""
    paths = (ROOT / "tests/law/queries").glob("*.sql")
    return {
        path.stem: frozenset(re.findall(r"^-- query: (\w+)$", path.read_text(encoding="utf-8"), re.M)) for path in paths
    }


@cache
def first_cases() -> frozenset[str]:
    """Of each construct the first case that holds it."""
    cases = frozenset[str]().union(*families().values())
    held = (re.findall(r"`(\w+)`", cells[-1]) for cells in constructs().values())
    return frozenset(named[0] for names in held if (named := [name for name in names if name in cases]))
