"""The last rows of a result as the page of its topology shows them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl

from ouzel.runtime.process.kept_results import ResultKeeper
from ouzel.tracker.topologies.results import ROWS_SHOWN, read_tail
from tests.tracker.snapshots import EVIL, make_snapshot


def test_the_last_rows_are_shown_also_with_times_that_python_has_no_value_for(tmp_path: Path) -> None:
    keeper = ResultKeeper(tmp_path / "0001" / "task-1")
    frame = pl.DataFrame({"n": range(100), "at": [None, *range(98), 2**63 - 1], "text": [EVIL] * 100})
    keeper.write(1, frame.with_columns(pl.col("at").cast(pl.Datetime("us"))))
    shape = SimpleNamespace(schema=SimpleNamespace(names=["n", "at", "text"]))
    folder = SimpleNamespace(about=lambda: SimpleNamespace(shape=shape), results=tmp_path)
    tail = read_tail(cast(Any, SimpleNamespace(folder=lambda name: folder)), make_snapshot())
    assert (tail.columns, tail.note, len(tail.rows)) == (("n", "at", "text"), "", ROWS_SHOWN)
    assert tail.rows[0] == ("80", "1970-01-01 00:00:00.000079", EVIL)
    assert tail.rows[-1][1].startswith("+294247-01-10")
