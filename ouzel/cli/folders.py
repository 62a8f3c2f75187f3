"""What a run says of the folders of parts that its sinks write: what an earlier run has left there, and what this one has added."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from rich.text import Text

from ouzel.cli.speech import speaker
from ouzel.connectors import writes_of
from ouzel.printable import printable
from ouzel.runtime.run import Status
from ouzel.session import Job


class Folders:
    """The folders of parts that a run writes, as they were when it began."""

    def __init__(self, job: Job) -> None:
        self._job, self._before = job, _list_parts(job)

    def say_what_is_there(self) -> None:
        """Say which parts an earlier run has left in place, so that nobody takes both answers for one."""
        for table, (folder, parts) in self._before.items():
            if parts:
                _say(
                    f"table '{table}': adding to the {spell_count(len(parts), 'part')} that earlier runs left in {folder}; "
                    f"`rm -r {shlex.quote(folder)}` before a run begins anew"
                )
            elif Path(folder).suffix:
                _say(f"table '{table}': {folder} becomes a folder, with the rows in parts")

    def describe_written(self, status: Status) -> list[str]:
        """Where the rows are, a line for each table; of the only table of a run without replays also how many they are."""
        is_counted = len(self._job.program.sinks) == 1 and not status.restarts and not status.rows_failed
        rows = spell_count(status.rows_out, "row") if is_counted and status.rows_out else "rows"
        now = _list_parts(self._job)
        made = ((table, folder, len(now[table][1] - before)) for table, (folder, before) in self._before.items())
        return [
            f"table '{table}': {rows} in {folder}/ ({spell_count(parts, 'part')})"
            if parts
            else f"table '{table}': no rows for {folder}/"
            for table, folder, parts in made
        ]


def printing_tables(job: Job) -> list[str]:
    """The tables whose rows go to the standard output of the process that writes them."""
    return [
        sink.table for sink in job.program.sinks if writes_of(sink.connector, sink.table).prints(dict(sink.options))
    ]


def say_where_prints_go(tables: list[str]) -> None:
    """Say of tables that are printed by tasks in processes of their own that nothing of it is seen here."""
    for table in tables:
        _say(
            f"table '{table}': its rows are printed into the log of its task, which is removed when the run ends; to see them here end the "
            "query with SELECT, to keep them give the table a 'path'"
        )


def spell_count(number: int, noun: str) -> str:
    """`1 part`, `2,000 parts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _list_parts(job: Job) -> dict[str, tuple[str, frozenset[str]]]:
    """For each table that is written in parts the folder, and the names of the parts in it."""
    found = {}
    for sink in job.program.sinks:
        if read_back := writes_of(sink.connector, sink.table).read_back:
            pattern = str(job.directory / read_back.parts(dict(sink.options), ""))
            folder, _, parts = pattern.rpartition("/")
            found[sink.table] = (_shorten(folder), frozenset(path.name for path in Path(folder).glob(parts)))
    return found


def _shorten(folder: str) -> str:
    """The folder as its user would write it: relative to the current directory, if it is in that, and that is there."""
    with suppress(OSError):
        folder = os.path.relpath(folder) if Path(folder).is_relative_to(Path.cwd()) else folder
    return printable(folder)


def _say(text: str) -> None:
    speaker().print(Text(text, style="yellow"))
