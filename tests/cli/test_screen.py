"""What a terminal shows while a topology runs."""

from __future__ import annotations

import io
import os
from dataclasses import replace

import polars as pl
import pytest
from rich.console import Console

from ouzel.cli.answer import Page, answer
from ouzel.cli.choices import ResultFormat
from ouzel.cli.screen import Dark, StatusScreen, TableScreen, screen
from ouzel.cli.status import RunProgress
from ouzel.planner.schemas import schema
from ouzel.runtime.protocol.messages import Waiting
from ouzel.runtime.run import RunState, Status
from tests.cli.test_status import Clock

WORDS = schema(word=str, n=int)


def terminal(height: int) -> Console:
    """A terminal of so many lines that writes into a text."""
    return Console(file=io.StringIO(), force_terminal=True, width=100, height=height, highlight=False)


def table_screen(rows: int, height: int, clock: Clock) -> TableScreen:
    """A screen over a result with so many rows."""
    page = Page(WORDS, True, clock)
    page.add(pl.DataFrame({"word": [f"w{n}" for n in range(rows)], "n": range(rows)}))
    return TableScreen(terminal(height), "words · at-least-once", RunProgress(clock), page, clock)


def drawn(shown: TableScreen, status: Status) -> list[str]:
    """The lines of one drawing, without colours."""
    console = Console(file=io.StringIO(), width=100, height=shown.console.height, highlight=False)
    console.print(shown.drawing(status))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_a_large_result_fits_the_terminal() -> None:
    lines = drawn(table_screen(rows=1_000, height=24, clock=Clock()), Status(RunState.RUNNING, rows_in=1_000))
    assert len(lines) <= 23
    assert lines[0] == "words · at-least-once"
    assert lines[3].split() == ["w999", "999"]
    assert "1,000 rows, 17 of them here" in lines[-2]
    assert "1,000 rows in" in lines[-1]


def test_columns_that_do_not_fit_are_counted_and_numbers_are_whole() -> None:
    columns = schema(**{f"column_{number}": int for number in range(12)})
    page = Page(columns, False)
    page.add(pl.DataFrame({name: [10**14] for name in columns.names}))
    shown = TableScreen(terminal(24), "wide", RunProgress(Clock()), page, Clock())
    text = "\n".join(drawn(shown, Status(RunState.RUNNING)))
    assert text.count(f"{10**14:,}") == 4
    assert "…" not in text
    assert "1 row; 8 of 12 columns do not fit" in text


def test_before_the_first_row_it_says_that_it_starts() -> None:
    lines = drawn(table_screen(rows=0, height=24, clock=Clock()), Status(RunState.STARTING))
    assert lines[1].endswith("starting")


def test_it_is_drawn_seldom() -> None:
    clock = Clock()
    shown = table_screen(rows=3, height=24, clock=clock)
    draws = 0

    def slow(status: Status) -> str:
        nonlocal draws
        draws += 1
        clock.now += 0.05  # a drawing that takes 50 ms is due every 500 ms
        return "drawing"

    shown.drawing = slow  # type: ignore[assignment, method-assign]
    with shown:
        for _ in range(100):
            shown.show(Status(RunState.RUNNING))
            clock.now += 0.01
    assert 2 <= draws <= 3


@pytest.mark.parametrize(
    ("form", "retracts", "out", "err", "expected"),
    [
        (ResultFormat.TABLE, True, True, True, TableScreen),
        (ResultFormat.TABLE, True, False, True, StatusScreen),
        (ResultFormat.JSONL, True, True, True, StatusScreen),
        (ResultFormat.JSONL, False, True, True, Dark),
        (ResultFormat.CHANGELOG, True, False, True, StatusScreen),
        (ResultFormat.CHANGELOG, True, True, True, Dark),
        (ResultFormat.JSONL, True, True, False, Dark),
    ],
)
def test_which_screen(
    form: ResultFormat, retracts: bool, out: bool, err: bool, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: out)
    monkeypatch.setattr("sys.stderr.isatty", lambda: err)
    rows = answer(form, WORDS, retracts)
    assert type(screen(rows, "title", RunProgress())) is expected


def test_behind_an_ampersand_nothing_is_drawn_until_the_terminal_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, terminal = os.openpty()
    turns = {"ours": False}
    monkeypatch.setattr("ouzel.cli.screen.is_foreground", lambda file: file == terminal and turns["ours"])
    with open(terminal, "w") as file:
        clock = Clock()
        shown = StatusScreen(Console(file=file, width=100), "words", RunProgress(clock), clock)

        def draw(ours: bool) -> bytes:
            turns["ours"] = ours
            clock.now += 1
            shown.show(Status(RunState.RUNNING, rows_in=7))
            file.write("|")
            file.flush()
            return _until(reader, b"|")

        with shown:
            assert draw(ours=False) == b"|"
            assert b"7 rows in" in draw(ours=True)
            assert draw(ours=False) == b"|", "it clears nothing that the shell has written meanwhile"
            again = draw(ours=True)
            assert b"7 rows in" in again
            assert b"\x1b[1A" not in again, "it moves up into lines of the shell"
            turns["ours"] = False
        file.write("|")
        file.flush()
        assert _until(reader, b"|") == b"|"
    os.close(reader)


def _until(reader: int, end: bytes) -> bytes:
    text = b""
    while not text.endswith(end):
        text += os.read(reader, 1000)
    return text


WAITING = Status(RunState.RUNNING, waiting=(Waiting("orders", "orders.csv", 0, "its rows are historical"),))


@pytest.mark.parametrize(
    ("status", "seconds", "told"),
    [
        (WAITING, (0, 3, 6, 9, 60), ["waiting: orders.csv: its rows are historical"]),
        (WAITING, (0, 3), []),
        (replace(WAITING, rows_out=1), (0, 60), []),
        (replace(WAITING, waiting=(replace(WAITING.waiting[0], until_us=1),)), (0, 60), []),
        (Status(RunState.RUNNING), (0, 60), []),
    ],
    ids=["once", "not yet", "a row has come", "it is IDLE soon", "nothing waits"],
)
def test_who_has_no_terminal_is_told_once_why_no_row_comes(
    status: Status, seconds: tuple[int, ...], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    dark = Dark(clock)
    for second in seconds:
        clock.now = float(second)
        dark.show(status)
    assert capsys.readouterr().err.splitlines() == told


def test_a_wait_that_ends_is_not_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    dark = Dark(clock)
    for second in range(60):
        clock.now = float(second)
        dark.show(Status(RunState.RUNNING) if second % 4 == 3 else WAITING)
    assert capsys.readouterr().err == ""
