"""A table as lines of text for a pipe or a file: no row is left out, and none waits for the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.cli.table import GAP, NULL, cells_of
from ouzel.cli.values import is_number
from ouzel.compiler.types import Schema
from ouzel.printable import printable

if TYPE_CHECKING:
    import polars as pl

RULE = "─"


class PlainTable:
    """Draws a table part by part. A column is as wide as its widest text so far: later ones move to the right where that is too little."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._widths = [0] * len(schema.fields)

    def head(self, frame: pl.DataFrame) -> str:
        """The names of the columns, and a line below them; as wide as these rows need."""
        self._widen(self._columns(frame))
        rule = RULE * (sum(self._widths) + GAP * (len(self._widths) - 1))
        return f"{self._line(self.schema.names)}{rule}\n"

    def rows(self, frame: pl.DataFrame) -> str:
        """A line a row."""
        columns = self._columns(frame)
        self._widen(columns)
        return "".join(map(self._line, zip(*columns, strict=True)))

    def _columns(self, frame: pl.DataFrame) -> list[list[str]]:
        texts = (cells_of(frame, field) for field in self.schema)
        return [[NULL if text is None else printable(text) for text in column] for column in texts]

    def _widen(self, columns: list[list[str]]) -> None:
        from rich.cells import cell_len

        for place, (name, column) in enumerate(zip(self.schema.names, columns, strict=True)):
            self._widths[place] = max(self._widths[place], cell_len(name), *map(cell_len, column))

    def _line(self, texts: tuple[str, ...] | list[str]) -> str:
        from rich.cells import cell_len

        cells = []
        for text, width, field in zip(texts, self._widths, self.schema, strict=True):
            padding = " " * (width - cell_len(text))
            cells.append(padding + text if is_number(field.type) else text + padding)
        return (" " * GAP).join(cells).rstrip() + "\n"
