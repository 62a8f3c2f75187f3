"""What becomes of the rows of a trailing SELECT: a table, JSON lines, CSV, or the changelog itself.

A result that only appends is printed as it comes, as JSON lines or CSV; one that takes rows back at its end, or as a changelog.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ouzel.cli.choices import ResultFormat
from ouzel.cli.far_years import warn_of_far_years
from ouzel.cli.output import StandardOutput, is_pipe
from ouzel.cli.plain_table import PlainTable
from ouzel.cli.table import (
    MOST_ROWS,
    PIPE_WIDTH,
    count_in_words,
    final,
    ranking_column,
    records,
    sort_by_columns,
    sort_for_reading,
)
from ouzel.cli.values import in_zone, json_rows
from ouzel.compiler.plan import WEIGHT, SortKey
from ouzel.compiler.types import Schema

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from ouzel.runtime.operators.result_table import ResultTable


FRESH_SECONDS = 1.0
"""How long a row that has changed stands out."""

PRINTED_ROWS = 10_000
"""So many rows of a table are printed at once."""

END_ROWS = 1_000
"""So many rows of each end of a table that only grows are held: no terminal has more lines."""

HELD_ROWS = 100_000
"""Above so many rows held, all but the two ends are dropped."""

FRESH_ROWS = 10_000
"""So many of a frame's last rows are marked as new: more never fit on a terminal."""


class Answer(Protocol):
    """Takes the frames of a result as they come, and prints what it prints on stdout and nothing else."""

    waits: str
    """Why nothing is printed before the end; empty if that is not so."""

    def add(self, frame: pl.DataFrame) -> None:
        """Take some more of the result's changes."""

    def finish(self) -> None:
        """No more will come: print what is still to be printed."""


class NoAnswer:
    """The answer of a file that only has INSERT INTO: its rows are elsewhere."""

    waits = ""

    def add(self, frame: pl.DataFrame) -> None:
        """Nothing comes."""

    def finish(self) -> None:
        """Nothing is printed."""


class Lines:
    """What is printed at once, frame by frame, as lines of text."""

    waits = ""

    def __init__(self, schema: Schema, out: StandardOutput, zone: str = "UTC") -> None:
        self.schema, self.out, self.zone = schema, out, zone

    def add(self, frame: pl.DataFrame) -> None:
        """Print the frame, its instants in the session's time zone."""
        self.out.write(self.lines(in_zone(frame, self.zone)))

    def lines(self, frame: pl.DataFrame) -> str:
        """The frame as text."""
        raise NotImplementedError

    def finish(self) -> None:
        """Everything has been printed already."""


class ChangesAnswer(Lines):
    """Each change when it comes: the row as a JSON object behind its `op`, which is `+` or `-`."""

    def lines(self, frame: pl.DataFrame) -> str:
        op = "$op" if "op" in self.schema.names else "op"
        weights = frame[WEIGHT].to_list() if WEIGHT in frame.columns else [1] * frame.height
        return "".join(
            _json_line({op: "+" if weight > 0 else "-", **row}) * abs(weight)
            for weight, row in zip(weights, json_rows(frame, self.schema), strict=True)
        )


class JsonLines(Lines):
    """One JSON object a row."""

    def lines(self, frame: pl.DataFrame) -> str:
        return "".join(map(_json_line, json_rows(frame, self.schema)))


class Csv(Lines):
    """A line of column names, then a line a row; a NULL is an empty field, an empty text is quoted."""

    def __init__(self, schema: Schema, out: StandardOutput, zone: str = "UTC") -> None:
        super().__init__(schema, out, zone)
        self._begun = False

    def lines(self, frame: pl.DataFrame) -> str:
        import polars as pl

        columns: dict[str, list[str | None]] = {name: [] for name in self.schema.names}
        for row in json_rows(frame, self.schema):
            for name, value in row.items():
                text = value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                columns[name].append(text)
        header, self._begun = not self._begun, True
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_csv(include_header=header)

    def finish(self) -> None:
        """Print the names of the columns, if no row has come."""
        if not self._begun:
            self.add(_empty(self.schema))


def _json_line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _empty(schema: Schema) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(schema=schema.polars())


class TableLines(Lines):
    """A table without an end: its head, then a line a row as it comes; at the end how many there were."""

    def __init__(self, schema: Schema, out: StandardOutput, zone: str = "UTC") -> None:
        super().__init__(schema, out, zone)
        self._table, self._height = PlainTable(schema), 0

    def lines(self, frame: pl.DataFrame) -> str:
        head = "" if self._height else self._table.head(frame)
        self._height += frame.height
        return head + self._table.rows(frame)

    def finish(self) -> None:
        """Print how many rows there were."""
        self.out.write(
            ("" if self._height else self._table.head(_empty(self.schema))) + count_in_words(self._height) + "\n"
        )


class RecordLines(Lines):
    """The same, each row as a block with a line a column."""

    def __init__(self, schema: Schema, out: StandardOutput, zone: str = "UTC") -> None:
        super().__init__(schema, out, zone)
        self._height = 0

    def lines(self, frame: pl.DataFrame) -> str:
        first = self._height + 1
        self._height += frame.height
        return _draw(records(frame, self.schema, range(first, first + frame.height))) if frame.height else ""

    def finish(self) -> None:
        """Print how many rows there were."""
        self.out.write(count_in_words(self._height) + "\n")


def _draw(what: RenderableType) -> str:
    from rich.console import Console

    console = Console(file=io.StringIO(), highlight=False, **_terminal())
    with console.capture() as drawn:
        console.print(what)
    return drawn.get()


def tell_waits() -> str:
    """Why nothing is printed before the end, and what to do. Ctrl-C reaches all processes of a pipeline, and so ends who would read it."""
    ends = "or on Ctrl-C"
    if is_pipe():
        ends = "or when the run is stopped; Ctrl-C ends what reads the pipe, too, so write > FILE, or | tee -i FILE"
    return (
        f"the result takes rows back, or is sorted: it is printed when the input ends, {ends}; --format changelog prints each change "
        "at once"
    )


class AtTheEnd:
    """Adds the changes of a result that takes rows back up to a table, and prints that when it is over, sorted by its columns."""

    def __init__(self, lines: Lines, sorted_by: Sequence[SortKey] = ()) -> None:
        self.printer, self.table, self._sorted = lines, _result_table(lines.schema, sorted_by), bool(sorted_by)
        self.waits = tell_waits()

    def add(self, frame: pl.DataFrame) -> None:
        """Fold the changes in."""
        self.table.apply(frame)

    def finish(self) -> None:
        """Print the table."""
        table = self.table.frame()
        for part in (table if self._sorted else sort_by_columns(table)).iter_slices(PRINTED_ROWS):
            self.printer.add(part)
        self.printer.finish()


class Ends:
    """A table that only grows, for people: the rows at its two ends in the order of its columns, and how many there are in all."""

    def __init__(self, schema: Schema) -> None:
        self.height = self._held = 0
        self._frames = [_empty(schema)]

    def apply(self, frame: pl.DataFrame) -> None:
        """Add rows; columns are taken by position."""
        names = self._frames[0].columns
        self._frames.append(
            frame if frame.columns == names else frame.rename(dict(zip(frame.columns, names, strict=True)))
        )
        self.height += frame.height
        self._held += frame.height
        if self._held > HELD_ROWS:
            self._cut()

    def _cut(self) -> None:
        import polars as pl

        rows = sort_by_columns(self.frame())
        self._frames = [pl.concat([rows.head(END_ROWS), rows.tail(END_ROWS)], rechunk=True)]
        self._held = 2 * END_ROWS

    def frame(self) -> pl.DataFrame:
        """The rows that are held."""
        import polars as pl

        self._frames = [pl.concat(self._frames)]
        return self._frames[0]


def _result_table(schema: Schema, sorted_by: Sequence[SortKey] = ()) -> ResultTable:
    from ouzel.runtime.operators.result_table import ResultTable

    return ResultTable(schema, sorted_by)


class Page:
    """The table for people: while the run goes on as much of it as fits; at the end all of it if it is short, else its two ends.

    Where standard output is no terminal all of it is printed.
    """

    def __init__(
        self,
        schema: Schema,
        retracts: bool,
        out: StandardOutput | None = None,
        clock: Callable[[], float] = time.monotonic,
        vertical: bool = False,
        sorted_by: Sequence[SortKey] = (),
        zone: str = "UTC",
        endless: bool = False,
    ) -> None:
        self.schema, self.retracts, self.vertical, self.zone = schema, retracts, vertical, zone
        self.waits = tell_waits() if endless and not sys.stdout.isatty() else ""
        self.out, self.clock = out or StandardOutput(), clock
        self.sorted_by = sorted_by
        whole = retracts or bool(sorted_by)
        self.table: ResultTable | Ends = _result_table(schema, sorted_by) if whole else Ends(schema)
        self.fresh: deque[tuple[float, pl.Series]] = deque()

    def add(self, frame: pl.DataFrame) -> None:
        """Fold the changes in, and remember for a moment which rows are new."""
        self.table.apply(frame)
        added = frame.filter(frame[WEIGHT] > 0) if WEIGHT in frame.columns else frame
        if added.height:
            self.fresh.append((self.clock(), added.tail(FRESH_ROWS).select(self.schema.names).hash_rows()))

    def part(self, limit: int) -> tuple[pl.DataFrame, list[bool], int]:
        """At most `limit` rows of the table as it stands, which of them are new, and how many rows there are in all.

        Of a ranked table its first rows, of any other its last.
        """
        import polars as pl

        table = self.table.frame()
        rows = self._in_order(table)
        shown = rows.head(limit) if self.is_ranked else rows.tail(limit)
        while self.fresh and self.fresh[0][0] < self.clock() - FRESH_SECONDS:
            self.fresh.popleft()
        marks = [False] * shown.height
        if self.fresh and shown.height:
            marks = shown.hash_rows().is_in(pl.concat([hashes for _, hashes in self.fresh])).to_list()
        return in_zone(shown, self.zone), marks, self.height(table)

    @property
    def is_ranked(self) -> bool:
        """Whether it is ranked, so that its first rows matter most."""
        return bool(self.sorted_by) or ranking_column(self.schema, self.retracts) is not None

    def _in_order(self, table: pl.DataFrame) -> pl.DataFrame:
        return table if self.sorted_by else sort_for_reading(table, self.schema, self.retracts)

    def height(self, table: pl.DataFrame) -> int:
        """How many rows the table has, of which `table` may be a part."""
        return self.table.height if isinstance(self.table, Ends) else table.height

    def finish(self) -> None:
        """Print the table."""
        table = self.table.frame()
        frame = self._in_order(table)
        if frame.height > MOST_ROWS and not sys.stdout.isatty():
            self._print_all(frame, self.height(table))
        else:
            width, shown = _terminal().get("width", PIPE_WIDTH), in_zone(frame, self.zone)
            self.out.write(_draw(final(shown, self.schema, self.height(table), width, self.vertical)))
        warn_of_far_years(frame, self.schema)

    def _print_all(self, frame: pl.DataFrame, height: int) -> None:
        """Print all rows, part by part; the two ends, if more have come than are held."""
        lines = (RecordLines if self.vertical else TableLines)(self.schema, self.out, self.zone)
        is_whole = frame.height == height
        for part in (frame if is_whole else frame.head(END_ROWS)).iter_slices(PRINTED_ROWS):
            lines.add(part)
        if is_whole:
            lines.finish()
            return
        self.out.write(f"⋮ {height - 2 * END_ROWS:,} rows are left out here; --format csv or jsonl prints all\n")
        lines.add(frame.tail(END_ROWS))
        self.out.write(f"{count_in_words(height)}: the first {END_ROWS:,} and the last {END_ROWS:,}\n")


def _terminal() -> dict[str, Any]:
    """How to draw for standard output: with its width and colours if it is a terminal, else as wide as it gets."""
    from rich.console import Console

    if not sys.stdout.isatty():
        return {"width": PIPE_WIDTH}
    own = Console()
    return {"width": own.width, "force_terminal": True, "color_system": own.color_system or None}


def answer(
    form: ResultFormat,
    schema: Schema,
    retracts: bool,
    out: StandardOutput | None = None,
    sorted_by: Sequence[SortKey] = (),
    zone: str = "UTC",
    *,
    endless: bool = False,
) -> Answer:
    """The answer of this format, its rows in the order that the query asks for, its instants in the session's time zone.

    It is `endless` if nobody can wait for its end.
    """
    out = out or StandardOutput()
    if form in (ResultFormat.TABLE, ResultFormat.VERTICAL):
        is_vertical = form is ResultFormat.VERTICAL
        if endless and not (retracts or sorted_by or sys.stdout.isatty()):
            return (RecordLines if is_vertical else TableLines)(schema, out, zone)
        return Page(schema, retracts, out, vertical=is_vertical, sorted_by=sorted_by, zone=zone, endless=endless)
    lines = {ResultFormat.CHANGELOG: ChangesAnswer, ResultFormat.JSONL: JsonLines, ResultFormat.CSV: Csv}[form](
        schema, out, zone
    )
    waits = (retracts or sorted_by) and form is not ResultFormat.CHANGELOG
    return AtTheEnd(lines, sorted_by) if waits else lines
