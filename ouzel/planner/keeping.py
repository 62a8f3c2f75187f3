"""What a topology still holds of rows that were acked: windows that are open, or counts that never end. State dies with the run, so a
start after a stop must read again whatever only such state knew of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ouzel.compiler.plan import Node, Program, WindowGrid, keeps_rows, streamed_inputs

WINDOW_TIME_US = 1_000
"""The time of a window's result is its end less so much."""


Path = tuple[WindowGrid, ...]
"""The windows that a row goes through on its way to a sink, the first one first."""


@dataclass(frozen=True)
class Keeps:
    """What is kept of one table's rows on their ways to the sinks; `forever` if something is that no window ends."""

    paths: frozenset[Path] = frozenset()
    forever: bool = False

    def answered_before(self, closed_us: int) -> int:
        """The time before which all rows lie in windows that are closed by the watermark `closed_us`: nothing of them is kept."""
        return min(_keep_answered(path, closed_us + 1) for path in self.paths)

    def __str__(self) -> str:
        """The same text for the same windows, to tell a query from a former one of its name."""
        return "; ".join(sorted({" ".join(map(str, path)) for path in self.paths}))


NOTHING = Keeps()


def _keep_answered(path: Path, ended_us: int) -> int:
    """The time before which a row lies in no window that ends after `ended_us`, nor does what comes of it further down the path."""
    before = ended_us
    for grid in reversed(path):
        ended = min(before + WINDOW_TIME_US - 1, ended_us) if before < ended_us else ended_us
        before = min(grid.first_start(ended), ended)
    return before


def find_kept(program: Program) -> dict[str, Keeps]:
    """What the program keeps of each table that it reads."""
    found: dict[str, Keeps] = {}
    for sink in program.sinks:
        for table, path in _paths(sink, (), False):
            known = found.get(table, NOTHING)
            paths = known.paths | {path} if path else known.paths
            found[table] = Keeps(paths, known.forever or path is None)
    return found


def _paths(node: Node, below: Path | None, awaited: bool) -> Iterator[tuple[str, Path | None]]:
    """(table, the windows on the way from it), None for what is kept for ever; `awaited` if an aggregate further down has windows."""
    if node.reads_table:
        yield node.reads_table, None if awaited else below
        return
    grid = node.window_grid
    if grid and awaited and below is not None:
        below, awaited = (grid, *below), False
    elif node.closes_windows:
        awaited = True
    elif keeps_rows(node):
        below = None
    for child in streamed_inputs(node):
        yield from _paths(child, below, awaited)
