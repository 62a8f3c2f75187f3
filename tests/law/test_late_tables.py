"""LATE INTO: whatever is dropped as late stands in the table, once, under any batching, parallelism and fault."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.connectors.memory import TABLES, MemoryTable
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import load_text
from tests.effort import USUAL, seeds
from tests.law.cases import Case
from tests.law.engines import folded, random_shape

LATE_ROWS = "CREATE TABLE late_rows (k INT, n BIGINT, ts TIMESTAMP(3)) WITH ('connector' = 'memory');"
ON_LATE = "TABLE(TUMBLE(TABLE late, DESCRIPTOR(ts), INTERVAL '10' SECONDS))"
COUNTED = (
    f"SELECT window_start, k, COUNT(*) AS c, MAX(n) AS m FROM {ON_LATE} GROUP BY window_start, window_end, k\nEMIT "
)
DROPPING = {
    "window": COUNTED + "AFTER WATERMARK LATE INTO late_rows;",
    "changes": COUNTED + "CHANGES LATE INTO late_rows;",
    "early": COUNTED + "AFTER DELAY INTERVAL '1' SECOND AND AFTER WATERMARK LATE INTO late_rows;",
    "lateness": COUNTED + "AFTER WATERMARK WITH LATENESS INTERVAL '3' SECOND LATE INTO late_rows;",
    "early_and_lateness": COUNTED + "EVERY INTERVAL '1' SECOND AND FINAL WITH LATENESS INTERVAL '3' SECOND LATE INTO late_rows;",
    "over": "SELECT k, n, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS c FROM late EMIT AFTER WATERMARK LATE INTO late_rows;",
    "session": """SELECT k, window_start, COUNT(*) AS c FROM TABLE(SESSION(TABLE late PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY k, window_start, window_end EMIT AFTER WATERMARK LATE INTO late_rows;""",
    "join": """SELECT a.n AS one, b.n AS other FROM late AS a JOIN late AS b
ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts EMIT CHANGES LATE INTO late_rows;""",
}  # fmt: skip


def late_program(name: str) -> str:
    """The query, with its tables."""
    case = Case("late", name, DROPPING[name], "")
    return case.program.replace(case.text, f"{LATE_ROWS}\n{case.text}")


def run_once(name: str, inputs: Path, seed: int) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The answer, the table of late rows, and how many rows were counted as late."""
    random, case = Random(seed), Case("late", name, DROPPING[name], "")
    job = load_text(late_program(name), inputs, name, random_shape(case, random))
    TABLES["late_rows"] = MemoryTable()
    faults = random.choices(SURVIVABLE, k=random.randint(0, 4))
    run = simulate(job.topology, job.packing, inputs, seed=seed, faults=faults)
    return folded(job, run.frames.values()), TABLES["late_rows"].result(), run.rows_late


@pytest.mark.parametrize("name", DROPPING)
def test_a_late_row_stands_in_the_table(name: str, inputs: Path) -> None:
    rows = pl.read_ndjson(inputs / "data/late.jsonl").with_columns(pl.col("k").cast(pl.Int32))
    rows = rows.with_columns(pl.col("ts").str.to_datetime())
    found = 0
    for seed in seeds():
        answer, late, counted = run_once(name, inputs, seed)
        assert late.height == counted, f"seed {seed}"
        found += counted
        if not counted:
            continue
        assert not late.join(rows, on=["k", "n", "ts"], how="anti").height, f"seed {seed}: rows that nobody read"
        if "m" in answer.columns:
            start = pl.col("ts").dt.truncate("10s").alias("window_start")
            in_time = rows.join(late, on="n", how="anti").group_by(start, "k").agg(c=pl.len(), m=pl.max("n"))
            columns = ["window_start", "k", "c", "m"]
            assert sorted(answer.select(columns).rows()) == sorted(in_time.select(columns).rows()), f"seed {seed}"
    assert found or len(seeds()) < USUAL, "no seed made a row late: the test tests nothing"


@pytest.mark.parametrize("name", ["window", "lateness"])
def test_a_late_row_stands_in_the_file_as_it_was_read(name: str, inputs: Path, tmp_path: Path) -> None:
    """A partial aggregate, which would reach the window otherwise, is no row of anybody's."""
    rows = pl.read_ndjson(inputs / "data/late.jsonl").select("k", "n")
    found = 0
    for seed in seeds():
        random, path = Random(seed), tmp_path / f"{seed}.jsonl"
        text = f"SET 'late.path' = '{path}';\n" + DROPPING[name].replace(" LATE INTO late_rows", "")
        case = Case("late", name, text, "")
        job = load_text(case.program, inputs, name, random_shape(case, random))
        run = simulate(job.topology, job.packing, inputs, seed=seed)
        found += run.rows_late
        if run.rows_late:
            told = pl.read_ndjson(path)
            assert told.height == run.rows_late, f"seed {seed}"
            assert not told.join(rows, on=["k", "n"], how="anti").height, f"seed {seed}: what is no row"
    assert found or len(seeds()) < USUAL, "no seed made a row late: the test tests nothing"
