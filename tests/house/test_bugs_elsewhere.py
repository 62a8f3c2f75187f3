"""The tests that tests/bugs_elsewhere.md names are there."""

from __future__ import annotations

import re

import pytest

from tests.house.source import ROOT

NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "tests" / "bugs_elsewhere.md").read_text())


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda part: part.rpartition("/")[2])
def test_what_is_named_is_there(path: str, name: str) -> None:
    assert f"\ndef {name}(" in (ROOT / path).read_text()
