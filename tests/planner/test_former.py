"""What components go on from when the update before has left no epoch of its own."""

from __future__ import annotations

import pytest

from ouzel.planner.former import EMPTY, Former, compose


@pytest.mark.parametrize(
    ("later", "earlier", "both"),
    [
        (Former("b", (0,)), Former("a", (1,)), Former("a", (1,))),
        (Former("b", (1, EMPTY, 0)), Former("a", (2, EMPTY)), Former("a", (EMPTY, EMPTY, 2))),
        (Former("b", (0, 1)), Former("a"), Former("a", (0, 1))),
        (Former("b"), Former("a", (1, 0)), Former("a", (1, 0))),
        (Former("b", (0, 1)), Former(""), Former("", (EMPTY, EMPTY))),
        (Former("b", (0,)), Former("", (EMPTY,)), Former("", (EMPTY,))),
        (Former("", (EMPTY,)), Former("a", (0,)), Former("", (EMPTY,))),
        (Former("other", (0,)), Former("a", (1,)), Former("other", (0,))),
    ],
)
def test_two_updates_are_one(later: Former, earlier: Former, both: Former) -> None:
    assert compose({"c": later}, {"b": earlier}) == {"c": both}


def test_other_numbers_of_tasks_change_nothing_of_it() -> None:
    assert compose({}, {"b": Former("a", (0,))}) == {"b": Former("a", (0,))}


def test_notes_are_those_of_the_later() -> None:
    assert Former("b", (), "b").before({"b": Former("a", (), "a")}) == Former("a", (), "b")
