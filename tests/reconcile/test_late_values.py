"""Late rows are known again by their values, whatever these are."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.reconcile import Class
from tests.reconcile.planting import TABLE, found
from tests.reconcile.test_forgers import ran_late
from tests.reconcile.test_runs import shaken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("one_partition")]

COLUMNS = "b VARBINARY, d DECIMAL(20, 5), day DATE, at TIMESTAMP_LTZ(3), f FLOAT, x DOUBLE, s VARCHAR, big BIGINT, ok BOOLEAN,"
OVER = "SELECT id, b, d, day, at, f, x, s, big, ok, ROW_NUMBER() OVER (PARTITION BY origin ORDER BY ts) AS place FROM flights;"
TEXTS = ["", "null", "NULL", ' "quoted" \\', "a\nb", "\u2028", "\ud7ff", "NaN", "1e5", None, "\x00", "é"]
FLOATS = [nan, inf, -inf, -0.0, 0.1, 1e-300, 1.7976931348623157e308, None, 5e-324, 0.1 + 0.2]
BIGS = [2**63 - 1, -(2**63), 2**53 + 1, None]
DAYS = [date(1, 1, 1), date(1582, 10, 10), date(9999, 12, 31), date(1969, 12, 31), None]


def test_a_late_row_is_known_by_any_value(tmp_path: Path, spark: SparkSession) -> None:
    data = shaken(3_000, 3)
    number = range(data.height)
    data = data.with_columns(
        b=pl.Series([bytes([n % 256, 0, 255]) if n % 5 else None for n in number]),
        d=pl.Series(
            [Decimal(n * 7919 - 10**15).scaleb(-5) if n % 7 else None for n in number], dtype=pl.Decimal(20, 5)
        ),
        day=pl.Series([DAYS[n % len(DAYS)] for n in number]),
        at=(pl.col("ts") - timedelta(days=365 * 60, microseconds=1)).dt.replace_time_zone("UTC"),
        f=pl.Series([FLOATS[n % len(FLOATS)] for n in number], dtype=pl.Float64, strict=False).cast(pl.Float32),
        x=pl.Series([FLOATS[n * 3 % len(FLOATS)] for n in number], dtype=pl.Float64),
        s=pl.Series([TEXTS[n % len(TEXTS)] for n in number]),
        big=pl.Series([BIGS[n % len(BIGS)] for n in number], dtype=pl.Int64),
        ok=pl.Series([[True, False, None][n % 3] for n in number]),
    )
    job, home = ran_late(OVER, tmp_path, data, TABLE.replace("miles DOUBLE,", f"miles DOUBLE, {COLUMNS}"))
    result = found(job, home, spark)
    assert result.explained, (result.counts, result.samples)
    assert result.counts[Class.LATE] > 40
    assert not result.notes
