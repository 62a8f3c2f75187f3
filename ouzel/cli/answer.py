"""What becomes of the rows of a trailing SELECT: a table, JSON lines, CSV, or the changelog itself."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ouzel.cli.choices import Format
from ouzel.cli.table import PIPE_WIDTH, final, ordered, ranked_by, sorted_by_columns
from ouzel.cli.values import json_rows
from ouzel.compiler.plan import WEIGHT
from ouzel.compiler.types import Schema

if TYPE_CHECKING:
    import polars as pl

    from ouzel.runtime.operators.result_table import ResultTable


FRESH_SECONDS = 1.0
"""How long a row that has changed stands out."""

FRESH_ROWS = 10_000
"""Of so many of a frame's last rows we know that they are new: more never fit on a terminal."""


class Answer(Protocol):
    """Takes the frames of a result as they come, and prints what it prints on stdout and nothing else."""

    def add(self, frame: pl.DataFrame) -> None:
        """Take some more of the result's changes."""

    def finish(self) -> None:
        """No more will come: print what is still to be printed."""


class Nothing:
    """The answer of a file that only has INSERT INTO: its rows are elsewhere."""

    def add(self, frame: pl.DataFrame) -> None:
        """Nothing comes."""

    def finish(self) -> None:
        """Nothing is printed."""


class Changelog:
    """Each change when it comes: `+` or `-`, then the row as a JSON object."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def add(self, frame: pl.DataFrame) -> None:
        """Print the changes."""
        weights = frame[WEIGHT].to_list() if WEIGHT in frame.columns else [1] * frame.height
        lines = [
            f"{'+' if weight > 0 else '-'} {json.dumps(row, ensure_ascii=False)}\n" * abs(weight)
            for weight, row in zip(weights, json_rows(frame, self.schema), strict=True)
        ]
        sys.stdout.write("".join(lines))
        sys.stdout.flush()

    def finish(self) -> None:
        """Everything has been printed already."""


class Folded:
    """Adds all changes up to the table that they mean; the base of the three formats that print that table."""

    def __init__(self, schema: Schema, retracts: bool) -> None:
        self.schema, self.retracts = schema, retracts
        self.table: ResultTable | Appended = _result_table(schema) if retracts else Appended(schema)

    def add(self, frame: pl.DataFrame) -> None:
        """Fold the changes in."""
        self.table.apply(frame)

    def rows(self) -> pl.DataFrame:
        """The table as it stands, sorted by its columns from left to right."""
        return sorted_by_columns(self.table.frame())


class Appended:
    """The table of a result that only grows, as ResultTable but without its index: Numba need not be loaded for it."""

    def __init__(self, schema: Schema) -> None:
        import polars as pl

        self.frames = [pl.DataFrame(schema=schema.polars())]

    def apply(self, frame: pl.DataFrame) -> None:
        """Add rows; columns are taken by position."""
        names = self.frames[0].columns
        self.frames.append(
            frame if frame.columns == names else frame.rename(dict(zip(frame.columns, names, strict=True)))
        )

    def frame(self) -> pl.DataFrame:
        """All rows, in the order in which they came."""
        import polars as pl

        self.frames = [pl.concat(self.frames)]
        return self.frames[0]


def _result_table(schema: Schema) -> ResultTable:
    from ouzel.runtime.operators.result_table import ResultTable

    return ResultTable(schema)


class JsonLines(Folded):
    """The table, one JSON object a line."""

    def finish(self) -> None:
        """Print the table."""
        for row in json_rows(self.rows(), self.schema):
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
        sys.stdout.flush()


class Csv(Folded):
    """The table with a line of column names; a NULL is an empty field, an empty text is quoted."""

    def finish(self) -> None:
        """Print the table."""
        import polars as pl

        columns: dict[str, list[str | None]] = {name: [] for name in self.schema.names}
        for row in json_rows(self.rows(), self.schema):
            for name, value in row.items():
                text = value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                columns[name].append(text)
        sys.stdout.write(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_csv())
        sys.stdout.flush()


class Page(Folded):
    """The table for people: while it grows, as much of it as fits; at the end all of it if it is short, else its two ends."""

    def __init__(self, schema: Schema, retracts: bool, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(schema, retracts)
        self.clock = clock
        self.fresh: deque[tuple[float, pl.Series]] = deque()

    def add(self, frame: pl.DataFrame) -> None:
        """Fold the changes in, and remember for a moment which rows are new."""
        super().add(frame)
        added = frame.filter(frame[WEIGHT] > 0) if WEIGHT in frame.columns else frame
        if added.height:
            self.fresh.append((self.clock(), added.tail(FRESH_ROWS).select(self.schema.names).hash_rows()))

    def part(self, limit: int) -> tuple[pl.DataFrame, list[bool], int]:
        """At most `limit` rows of the table as it stands, which of them are new, and how many rows there are in all.

        Of a ranked table its first rows, of any other its last.
        """
        import polars as pl

        table = self.table.frame()
        rows = ordered(table, self.schema, self.retracts)
        shown = rows.head(limit) if ranked_by(self.schema, self.retracts) else rows.tail(limit)
        while self.fresh and self.fresh[0][0] < self.clock() - FRESH_SECONDS:
            self.fresh.popleft()
        marks = [False] * shown.height
        if self.fresh and shown.height:
            marks = shown.hash_rows().is_in(pl.concat([hashes for _, hashes in self.fresh])).to_list()
        return shown, marks, table.height

    def finish(self) -> None:
        """Print the table."""
        from rich.console import Console

        frame = ordered(self.table.frame(), self.schema, self.retracts)
        console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
        console.print(final(frame, self.schema))


def answer(form: Format, schema: Schema, retracts: bool) -> Answer:
    """The answer of this format."""
    match form:
        case Format.CHANGELOG:
            return Changelog(schema)
        case Format.JSONL:
            return JsonLines(schema, retracts)
        case Format.CSV:
            return Csv(schema, retracts)
        case Format.TABLE:
            return Page(schema, retracts)
