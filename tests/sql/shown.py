"""Queries of a page whose answers stand below them: a block of SQL, then a block of text."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from rich.console import Console

import ouzel
from ouzel.cli.table import PIPE_WIDTH, final, sort_for_reading
from ouzel.cli.values import in_zone
from ouzel.errors import OuzelError
from ouzel.session import Job

ROOT = Path(__file__).parents[2]
TABLES = (ROOT / "sql_examples/shop/tables.sql").read_text()

HEADING = re.compile(r"^###? (.+)\n", re.M)
BLOCKS = re.compile(r"^```sql\n((?:(?!```)[^\n]*\n)*)```\n\n```text\n((?:(?!```)[^\n]*\n)*)```\n", re.M)
PROGRAM = re.compile(r"^As a program in Python:\n\n```python\n((?:(?!```)[^\n]*\n)*)```\n", re.M)


@dataclass(frozen=True)
class Example:
    """A query with the answer that its page shows, and the same as a program in Python, if there is one."""

    page: Path
    heading: str
    query: str
    answer: str
    program: str

    def job(self, directory: Path) -> Job:
        """The query, compiled, with paths relative to a directory; in the cookbook behind the tables of the shop."""
        return ouzel.query((TABLES if self.page.name == "cookbook.md" else "") + self.query, directory)

    def run(self, directory: Path) -> tuple[pl.DataFrame, str]:
        """Its table, empty if it fails, and what is to be shown."""
        try:
            job = self.job(directory)
            table = ouzel.table(job, "memory")
        except OuzelError as error:
            return pl.DataFrame(), f"error: {error}\n".replace(f"{directory}/", "")
        return table, drawn(job, table)

    def write(self, answer: str) -> None:
        """Put another answer into the page."""
        before = f"```sql\n{self.query}```\n\n```text\n"
        text = self.page.read_text()
        assert text.count(before + self.answer) == 1, f"{self.heading}: this query stands twice on the page"
        self.page.write_text(text.replace(before + self.answer, before + answer))


def examples(page: str) -> list[Example]:
    """All queries of a page that have an answer."""
    path = ROOT / "docs" / page
    _, *parts = HEADING.split(path.read_text())
    return [
        Example(path, heading, query, answer, "".join(PROGRAM.findall(text)))
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
        for query, answer in BLOCKS.findall(text)
    ]


def drawn(job: Job, frame: pl.DataFrame) -> str:
    """The table as `ouzel run` prints it at the end, where stdout is no terminal."""
    sink = job.program.result
    assert sink is not None
    schema = sink.columns or sink.input.schema
    rows = frame if sink.sorted_by else sort_for_reading(frame, schema, sink.input.retracts)
    console = Console(file=io.StringIO(), highlight=False, width=PIPE_WIDTH)
    with console.capture() as capture:
        console.print(final(in_zone(rows, job.settings.time_zone), schema, rows.height, PIPE_WIDTH))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())
