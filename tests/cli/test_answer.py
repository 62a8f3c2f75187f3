"""What the four formats print of a changelog."""

from __future__ import annotations

import csv
import io
import json
from datetime import date

import polars as pl
import pytest
from rich.console import Console

from ouzel.cli.answer import Page, answer
from ouzel.cli.choices import ResultFormat
from ouzel.cli.table import final
from ouzel.compiler.plan import WEIGHT
from ouzel.compiler.types import DATE, Schema
from ouzel.planner.schemas import schema

WORDS = schema(word=str, n=int)
DAYS = schema(day=DATE, flights=int)


def changes(*rows: tuple[str | None, int, int]) -> pl.DataFrame:
    """Rows of WORDS with their weights."""
    return pl.DataFrame(rows, schema={"word": pl.String, "n": pl.Int64, WEIGHT: pl.Int64}, orient="row")


def printed(form: ResultFormat, columns: Schema, frames: list[pl.DataFrame], capsys: pytest.CaptureFixture[str]) -> str:
    """What this format prints of these frames."""
    printer = answer(form, columns, WEIGHT in frames[0].columns)
    for frame in frames:
        printer.add(frame)
    printer.finish()
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


FRAMES = [
    changes(("b", 1, 1), (None, 4, 1)),
    changes(("b", 1, -1), ("b", 2, 1)),
    changes(("a", 2, 1), (None, 4, -1), ("", 9, 1)),
]


def test_json_lines_are_the_table_after_all_changes_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(ResultFormat.JSONL, WORDS, FRAMES, capsys).splitlines()
    assert [json.loads(line) for line in lines] == [{"word": "", "n": 9}, {"word": "a", "n": 2}, {"word": "b", "n": 2}]


def test_json_lines_of_nothing_are_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(ResultFormat.JSONL, WORDS, [changes(("a", 1, 1)), changes(("a", 1, -1))], capsys) == ""


def test_csv_tells_null_from_empty(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(ResultFormat.CSV, WORDS, [changes(("", 1, 1), (None, 2, 1), ('say "a,b"', 3, 1))], capsys)
    assert text == 'word,n\n,2\n"",1\n"say ""a,b""",3\n'
    assert list(csv.reader(text.splitlines()))[3] == ['say "a,b"', "3"]


def test_changelog_is_every_change_as_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(ResultFormat.CHANGELOG, WORDS, [changes(("a", 1, 1)), changes(("a", 1, -1), ("a", 2, 2))], capsys)
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row.pop("op") for row in rows] == ["+", "-", "+", "+"]
    assert rows == [{"word": "a", "n": 1}, {"word": "a", "n": 1}, *[{"word": "a", "n": 2}] * 2]


def test_a_changelog_of_a_column_named_op_keeps_it(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"op": ["x"], WEIGHT: [-1]})
    assert json.loads(printed(ResultFormat.CHANGELOG, schema(op=str), [frame], capsys)) == {"$op": "-", "op": "x"}


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (ResultFormat.JSONL, ['{"word": "b", "n": 1}', '{"word": "a", "n": 2}']),
        (ResultFormat.CSV, ["word,n", "b,1", "a,2"]),
    ],
)
def test_what_only_appends_is_printed_as_it_comes(
    form: ResultFormat, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    printer = answer(form, WORDS, False)
    seen = []
    for word, n in (("b", 1), ("a", 2)):
        printer.add(pl.DataFrame({"word": [word], "n": [n]}))
        seen.append(capsys.readouterr().out)
        assert seen[-1]
    printer.finish()
    assert "".join(seen).splitlines() == lines
    assert capsys.readouterr().out == ""
    assert printer.waits == ""


def test_csv_of_nothing_names_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for retracts in (False, True):
        answer(ResultFormat.CSV, WORDS, retracts).finish()
        assert capsys.readouterr().out == "word,n\n"


def test_what_takes_rows_back_waits_for_the_end_and_says_so() -> None:
    assert "--format changelog prints each change at once" in answer(ResultFormat.CSV, WORDS, True).waits
    assert answer(ResultFormat.CHANGELOG, WORDS, True).waits == ""


def test_a_page_holds_the_ends_of_a_table_that_only_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.cli.answer.HELD_ROWS", 500)
    monkeypatch.setattr("ouzel.cli.answer.END_ROWS", 50)
    page = Page(schema(n=int), False)
    for first in range(0, 10_000, 100):
        page.add(pl.DataFrame({"n": range(first, first + 100)}).sample(fraction=1, shuffle=True, seed=first))
        assert page.table.frame().height <= 600
    rows, _, height = page.part(limit=40)
    assert (rows["n"].to_list(), height) == (list(range(9_960, 10_000)), 10_000)
    assert page.table.frame().sort("n").head(20)["n"].to_list() == list(range(20))


def test_rows_that_are_equal_are_all_printed(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"word": ["a", "a"], "n": [1, 1]})
    assert printed(ResultFormat.JSONL, WORDS, [frame], capsys).count("a") == 2


def test_a_ranked_table_starts_with_the_largest(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(ResultFormat.TABLE, WORDS, [changes(("a", 1, 1), ("b", 30, 1), ("c", 2, 1))], capsys)
    assert [line.split() for line in text.splitlines()[2:]] == [["b", "30"], ["c", "2"], ["a", "1"], ["3", "rows"]]


def test_a_table_over_time_goes_forward(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"day": [date(2013, 1, 2), date(2013, 1, 1)], "flights": [1, 2]})
    text = printed(ResultFormat.TABLE, DAYS, [frame], capsys)
    assert [line.split()[0] for line in text.splitlines()[2:]] == ["2013-01-01", "2013-01-02", "2"]


def test_a_long_table_shows_its_ends_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(
        ResultFormat.TABLE, WORDS, [pl.DataFrame({"word": [f"w{n:03}" for n in range(200)], "n": range(200)})], capsys
    )
    words = [line.split()[0] for line in text.splitlines()[2:]]
    assert words[0] == "w000"
    assert words[20] == "⋮"
    assert words[40] == "w199"
    assert text.splitlines()[-1] == "200 rows: the first 20 and the last 20; --format csv or jsonl prints all"


def test_a_wide_table_is_not_cut_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    columns = schema(**{f"column_{n:02}": str for n in range(30)})
    frame = pl.DataFrame({name: ["x" * 50] for name in columns.names})
    assert printed(ResultFormat.TABLE, columns, [frame], capsys).count("x" * 50) == 30


def test_a_page_knows_which_rows_are_new() -> None:
    now = 0.0
    page = Page(WORDS, True, clock=lambda: now)
    page.add(changes(("a", 5, 1), ("b", 3, 1)))
    now = 5.0
    page.add(changes(("b", 3, -1), ("b", 4, 1)))
    rows, fresh, height = page.part(limit=10)
    assert rows.rows() == [("a", 5), ("b", 4)]
    assert (fresh, height) == ([False, True], 2)
    assert page.part(limit=1)[0].rows() == [("a", 5)]


WIDE = schema(**{f"column_{number}": int for number in range(12)})


def wide_row(digits: int = 15) -> pl.DataFrame:
    """One row whose numbers need all the room."""
    return pl.DataFrame({name: [10 ** (digits - 1) + number] for number, name in enumerate(WIDE.names)})


@pytest.mark.parametrize("width", [60, 80, 120, 300])
def test_a_number_is_never_cut(width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as text:
        console.print(final(wide_row(), WIDE, 1, width))
    lines = text.get().splitlines()
    for number in range(12):
        assert f"{10**14 + number:,}" in text.get()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("── row 1") is (width < 300)


def test_what_is_vertical_is_so_in_a_pipe_too(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(ResultFormat.VERTICAL, WORDS, [changes((None, 1, 1), ("b", 20, 1))], capsys)
    assert [line.split() for line in text.splitlines()] == [
        ["──", "row", "1"], ["word", "b"], ["n", "20"], ["──", "row", "2"], ["word", "NULL"], ["n", "1"], ["2", "rows"],
    ]  # fmt: skip


def test_a_long_vertical_table_numbers_its_ends() -> None:
    frame = pl.DataFrame({"n": range(200)})
    console = Console(file=io.StringIO(), width=80)
    with console.capture() as text:
        console.print(final(frame, schema(n=int), 200, 80, vertical=True))
    headings = [line.strip() for line in text.get().splitlines() if line.startswith("──")]
    assert headings[19:21] == ["── row 20", "── row 181"]
