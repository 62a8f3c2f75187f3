"""RECONCILE at the end of a file, and a run that goes on while it is compared: the whole way, commands and sockets."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import polars as pl
import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.reconcile import record_run
from ouzel.reconcile.recording.live import is_live
from ouzel.reconcile.watch import Watch
from ouzel.session import load_text
from tests.reconcile.planting import DAYS, TABLE, edit, job_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATEMENT = "RECONCILE result BETWEEN '2013-01-03' AND '2013-01-06' WITH ('tolerance' = '1e-6', 'report' = 'out');"

TICKS = """
CREATE TABLE ticks (at TIMESTAMP(3), n INT, WATERMARK FOR at AS at - INTERVAL '1' SECOND) WITH (
  'connector' = 'datagen', 'rows' = '6000', 'rate' = '1000',
  'fields.at.kind' = 'sequence', 'fields.at.start' = '2024-01-01 00:00:00', 'fields.at.step' = '10'
);
SELECT window_start, COUNT(*) AS ticks, MAX(n) AS most
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(at), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
"""


@pytest.mark.spark
def test_a_file_that_ends_with_reconcile(tmp_path: Path, spark: SparkSession) -> None:
    days = DAYS.replace(",\n  SUM(miles) AS miles", "")  # whose last digits would differ
    job_of(days, tmp_path)
    query, home = tmp_path / "days.sql", tmp_path / "record"
    query.write_text(TABLE + days + STATEMENT)
    ran = CliRunner().invoke(app, ["run", str(query), "--engine", "memory", "--record", str(home), "--format", "csv"])
    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout.startswith("departure_day,")  # on stdout is the answer alone
    assert "matched 12, by departure_day, origin · from 2013-01-03 00:00:00 to 2013-01-06 00:00:00" in ran.stderr
    assert "2013-01-03" in (tmp_path / "out" / "index.html").read_text()

    edit(home, lambda frame: frame.with_columns(max_delay=pl.col("max_delay") + pl.lit(1, pl.Int32)))
    found = CliRunner().invoke(app, ["reconcile", str(query), "--record", str(home)])
    assert found.exit_code == 3
    assert "Stream and batch differ: 12 rows without an explanation." in found.stdout
    wider = CliRunner().invoke(app, ["reconcile", str(query), "--record", str(home), "--between", "2013-01-03", "-"])
    assert "Stream and batch differ: 72 rows without an explanation." in wider.stdout


@pytest.mark.spark
@pytest.mark.server
def test_a_run_that_goes_on_is_watched_to_its_end(tmp_path: Path, spark: SparkSession) -> None:
    job = load_text(TICKS, tmp_path, "ticks")
    run = Thread(target=record_run, args=(job, "memory", tmp_path / "record"), daemon=True)
    run.start()
    while run.is_alive() and not is_live(tmp_path / "record"):
        run.join(0.01)
    watch = Watch(job, tmp_path / "record", spark)
    looks = [watch.round()]
    assert not looks[0].over
    while not looks[-1].over:
        looks.append(watch.round())
    run.join(60)
    assert watch.total is not None
    assert (watch.windows, watch.total.matched, watch.total.differing) == (12, 12, 0)
