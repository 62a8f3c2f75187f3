"""Date patterns of other systems in Java's letters."""

from __future__ import annotations

import pytest

from ouzel.compiler.functions.foreign_patterns import doubt_pattern, java_pattern


@pytest.mark.parametrize(
    ("pattern", "java"),
    [
        ("%Y-%m-%d", "yyyy-MM-dd"),
        ("%Y-%m-%d %H:%i:%s", "yyyy-MM-dd HH:mm:ss"),  # MySQL
        ("%Y-%m-%dT%H:%M:%S", "yyyy-MM-dd''T''HH:mm:ss"),  # strftime
        ("%d %M %Y", "dd MMMM yyyy"),
        ("%Y week %q", ""),
        ("YYYY-MM-DD HH24:MI:SS.MS", "yyyy-MM-dd HH:mm:ss.SSS"),
        ('YYYY"T"HH24', "yyyy''T''HH"),
        ("DD Mon YYYY", "dd MMM yyyy"),
        ("yyyy-MM-dd", ""),
        ("YYYY Q", ""),
    ],
)
def test_what_it_means(pattern: str, java: str) -> None:
    assert java_pattern(pattern) == java


def test_to_char_reads_words_in_any_case() -> None:
    assert java_pattern("yyyy-mm-dd hh24:mi", oracle=True) == "yyyy-MM-dd HH:mm"


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("yyyy-mm-dd", "write 'yyyy-MM-dd' for months"),
        ("dd.mm.yyyy", "write 'dd.MM.yyyy' for months"),
        ("yyyy-MM-dd HH:MM", "write 'yyyy-MM-dd HH:mm' for minutes"),
        ("hh:mm", "write 'HH:mm' for 0 to 23, or 'hh:mm a'"),
        ("hh:mm a", ""),
        ("yyyy-MM-dd HH:mm", ""),
        ("HH:mm", ""),
        ("yyyy-DDD HH:mm", ""),
    ],
)
def test_letters_that_are_hardly_meant(pattern: str, told: str) -> None:
    assert doubt_pattern(pattern, read=False)[1] == told
