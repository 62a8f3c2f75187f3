"""The two halves of the suite name tests that there are, and each case of a long family has its day."""

from __future__ import annotations

from tests.effort import SHARES
from tests.halves import ALONE, HALVES, Half, half_of, is_of_the_whole
from tests.house.source import ROOT
from tests.law.constructs import constructs, first_cases


def test_what_is_named_is_there() -> None:
    missing = []
    for name in {*HALVES, *ALONE}:
        path, _, test = name.partition("::")
        if not (ROOT / path).exists() or (
            test and f"def {test.partition('[')[0]}(" not in (ROOT / path).read_text(encoding="utf-8")
        ):
            missing.append(name)
    assert missing == []


def test_each_case_of_a_long_family_is_run_on_one_day_of_five() -> None:
    family = next(name for name, half in HALVES.items() if half is Half.IN_TURN)
    for number in range(20):
        days = [day for day in range(SHARES) if not is_of_the_whole(f"{family}::test_x[{number}]", day)]
        assert len(days) == 1


def test_the_longest_name_decides() -> None:
    assert half_of("tests/attack/test_attacks.py::test_x") is Half.NEVER
    assert half_of("tests/law/test_nexmark.py::test_x") is Half.ALWAYS


def test_each_construct_of_the_law_is_run_every_day_on_each_engine() -> None:
    assert len(first_cases()) > len([cells for cells in constructs().values() if cells[0] == "yes"]) // 2
    for name in (name for name, half in HALVES.items() if half is Half.CONSTRUCTS):
        assert not any(is_of_the_whole(f"{name}[{case}]", day) for case in first_cases() for day in range(SHARES))
        assert is_of_the_whole(f"{name}[no_such_case]", 0) + is_of_the_whole(f"{name}[no_such_case]", 1) > 0
