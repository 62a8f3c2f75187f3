"""What a terminal shows while a topology runs: the result as a live table with a status line, or only the status line."""

from __future__ import annotations

import io
import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypedDict

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from ouzel.cli.answer import Answer, Lines, Page
from ouzel.cli.output import is_pipe
from ouzel.cli.speech import speaker
from ouzel.cli.status import MOST_WAITING, RunProgress, waiting_texts
from ouzel.cli.table import count_in_words, draw_table, fitting, records
from ouzel.interrupts import is_foreground, suspendable
from ouzel.runtime.run import RunState, Status

if TYPE_CHECKING:
    import polars as pl

REFRESH_SECONDS = 0.1

BUSY_SHARE = 0.1
"""Drawing takes at most this share of the time, however large the table: the topology needs the processor more."""

WAITING_SECONDS = 5.0
"""After so long without a row, who has no terminal is told what is waited for."""

FRAME_LINES = 7
"""Lines of the screen that are not rows of the table: title, head and rule, count, status of two lines, prompt."""


class Redirects(TypedDict):
    """Arguments of a live display."""

    redirect_stdout: bool
    redirect_stderr: bool


class Screen(AbstractContextManager["Screen"], Protocol):
    """Shows how a run stands while it is entered; leaves nothing behind."""

    def show(self, status: Status) -> None:
        """Show this; often called, seldom drawn."""

    def say(self, text: str) -> None:
        """Show a line that stays."""


class Dark:
    """The screen without a terminal: shows nothing, but once what is waited for where no row comes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, math.inf
        self._has_told = False

    def __enter__(self) -> Dark:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, status: Status) -> None:
        """Show nothing but, once, why no row has come for so long."""
        lasting = tuple(one for one in status.waiting if not one.until_us)  # what no time ends
        waits = bool(lasting) and not status.rows_out
        self._began = min(self._began, self._clock()) if waits else math.inf
        if self._has_told or not waits or self._clock() - self._began < WAITING_SECONDS:
            return
        self._has_told = True
        for text in waiting_texts(replace(status, waiting=lasting), time.time())[:MOST_WAITING]:
            self.say(f"waiting: {text}")

    def say(self, text: str) -> None:
        """Write the line."""
        speaker().print(Text(text, style="yellow"))


class StatusScreen:
    """The status line alone, redrawn in place while the terminal is this process's."""

    def __init__(
        self, console: Console, title: str, progress: RunProgress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.console, self.title, self.progress, self.clock = console, title, progress, clock
        self._live: Live | None = None
        self._next = 0.0
        file = console.file
        self._suspends = suspendable(file.fileno()) if file.isatty() else nullcontext()

    def __enter__(self) -> StatusScreen:
        self._suspends.__enter__()
        self._take_turn()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if (live := self._take_turn()) is not None:
            live.stop()
        self._suspends.__exit__(kind, error, trace)

    def _take_turn(self) -> Live | None:
        """What is drawn on, begun anew when the terminal has come back; None while the shell has it."""
        ours = may_draw(self.console)
        if ours and self._live is None:
            self._live = Live(console=self.console, auto_refresh=False, transient=True, **redirects())
            self._live.start()
        if not ours and self._live is not None:
            file, self.console.file = self.console.file, io.StringIO()  # what it would clear is the shell's by now
            self._live.stop()
            self.console.file, self._live = file, None
        return self._live

    def show(self, status: Status) -> None:
        """Draw it, unless it was drawn a moment ago."""
        began = self.clock()
        if began < self._next or (live := self._take_turn()) is None:
            return
        live.update(self.drawing(status), refresh=True)
        took = self.clock() - began
        self._next = began + max(REFRESH_SECONDS, took / BUSY_SHARE)

    def say(self, text: str) -> None:
        """Write a line above what is redrawn; where stderr is no terminal, it goes there."""
        self._take_turn()
        if sys.stderr.isatty():
            self.console.print(Text(text, style="yellow"))
        else:
            Dark().say(text)

    def drawing(self, status: Status) -> RenderableType:
        """What is drawn."""
        return self.progress.line(status, self.console.width)


class TableScreen(StatusScreen):
    """The result as it stands, what changed last in bright, and the status line below it."""

    def __init__(
        self,
        console: Console,
        title: str,
        progress: RunProgress,
        page: Page,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(console, title, progress, clock)
        self.page = page

    def drawing(self, status: Status) -> RenderableType:
        """What is drawn."""
        head = Text(self.title, style="dim")
        if status.state is RunState.STARTING:
            return Group(head, self.progress.line(status, self.console.width))
        lines, every = max(3, self.console.height - FRAME_LINES), self.page.schema
        rows, fresh, height = self.page.part(lines // (len(every.names) + 1) or 1 if self.page.vertical else lines)
        fits = every if self.page.vertical else fitting(rows, every, self.console.width)
        count = Text(count_in_words(height), style="dim")
        if rows.height < height:
            count.append(f", {rows.height} of them here")
        if fits != every:
            hidden = len(every.names) - len(fits.names)
            count.append(f"; {hidden} of {len(every.names)} columns do not fit", style="yellow")
        table = self._records(rows, height) if self.page.vertical else draw_table(rows, fits, fresh)
        return Group(head, table, count, self.progress.line(status, self.console.width))

    def _records(self, rows: pl.DataFrame, height: int) -> RenderableType:
        first = 1 if self.page.is_ranked else height - rows.height + 1
        return records(rows, self.page.schema, range(first, first + rows.height))


def may_draw(console: Console) -> bool:
    """Whether what moves may be drawn: on a terminal that no other process has in its turn."""
    return console.is_terminal and (not console.file.isatty() or is_foreground(console.file.fileno()))


def redirects() -> Redirects:
    """Whose prints a live display shows above itself: of the streams that are a terminal. What goes elsewhere goes there."""
    return {"redirect_stdout": sys.stdout.isatty(), "redirect_stderr": sys.stderr.isatty()}


def screen(answer: Answer, title: str, progress: RunProgress, *, prints: bool = False) -> Screen:
    """The screen for these streams: the table needs a terminal on stdout, the status line one on stderr.

    Where lines of the answer scroll over a terminal nothing is redrawn among them, nor where they go into a pipe: who reads it mostly
    writes to the same terminal. So it is where a table `prints` its rows from this process.
    """
    if isinstance(answer, Page) and sys.stdout.isatty():
        return TableScreen(Console(highlight=False), title, progress, answer)
    scrolls = (prints or isinstance(answer, Lines)) and (sys.stdout.isatty() or is_pipe())
    if sys.stderr.isatty() and not scrolls:
        return StatusScreen(Console(stderr=True, highlight=False), title, progress)
    return Dark()
