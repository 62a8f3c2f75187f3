"""What the terminal shows of a comparison."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from ouzel.cli.differences import summary
from ouzel.compiler.types import BIGINT, DOUBLE, Field, Schema
from ouzel.reconcile import Class, Reconciliation
from ouzel.reconcile.comparing.lineage import Lineage
from ouzel.reconcile.reconciliation import Difference
from ouzel.reconcile.recording.record import RunRecord


def found(ours: float, theirs: float) -> Reconciliation:
    """One row that differs."""
    row = Difference(Class.VALUE_DIFFERS, ("mean",), (1, ours), (1, theirs))
    facts = Lineage(Schema((Field("id", BIGINT), Field("mean", DOUBLE))), ("id",))
    record, counts = RunRecord("q", "", "", "memory", "at-least-once", {}), {Class.VALUE_DIFFERS: 1}
    return Reconciliation(record, "result", facts, 9, 10, 10, counts, None, {Class.VALUE_DIFFERS: (row,)}, None, "", "")  # type: ignore[arg-type]


def shown(result: Reconciliation) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(summary(result))
    return out.getvalue()


def test_floats_whose_difference_does_not_show_in_a_tables_digits_have_all_of_theirs() -> None:
    assert "0.1 stream  0.10000000123 batch" in shown(found(0.1, 0.10000000123))
    assert "0.5 stream  0.7 batch" in shown(found(0.5, 0.7))


def test_files_that_changed_since_the_run_come_before_all_else() -> None:
    agreed = replace(found(0.1, 0.1), counts={}, samples={}, tampered=("part-1 was cut to 0 bytes",))
    assert not agreed.explained
    text = shown(agreed)
    assert text.startswith("The stream's answer is not what the run wrote: 1 file changed since, 0 rows unexplained.")
    assert "part-1 was cut to 0 bytes." in text
