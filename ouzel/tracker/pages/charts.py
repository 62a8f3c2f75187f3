"""Charts as SVG that the server makes: positions in pixels, texts of axes, and what a script needs to show a shared cursor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from ouzel.tracker import words
from ouzel.tracker.metrics.grids import Grid, GridValues
from ouzel.tracker.pages.dashboards import ChartLine, Panel

WIDTH, HEIGHT = 460, 190
LEFT, RIGHT, TOP, BOTTOM = 52, 26, 10, 24
"""The margins around the lines; texts of axes stand in them, that of a time half in the one on the right."""

TICKS_Y, TICKS_X = 4, 5
_STEPS_S = (10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400, 172_800)
"""Times on the axis are this far apart."""


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where it is, and its text."""

    place: float
    text: str


@dataclass(frozen=True)
class DrawnLine:
    """A line as a path of SVG; its values as text, for a script, and the last that is known."""

    name: str
    colour: int
    path: str
    values: str
    last: str


@dataclass(frozen=True)
class Chart:
    """A chart, drawn."""

    title: str
    unit: str
    lines: tuple[DrawnLine, ...]
    left_out: int
    ticks_x: tuple[Tick, ...]
    ticks_y: tuple[Tick, ...]
    summary: str

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not any(line.path for line in self.lines)


def draw_chart(panel: Panel, grid: Grid) -> Chart:
    """The chart of a panel."""
    top = _top([line.values for line in panel.lines])
    lines = tuple(_draw(line, panel.unit, top) for line in panel.lines)
    summary = "; ".join(f"{line.name}: {line.last}" for line in lines) or "nothing is known"
    ticks_y = tuple(Tick(_y(top * part / TICKS_Y, top), _short(top * part / TICKS_Y)) for part in range(TICKS_Y + 1))
    return Chart(panel.title, panel.unit, lines, panel.left_out, tuple(_times(grid)), ticks_y, summary)


def figure_text(value: float, unit: str) -> str:
    """A value with its unit."""
    text = _short(value)
    is_one_word = unit.startswith("B") and not text[-1].isdigit()  # 2.5 MB
    return f"{text}{unit}" if is_one_word else f"{text} {unit}".strip()


def _short(value: float) -> str:
    return words.rate_text(value) if value >= 0 else f"-{words.rate_text(-value)}"


def _top(rows: list[GridValues]) -> float:
    """The upper end of the axis: 1, 2 or 5 times a power of ten, and not below any value."""
    known = np.concatenate([row[~np.isnan(row)] for row in rows]) if rows else np.array([])
    most = float(known.max()) if len(known) else 0.0
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= most * (1 - 1e-9))


def _draw(line: ChartLine, unit: str, top: float) -> DrawnLine:
    count = len(line.values)
    known = line.values[~np.isnan(line.values)]
    values = ",".join("" if np.isnan(value) else f"{value:.4g}" for value in line.values)
    last = figure_text(float(known[-1]), unit) if len(known) else words.NOTHING
    return DrawnLine(line.name, line.colour, _path(line.values, count, top), values, last)


def _path(values: GridValues, count: int, top: float) -> str:
    """A path through the middles of all steps, with gaps where nothing is known; a value alone is a short stroke."""
    parts: list[str] = []
    is_down = False
    for place, value in enumerate(values):
        if np.isnan(value):
            is_down = False
            continue
        x, y = _x((place + 0.5) / count), _y(float(value), top)
        parts.append(f"L{x:.1f} {y:.1f}" if is_down else f"M{x:.1f} {y:.1f}h.1")
        is_down = True
    return "".join(parts)


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - min(1.0, max(0.0, value / top)) * (HEIGHT - TOP - BOTTOM)


def _times(grid: Grid) -> Iterator[Tick]:
    length = grid.last - grid.first
    apart = next((step for step in _STEPS_S if length / step <= TICKS_X), _STEPS_S[-1])
    for time_s in range(-(-grid.first // apart) * apart, grid.last + 1, apart):
        form = "%H:%M:%S" if apart < 60 else "%H:%M" if apart < 86_400 else "%m-%d"
        yield Tick(_x((time_s - grid.first) / length), datetime.fromtimestamp(time_s, UTC).strftime(form))
