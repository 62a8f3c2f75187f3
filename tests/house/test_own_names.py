"""Columns that engines, rules and connectors put beside a row's own: no query can use their names, or one would be taken for the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.compiler.plan import OWN_NAMES
from ouzel.errors import QueryError
from tests.sql.connectors import compiled

ROOT = Path(__file__).parents[2] / "ouzel"
PARTS = ("runtime", "planner", "spark", "reconcile", "connectors")


def written_names() -> Iterator[str]:
    """The names that begin with a dollar, of the code that runs; the compiler's own are new in each query."""
    for part in PARTS:
        for path in (ROOT / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from re.findall(r"^\$([a-z]+(?:_[a-z]+)*)\d*$", node.value)


def test_every_name_that_is_written_is_listed() -> None:
    assert set(written_names()) == OWN_NAMES


@pytest.mark.parametrize("name", ["$rows", "$pane_end", "$owner", "$error0", "$weight"])
def test_a_query_cannot_use_them(name: str) -> None:
    with pytest.raises(QueryError, match="is a name of Ouzel's own"):
        compiled(f'SELECT word, n AS "{name}" FROM words;')


def test_a_query_can_use_others() -> None:
    compiled('SELECT word AS "$key", n AS "$type" FROM words;')
