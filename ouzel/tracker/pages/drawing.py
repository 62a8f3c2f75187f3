"""Where the boxes and lines of a topology's picture go: left to right, a column a stage. Positions are in pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ouzel.planner.topology import Component

BOX_WIDTH, BOX_HEIGHT = 190, 64
GAP_X, GAP_Y, MARGIN = 70, 24, 12
COLOURS = 8
"""So many colours tell components apart; then they come again."""


@dataclass(frozen=True)
class Box:
    """One component; `colour` counts from 0."""

    name: str
    kind: str
    parallelism: int
    x: int
    y: int
    colour: int


@dataclass(frozen=True)
class Line:
    """One stream, as a path of SVG, and how its rows are dealt."""

    path: str
    grouping: str
    source: str
    target: str


@dataclass(frozen=True)
class Drawing:
    """All of it."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: int
    height: int


def colours_of(components: tuple[Component, ...]) -> dict[str, int]:
    """The colour of each component, in their order."""
    return {part.name: place % COLOURS for place, part in enumerate(components)}


def draw_components(components: tuple[Component, ...]) -> Drawing:
    """The picture of a topology's components, which stand in an order in which each comes after what it reads."""
    stages, rows = stages_of(components), _rows_of(components)
    boxes = {
        part.name: Box(
            part.name,
            "spout" if part.is_spout else "bolt",
            part.parallelism,
            MARGIN + stages[part.name] * (BOX_WIDTH + GAP_X),
            MARGIN + rows[part.name] * (BOX_HEIGHT + GAP_Y),
            colour,
        )
        for part, colour in zip(components, colours_of(components).values(), strict=True)
    }
    lines = tuple(
        Line(_path(boxes[link.component], boxes[part.name]), str(link.grouping), link.component, part.name)
        for part in components
        for link in part.inputs
    )
    width = max((box.x for box in boxes.values()), default=0) + BOX_WIDTH + MARGIN
    height = max((box.y for box in boxes.values()), default=0) + BOX_HEIGHT + MARGIN
    return Drawing(tuple(boxes.values()), lines, width, height)


def stages_of(components: tuple[Component, ...]) -> dict[str, int]:
    """How many streams lie before each component, on the longest way from a spout."""
    stages: dict[str, int] = {}
    for part in components:  # each comes after what it reads
        stages[part.name] = max((stages[link.component] + 1 for link in part.inputs), default=0)
    return stages


def _rows_of(components: tuple[Component, ...]) -> dict[str, int]:
    """The row of each component in its column: near those that it reads, none twice in a column."""
    stages = stages_of(components)
    rows: dict[str, int] = {}
    for stage in sorted(set(stages.values())):
        column = [part for part in components if stages[part.name] == stage]
        for row, part in enumerate(sorted(column, key=lambda part: _mean_row(part, rows))):
            rows[part.name] = row
    return rows


def _mean_row(part: Component, rows: Mapping[str, int]) -> float:
    known = [rows[link.component] for link in part.inputs if link.component in rows]
    return sum(known) / len(known) if known else 0.0


def _path(source: Box, target: Box) -> str:
    """A curve from the right side of one box to the left side of another."""
    x1, y1 = source.x + BOX_WIDTH, source.y + BOX_HEIGHT // 2
    x2, y2 = target.x, target.y + BOX_HEIGHT // 2
    bend = max(GAP_X // 2, (x2 - x1) // 2)
    return f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
