"""Differences over event time as an SVG of stacked bars, one colour a class."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape
from math import ceil

from ouzel.reconcile.comparing.lineage import DAY_US
from ouzel.reconcile.comparing.timeline import SECOND_US, Timeline
from ouzel.reconcile.explaining.classes import Class

WIDTH, NARROW = 1040, 340
"""Widths of a screen's chart and of a phone's: neither is scaled, so that labels are as large as the text around them."""

HEIGHT, LEFT, TOP, BOTTOM = 210, 46, 12, 30
LEAST_HEIGHT = 2.0
"""A single row among thousands must still be seen."""

WIDEST = 30.0
"""A bar that is as wide as high is a block."""

LABEL = 160.0
"""So far apart are the labels of the time axis at least."""

HALF_LABEL = 36.0
"""Half the width of a date: no label goes beyond the edge."""

Leads = Callable[[Class, int], str]
"""Where a bar leads to: the id of the first row shown of that class in that slice, or of the class."""


def chart(timeline: Timeline, leads: Leads) -> str:
    """The chart, for a screen and for a phone; a bar has its numbers as tooltip and links to its rows."""
    return _draw(timeline, leads, WIDTH, "wide") + _draw(timeline, leads, NARROW, "narrow")


def _draw(timeline: Timeline, leads: Leads, width: int, name: str) -> str:
    totals = [sum(counts) for counts in zip(*timeline.counts.values(), strict=True)] or [0] * timeline.slices
    most = _ceiling(max(totals))
    parts = [*_grid(most, width), *_bars(timeline, most, leads, width), *_time_axis(timeline, width)]
    label = 'role="img" aria-label="Differences over event time"'
    return f'<svg class="{name}" viewBox="0 0 {width} {HEIGHT}" {label}>{"".join(parts)}</svg>'


def colour_of(kind: Class) -> str:
    """The CSS colour of a class."""
    return f"var(--{kind.value.replace(' ', '-')})"


def width_in_words(width_us: int) -> str:
    """The width of a slice in words."""
    for unit_us, name in (
        (DAY_US, "day"),
        (3_600 * SECOND_US, "hour"),
        (60 * SECOND_US, "minute"),
        (SECOND_US, "second"),
    ):
        if width_us % unit_us == 0:
            number = width_us // unit_us
            return f"{number} {name}s" if number > 1 else f"one {name}"
    return f"{width_us / SECOND_US:g} seconds"


def _bars(timeline: Timeline, most: int, leads: Leads, width: int) -> list[str]:
    step = (width - LEFT) / timeline.slices
    bar = min(step * 0.76, WIDEST)
    bars = []
    for number in range(timeline.slices):
        x, y = LEFT + number * step, float(HEIGHT - BOTTOM)
        for kind, counts in timeline.counts.items():
            if counts[number]:
                height = max(LEAST_HEIGHT, counts[number] / most * (HEIGHT - BOTTOM - TOP))
                y -= height
                title = f"{_moment(timeline, number)}: {counts[number]:,} {kind.value}"
                bars.append(
                    f'<a href="#{leads(kind, number)}"><rect x="{x + (step - bar) / 2:.1f}" y="{y:.1f}" width="{bar:.1f}" '
                    f'height="{height:.1f}" rx="1.5" fill="{colour_of(kind)}"><title>{escape(title)}</title></rect></a>'
                )
    return bars


def _grid(most: int, width: int) -> list[str]:
    lines = []
    for share in (0, 0.5, 1):
        y = HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
        lines.append(
            f'<line class="{"grid" if share else "axis"}" x1="{LEFT}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        if share * most == int(share * most):
            lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{int(share * most):,}</text>')
    return lines


def _time_axis(timeline: Timeline, width: int) -> list[str]:
    step = (width - LEFT) / timeline.slices
    every = max(1, ceil(LABEL / step))
    places = [
        (number, LEFT + (number + 0.5) * step)
        for number in range(min(every, timeline.slices) // 2, timeline.slices, every)
    ]
    return [
        f'<text x="{min(x, width - HALF_LABEL):.1f}" y="{HEIGHT - 9}" text-anchor="middle">{_moment(timeline, number)}</text>'
        for number, x in places
    ]


def _moment(timeline: Timeline, number: int) -> str:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=timeline.first_us + number * timeline.width_us)
    if timeline.width_us >= DAY_US:
        return f"{at:%Y-%m-%d}"
    return f"{at:%m-%d %H:%M}" if timeline.width_us >= 60 * SECOND_US else f"{at:%H:%M:%S}"


def _ceiling(value: int) -> int:
    """The next round number, for the top of the axis."""
    size = 1
    while value > 10 * size:
        size *= 10
    return next(step * size for step in (2, 4, 6, 8, 10) if value <= step * size)
