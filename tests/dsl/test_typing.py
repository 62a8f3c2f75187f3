"""A type checker knows the records along a chain: it accepts what is right and points at what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

mypy = pytest.importorskip("mypy.api")

FOLDER = Path(__file__).parent


def complaints(*names: str) -> list[dict[int, str]]:
    """What mypy says of each file first, by line."""
    options = ["--strict", "--no-error-summary", "--hide-error-context", "--no-pretty"]
    out, _, _ = mypy.run([*(str(FOLDER / name) for name in names), *options])
    found = (re.findall(rf"{re.escape(name)}:(\d+): error: (.*)", out) for name in names)
    return [{int(line): text for line, text in reversed(each)} for each in found]


@pytest.mark.slow
def test_a_type_checker_accepts_what_is_right_and_refuses_what_is_wrong() -> None:
    right, found = complaints("typed_right.py", "typed_wrong.py")
    assert right == {}
    lines = (FOLDER / "typed_wrong.py").read_text().splitlines()
    expected = {number: line.partition("# error: ")[2] for number, line in enumerate(lines, 1) if "# error: " in line}
    assert found.keys() == expected.keys()
    assert all(text in found[line] for line, text in expected.items()), found
