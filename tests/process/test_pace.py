"""Reports come often at first, so that a short run is told while it lasts."""

from __future__ import annotations

import pytest

from ouzel.runtime.process.pace import Pace


@pytest.mark.parametrize(
    ("age_s", "interval_s"), [(0.0, 0.02), (0.1, 0.02), (0.5, 0.05), (1.0, 0.1), (3.0, 0.2), (900.0, 0.2)]
)
def test_the_pace_slows_with_age(age_s: float, interval_s: float) -> None:
    now = [100.0]
    pace = Pace(lambda: now[0])
    now[0] += age_s
    assert pace.interval_s == pytest.approx(interval_s)
