"""A line for each key over time, of the table that a program's changes add up to; in a notebook it is drawn anew while the program runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any

from ouzel.compiler.types import DateType, DecimalType, FloatType, IntegerType, Schema, TimestampType
from ouzel.errors import OuzelError, QueryError

if TYPE_CHECKING:
    import polars as pl

LINES_MOST = 12
"""So many keys have a line; what there are more of is said in the legend."""


class Plot:
    """A picture as SVG, which notebooks show."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


def axes(schema: Schema) -> tuple[str, str, str | None]:
    """The columns of time and of numbers, and that of which each value has a line.

    Raises:
        QueryError: there is no time, or no number.
    """
    times = [field.name for field in schema if isinstance(field.type, TimestampType | DateType)]
    numbers = [field.name for field in schema if isinstance(field.type, IntegerType | FloatType | DecimalType)]
    if not times or not numbers:
        lacks = "number" if times else "time"
        raise QueryError(
            f"these records have no {lacks} to plot",
            instead="plot what sum_by_window() gives, or map to (time, number)",
        )
    others = [field.name for field in schema if field.name not in (*times, numbers[-1])]
    return times[0], numbers[-1], others[0] if others else None


def plot_live(frames: Iterable[pl.DataFrame], schema: Schema) -> Plot | None:
    """Draw each of these tables, in a notebook as they come; gives the last picture, but for one that a notebook shows already."""
    time, number, key = axes(schema)
    load_matplotlib()
    shown = plot = None
    for frame in frames:
        plot = Plot(draw(frame, time, number, key))
        shown = _show(plot, shown)
    return plot if shown is None else None


def draw(frame: pl.DataFrame, time: str, number: str, key: str | None) -> str:
    """The table as SVG: a line for each key, the largest first."""
    figure = load_matplotlib()(figsize=(8, 4), layout="constrained")
    axis = figure.add_subplot()
    ordered = frame.drop_nulls([time, number]).sort(time)
    parts = ordered.partition_by(key, as_dict=True, maintain_order=True) if key else {("",): ordered}
    largest = sorted(parts.items(), key=lambda part: -float(part[1][number].max() or 0))  # type: ignore[arg-type]
    for (name, *_), part in largest[:LINES_MOST]:
        axis.plot(part[time].to_list(), part[number].cast(float).to_list(), marker=".", label=str(name))
    axis.set_xlabel(time)
    axis.set_ylabel(number)
    axis.tick_params("x", rotation=30)
    if key and parts:
        more = len(parts) - LINES_MOST
        axis.legend(title=f"{key}, {more} more" if more > 0 else key)
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def load_matplotlib() -> Any:
    """The class of figures, which draws without a window.

    Raises:
        OuzelError: it is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise OuzelError('plots need matplotlib, which is not installed; write: pip install "ouzel[plot]"') from error
    return Figure


def _show(plot: Plot, shown: Any) -> Any:
    """Put it where the last one is, in a notebook; None elsewhere."""
    if "IPython" not in sys.modules:
        return None
    with suppress(ImportError):
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        if get_ipython() is None:
            return None
        if shown is None:
            return display(plot, display_id=True)  # type: ignore[no-untyped-call]
        shown.update(plot)
    return shown
