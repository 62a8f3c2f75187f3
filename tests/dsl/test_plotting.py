"""A picture of a program's table over time."""

from __future__ import annotations

from datetime import datetime, timedelta
from xml.etree import ElementTree

import polars as pl
import pytest

from ouzel import QueryError, Source, monoid

pytest.importorskip("matplotlib")

from ouzel.dsl.plotting import draw

HOUR = timedelta(hours=1)


def test_a_windowed_series_has_a_line_for_each_key() -> None:
    seen = Source.of([(datetime(2026, 1, 1, hour), f"key {hour % 3}") for hour in range(20)]).event_time("key")
    windows = seen.map(lambda one: (one[1], 1)).sum_by_window(monoid.Sum(), 5 * HOUR)
    plot = windows.plot("memory")
    assert plot is not None
    ElementTree.fromstring(plot.svg)
    assert all(f"<!-- {text} -->" in plot.svg for text in ("key 0", "key 1", "key 2", "window_start", "value"))


def test_of_many_keys_the_largest_have_lines_and_nothing_is_a_picture_too() -> None:
    frame = pl.DataFrame({"at": [datetime(2026, 1, 1)] * 20, "key": range(20), "n": [*range(19), None]})
    text = draw(frame, "at", "n", "key")
    assert "<!-- key, 7 more -->" in text
    assert "<!-- 18 -->" in text
    assert "svg" in draw(frame.clear(), "at", "n", "key")


def test_what_has_no_time_or_no_number_is_refused_before_it_runs() -> None:
    with pytest.raises(QueryError, match=r"have no time to plot; plot what sum_by_window\(\) gives"):
        Source.of([("a", 1)]).plot()
    with pytest.raises(QueryError, match="have no number to plot"):
        Source.of([(datetime(2026, 1, 1), "a")]).plot()
