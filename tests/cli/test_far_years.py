"""Times of a year that milliseconds make which were read as seconds."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from ouzel.cli.far_years import warn_of_far_years
from ouzel.compiler.types import TIMESTAMP, VARCHAR, Field, Schema

FAR_US = 1_709_287_200_000 * 1_000_000
"""Milliseconds of the year 2024 as if they were seconds."""


def warned(capsys: pytest.CaptureFixture[str], times: pl.Series, texts: list[str | None]) -> str:
    frame = pl.DataFrame({"at": times, "text": pl.Series(texts, dtype=pl.String)})
    warn_of_far_years(frame, Schema((Field("at", TIMESTAMP), Field("text", VARCHAR))))
    return " ".join(capsys.readouterr().err.split())


def test_a_far_year_is_told_with_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    times = pl.Series([FAR_US, None]).cast(pl.Datetime("us"))
    said = warned(capsys, times, ["+56135-02-26 16:00:00", None])
    assert "at has times of the year 56135: milliseconds were read as seconds; divide them by 1000" in said
    assert "text has times of the year 56135" in said


def test_other_times_and_texts_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    times = pl.Series([datetime(9999, 12, 31), None], dtype=pl.Datetime("us"))
    assert not warned(capsys, times, ["2024-02-26 16:00:00", "12345-67-890 is a number"])
