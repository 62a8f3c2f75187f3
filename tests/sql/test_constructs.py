"""docs/sql.md, construct by construct: what is said to hold each does exist, and what is refused says what to write instead."""

from __future__ import annotations

import re

import pytest

from tests.law.constructs import ROOT, constructs, families, rows

CASES = frozenset[str]().union(*families().values())
ANYWHERE = {"casts", "changes", "edges", "expressions", "filters", "grouping", "hints", "late", "views"}
"""Families of what is no construct of its own: the table above it has them."""
WAY_OUT = re.compile(r"; \w|: (write|compare|have|CREATE|change|a file|add)")


def is_there(name: str) -> bool:
    """Whether that case, test or refused query exists; the error of a refused one has to say what to do."""
    if name.startswith("refused/"):
        path = ROOT / "tests" / f"{name}.sql"
        return path.exists() and WAY_OUT.search(path.read_text().split("\n")[0]) is not None
    file, _, test = name.partition("::")
    return f"def {test}(" in (ROOT / file).read_text() if test else name in CASES


@pytest.mark.parametrize("construct", constructs())
def test_what_holds_a_construct_is_there(construct: str) -> None:
    engines, *streams, held = constructs()[construct]
    names = re.findall(r"`([^`]+)`", held)
    assert names
    assert engines in ("yes", "refused")
    assert set(streams) <= {"yes", "no", "in part"}
    assert [name for name in names if not is_there(name)] == []
    refusals = [name.startswith("refused/") or "refused" in name for name in names if "law/test_emission" not in name]
    assert all(refusals) if engines == "refused" else not any(refusals)


def test_every_family_of_cases_holds_a_construct() -> None:
    named = {name for *_, held in rows() for name in re.findall(r"`(\w+)`", held)}
    assert {family for family, cases in families().items() if not cases & named} <= ANYWHERE
