"""How an error points into the text of a query, whatever that text is made of."""

from __future__ import annotations

from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.errors import WIDEST, QueryError


def pointed(text: str, at: int, length: int) -> tuple[str, str]:
    """The line that is shown, and the carets below it."""
    said = str(QueryError("wrong", text=text, at=at, length=length)).split("\n", 1)[1]
    line, carets = said.split("\n")
    return line, carets


@pytest.mark.parametrize(
    ("text", "word", "line", "carets"),
    [
        ("SELECT a\r\nFROM b", "b", "  FROM b", "       ^"),
        ("SELECT 'x\u2028y', nowhere", "nowhere", "  SELECT 'x\u2028y', nowhere", "                ^^^^^^^"),
        ("\tSELECT nowhere", "nowhere", "  \tSELECT nowhere", "  \t       ^^^^^^^"),
        ("SELECT '東京', nowhere", "nowhere", "  SELECT '東京', nowhere", "                 ^^^^^^^"),
    ],
    ids=["CRLF", "other ends of lines", "tab", "wide letters"],
)
def test_carets_stand_below_the_word(text: str, word: str, line: str, carets: str) -> None:
    assert pointed(text, text.index(word), len(word)) == (line, carets)


def test_the_end_of_a_text_is_a_place() -> None:
    assert pointed("SELECT\n", 7, 1) == ("  ", "  ^")


@given(st.text("ab 東", min_size=1, max_size=600), st.data())
def test_a_long_line_is_shown_around_its_place(line: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    shown, carets = pointed(line, at, data.draw(st.integers(1, 10)))
    assert len(shown) <= WIDEST + 4
    width, index = 0, 0
    while width < carets.index("^") and index < len(shown):
        width += 2 if east_asian_width(shown[index]) == "W" else 1
        index += 1
    assert shown[index : index + 1] == line[at : at + 1] or at == len(line)
