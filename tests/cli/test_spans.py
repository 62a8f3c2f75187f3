"""One way to write a span of time, in options, settings, conditions of alerts and commands."""

from __future__ import annotations

import pytest

from ouzel.spans import parse_span


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("10s", 10_000_000),
        (" 1.5 min", 90_000_000),
        ("2 hours", 7_200_000_000),
        ("1D", 86_400_000_000),
        ("0s", None),
        ("30", None),
        ("soon", None),
        ("-1s", None),
    ],
)
def test_a_span_is_a_number_and_a_unit_and_some_time(text: str, us: int | None) -> None:
    assert parse_span(text) == us
