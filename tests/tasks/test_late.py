"""Lines that tell of late rows."""

from __future__ import annotations

import json

import polars as pl

from ouzel.runtime.tasks.late import late_lines


def test_a_line_gives_back_what_json_has_no_form_for() -> None:
    frame = pl.DataFrame({"b": [b"\x00\xff", None], "f": [float("nan"), 0.1], "g": [0.1 + 0.2, None], "k": ["x", None]})
    first, second = map(json.loads, late_lines("by_k", frame).splitlines())
    assert first == {"$component": "by_k", "b": "00ff", "f": "NaN", "g": 0.1 + 0.2, "k": "x"}
    assert second == {"$component": "by_k", "b": None, "f": "0.1", "g": None, "k": None}
