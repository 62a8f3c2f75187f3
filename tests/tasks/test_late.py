"""Lines that tell of late rows."""

from __future__ import annotations

import json

import polars as pl

from ouzel.runtime.tasks.late import late_lines, lines_that_stand, standing_line


def test_a_line_gives_back_what_json_has_no_form_for() -> None:
    frame = pl.DataFrame({"b": [b"\x00\xff", None], "f": [float("nan"), 0.1], "g": [0.1 + 0.2, None], "k": ["x", None]})
    first, second = map(json.loads, late_lines("by_k", frame).splitlines())
    assert first == {"$component": "by_k", "b": "00ff", "f": "NaN", "g": 0.1 + 0.2, "k": "x"}
    assert second == {"$component": "by_k", "b": None, "f": "0.1", "g": None, "k": None}


def test_what_a_task_drops_again_behind_an_epoch_is_told_once() -> None:
    def lines(task: int, *values: str) -> list[str]:
        return late_lines("by_k", pl.DataFrame({"k": values}), task).splitlines(keepends=True)

    first, second = standing_line("by_k", 0, 1), standing_line("by_k", 1, 0)
    added_up = json.dumps({"$component": "by_k", "$task": 1, "$rows": 3, "k": "d"}) + "\n"
    file = [*lines(0, "a", "b"), *lines(1, "c"), added_up, first, *lines(0, "e"), "torn", standing_line("other", 0, 0)]
    assert sorted(lines_that_stand(file)) == sorted([*lines(0, "a", "e"), *lines(1, "c"), added_up, "torn"])
    assert sorted(lines_that_stand([*file, second])) == sorted([*lines(0, "a", "e"), "torn"])
    assert sorted(lines_that_stand([*file, standing_line("by_k", 1, 4)])) == sorted(lines_that_stand(file))
    assert sorted(lines_that_stand([*file, standing_line("by_k", 1, 3)])) == sorted(
        [*lines(0, "a", "e"), *lines(1, "c"), "torn"]
    )
