"""What functions are called: events `on_…`, questions `is_…` or `has_…`, everything else a verb.

A participle (`restored`) does not say whether something happens, has happened or is asked for. Properties may have one: they are values;
so may what a `with` enters: inside, it is so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import ROOT, listed, nodes, package, short

PARTICIPLE = re.compile(
    "[a-z]+[^e]ed|begun|broken|brought|built|came|chosen|dealt|done|drawn|found|given|gone|grown|heard|held|hidden|kept|known|left|lost|"
    "made|meant|met|paid|said|seen|sent|shown|slept|spent|stood|taken|thought|told|took|torn|went|written"
)
VALUES = ("property", "cached_property", "setter", "contextmanager")
VERBS = ("contains", "exists", "has")
"""Questions as Python's own libraries ask them."""

NOT_YET = {"connectors", "dsl"}
"""Folders that are not held to it yet."""
ALLOWED = {"ouzel/errors.py": {"located"}}
"""`raise error.located(...)`: the error itself, with its place."""


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Those that are called as functions."""
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef) and not any(
            ast.unparse(one).endswith(VALUES) for one in node.decorator_list
        ):
            yield node


def is_wrong(function: ast.FunctionDef) -> bool:
    """Whether its name is one participle, or of one that answers yes or no one verb in the third person."""
    word = function.name.strip("_")
    asks = function.returns is not None and ast.unparse(function.returns) == "bool"
    return bool(PARTICIPLE.fullmatch(word)) or (asks and bool(re.fullmatch("[a-z]+s", word)) and word not in VERBS)


def test_functions_are_events_questions_or_actions() -> None:
    files = [path for path in package() if path.relative_to(ROOT / "ouzel").parts[0] not in NOT_YET]
    found = [
        f"{short(path)}:{one.lineno} {one.name}"
        for path in files
        for one in functions(path)
        if is_wrong(one) and one.name not in ALLOWED.get(short(path), ())
    ]
    assert not found, listed(["name an event on_…, a question is_… or has_…, an action with a verb:", *found])


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(
        "def restored(self): ...\n"
        "def _told(self): ...\n"
        "def holds(self, name) -> bool: ...\n"
        "def feed(self): ...\n"
        "def results(self) -> list[int]: ...\n"
        "def on_restored(self): ...\n"
        "@property\n"
        "def paused(self): ...\n"
    )
    assert [one.name for one in functions(tmp_path / "names.py") if is_wrong(one)] == ["restored", "_told", "holds"]
