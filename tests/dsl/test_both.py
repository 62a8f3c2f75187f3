"""One call gives the topology's answer, the batch job's and the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel import NotSupported, Sink, Source, monoid
from tests.dsl.verbs import pairs, write_inputs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
@pytest.mark.spark
def test_both_platforms_answer_and_are_reconciled(tmp_path: Path, spark: SparkSession) -> None:
    write_inputs(tmp_path)
    totals = pairs(tmp_path).sum_by_key(monoid.Sum())
    found = totals.run_both(online="memory", record=tmp_path / "record")
    assert found.agree
    assert found.reconciliation.matched == 5
    assert sorted(found.online.rows()) == sorted(found.offline.rows()) == sorted(totals.memory())
    assert str(found) == "Stream and batch agree: 5 rows, no difference."
    assert (tmp_path / "record/record.json").exists()


def test_what_cannot_be_compared_is_refused_before_it_runs(tmp_path: Path) -> None:
    written = Source.of([1]).write(Sink.blackhole("gone"))
    with pytest.raises(NotSupported, match="cannot be read back"):
        written.run_both(table="gone")
