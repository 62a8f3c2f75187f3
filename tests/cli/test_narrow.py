"""A terminal that is narrower than the line of a query."""

from __future__ import annotations

import pytest

from ouzel.cli.speech import around_carets


@pytest.mark.parametrize(
    ("line", "at", "shown"),
    [
        ("SELECT a", 7, ["SELECT a", "       ^"]),
        (f"SELECT {'b, ' * 20}a FROM t WHERE c = d", 67, ["…, b, a FROM t…", "      ^"]),
        (f"SELECT {'数, ' * 20}a", 87, ["… 数, a", "      ^"]),
        (f"a FROM {'b' * 40}", 0, ["a FROM bbbbbbb…", "^"]),
    ],
)
def test_the_carets_stay_below_what_they_mean(line: str, at: int, shown: list[str]) -> None:
    assert list(around_carets(line, " " * at + "^", 15)) == shown
