"""A text by a date pattern as TRY_CAST: it reads what the pattern reads, and gives NULL for all else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ouzel import entry
from ouzel.compiler.functions.formats import split_pattern
from ouzel.compiler.functions.pattern_casts import cast_of_pattern
from ouzel.session import load_text


@pytest.mark.parametrize(
    ("text", "pattern", "wanted"),
    [
        ("31.01.2024", "dd.MM.yyyy", "2024-01-31 00:00:00"),
        ("1.2.24", "d.M.yy", "2024-02-01 00:00:00"),
        ("01/31/2024 23:05", "MM/dd/yyyy HH:mm", "2024-01-31 23:05:00"),
        ("20240131230501", "yyyyMMddHHmmss", "2024-01-31 23:05:01"),
        ("2024-01-31T23:05:01", "yyyy-MM-dd'T'HH:mm:ss", "2024-01-31 23:05:01"),
        ("31.02.2024", "dd.MM.yyyy", "None"),
        ("31-01-2024", "dd.MM.yyyy", "None"),
        ("none", "MM/dd/yyyy HH:mm", "None"),
    ],
)
def test_it_reads_what_the_pattern_reads(text: str, pattern: str, wanted: str) -> None:
    cast = cast_of_pattern("s", pattern, split_pattern(pattern), "TIMESTAMP")
    query = f"SELECT {cast} AS t FROM (VALUES ('{text}')) AS v (s);"
    ((read,),) = entry.table(load_text(query, Path(), "q"), "memory").rows()
    assert str(read) == wanted


@pytest.mark.parametrize("pattern", ["HH:mm", "dd.MM.", "dd MMM yyyy", "hh:mm a dd.MM.yyyy", "dd.MM.yyyy HH"])
def test_a_pattern_without_a_whole_date_has_none(pattern: str) -> None:
    assert cast_of_pattern("s", pattern, split_pattern(pattern), "TIMESTAMP") == ""
