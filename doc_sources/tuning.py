"""A simulation of the pending tuner, and docs/tuning.svg, which draws it; `make docs` writes it.

The topology is a model of a few lines. With few rows on their way throughput is limited by the time that a row takes through it; from a
knee on its bolts are busy, and more rows only wait; far beyond the knee it grows slower, as queues fill memory. At a moment its bolts
become half as fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from ouzel.planner.settings import PendingTuning, Settings
from ouzel.runtime.protocol.acker import Acker
from ouzel.runtime.protocol.tuner import PendingLimit

INTERVALS, SLOWER_FROM = 80, 40
LATENCY_S, CAPACITY = 0.1, 1_000_000
KNEE = int(LATENCY_S * CAPACITY)
BATCH = 1_000
INTERVAL_MS = 120_000
NOISE = 0.01

Step = tuple[int, float]
"""The limit, and rows a second that come through with it."""


def throughput(pending: int, capacity: float) -> float:
    """Rows a second of the model when so many rows are on their way."""
    knee = LATENCY_S * capacity
    crowding = max(0.0, pending / (3 * knee) - 1)
    return min(pending / LATENCY_S, capacity) / (1 + crowding)


def simulate(tuning: PendingTuning, start: int, seed: int = 1) -> Iterator[Step]:
    """What a spout does whose `max.pending.rows` is `start`, interval by interval."""
    random = Random(seed)
    settings = Settings(
        max_pending_rows=start, batch_rows=BATCH, max_pending_tuning=tuning, max_pending_interval_ms=INTERVAL_MS
    )
    limit, acked = PendingLimit(settings), 0
    full = Acker(0, 0, 1_000)
    limit.observe(acked, 0)
    for interval in range(INTERVALS):
        speed = throughput(limit.rows, CAPACITY if interval < SLOWER_FROM else CAPACITY / 2)
        yield limit.rows, speed
        full.pending_rows = limit.rows  # the input gives whatever is asked for
        limit.has_room(full)
        acked += int(speed * (1 + random.uniform(-NOISE, NOISE)) * INTERVAL_MS / 1_000)
        limit.observe(acked, (interval + 1) * INTERVAL_MS)


_WIDE, _HIGH, _LEFT, _TOP, _GAP = 640, 150, 70, 30, 50
_LINES = {
    (PendingTuning.PAPER, KNEE // 10): ("#1b6ca8", "paper, from a tenth of the knee"),
    (PendingTuning.PAPER, 8 * KNEE): ("#7fb3d8", "paper, from eight times the knee"),
    (PendingTuning.HERON, KNEE // 10): ("#b5452c", "Heron, from a tenth"),
    (PendingTuning.HERON, 8 * KNEE): ("#e3a48f", "Heron, from eight times"),
}


def picture() -> str:
    """The plot as SVG: limits above, rows a second below."""
    runs = {key: list(simulate(*key)) for key in _LINES}
    height = 2 * (_HIGH + _GAP) + _TOP + 20 * len(_LINES)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDE + 20} {height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        *_panel(
            _TOP, "max pending rows, thousands", 1_000, [[limit for limit, _ in run] for run in runs.values()], 8 * KNEE
        ),
        *_panel(
            _TOP + _HIGH + _GAP,
            "rows a second, thousands",
            1_000,
            [[speed for _, speed in run] for run in runs.values()],
            CAPACITY,
        ),
    ]
    for number, (colour, name) in enumerate(_LINES.values()):
        y = 2 * (_HIGH + _GAP) + _TOP + 20 * number
        parts += [
            f'<line x1="{_LEFT}" y1="{y}" x2="{_LEFT + 30}" y2="{y}" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{_LEFT + 38}" y="{y + 4}">{name}</text>',
        ]
    return "\n".join([*parts, "</svg>"])


def _panel(top: int, title: str, unit: int, lines: list[list[float]], most: float) -> Iterator[str]:
    yield f'<text x="{_LEFT}" y="{top - 8}">{title}; an interval is two minutes, from {SLOWER_FROM} on bolts are half as fast</text>'
    for share in (0, 0.5, 1):
        y = top + _HIGH * (1 - share)
        yield f'<line x1="{_LEFT}" y1="{y:g}" x2="{_LEFT + _WIDE}" y2="{y:g}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">{most * share / unit:g}</text>'
    for interval in range(0, INTERVALS + 1, 20):
        yield f'<text x="{_LEFT + _WIDE * interval / INTERVALS:g}" y="{top + _HIGH + 16}" text-anchor="middle">{interval}</text>'
    for (colour, _), line in zip(_LINES.values(), lines, strict=True):
        yield f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{_steps(line, top, most)}"/>'


def _steps(line: list[float], top: int, most: float) -> str:
    """Corners only: where a value stays there is nothing to draw."""
    places = [
        (_LEFT + _WIDE * at / INTERVALS, top + _HIGH * (1 - min(value, most) / most)) for at, value in enumerate(line)
    ]
    corners = [places[0], *(place for before, place in pairwise(places) if place[1] != before[1]), places[-1]]
    return " ".join(f"{x:g},{y:.1f}" for x, y in corners)
