"""None from functions that are declared to give a value."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from ouzel import BadRecord, OuzelError, Source, Stream, TopologyError
from ouzel.compiler.plan import ApplyPython
from ouzel.runtime.operators.rowwise.python_steps import PythonSteps


def _to_minutes(text: str) -> int:
    return int(text) if text.isdigit() else None  # type: ignore[return-value]


def _all_minutes(text: str) -> list[int]:
    return [7, *map(_to_minutes, text.split())]


def _some_minutes(text: str) -> int | None:
    return _to_minutes(text)


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        (Source.of(["5", "n/a"]).map(_to_minutes), r"map _to_minutes gave None, .* declared to give int"),
        (Source.of([(1, "5"), (1, "n/a")]).map_values(_to_minutes), r"map_values _to_minutes gave None"),
        (Source.of(["5", "n/a"]).flat_map(_all_minutes), r"flat_map _all_minutes gave None, .* declared to give int"),
        (
            Source.of(["5", "n/a"]).map(lambda text: _to_minutes(text), returns=int).map(lambda n: ("all", n or 0)),
            r"gave None, .* declared to give int",
        ),
    ],
)
def test_none_from_a_function_that_is_declared_to_give_a_value_is_a_bad_record(stream: Stream[Any], told: str) -> None:
    with pytest.raises(TopologyError, match=rf'{told}.* \(at .*test_declared.py:\d+\): "n/a"[^$]*return a value,'):
        stream.table("memory")
    with pytest.raises(BadRecord, match=rf"{told}.*: 'n/a'; return a value,"):
        stream.memory()


def test_none_that_was_not_declared_fails_a_job_of_pyspark() -> None:
    from ouzel.spark.io.arrow import arrow_schema, record_batches
    from ouzel.spark.io.python_steps import process_batch

    parts = Source.of(["5", "n/a"]).map(_to_minutes).job().topology.components
    (node,) = (one for part in parts for one in part.chain if isinstance(one, ApplyPython))
    given = node.input.schema
    (batch,) = record_batches(pl.DataFrame({given.names[0]: [0, 1]}), arrow_schema(given))
    with pytest.raises(OuzelError, match=r'gave None, and is declared to give int .*"n/a"'):
        list(process_batch(PythonSteps(node), given, node.schema, batch))


def test_with_skip_only_what_was_none_is_lost() -> None:
    minutes = Source.of(["5", "n/a 8"]).flat_map(_all_minutes)
    assert sorted(minutes.table("memory", error_policy="skip")["value"]) == [5, 7, 7, 8]


def test_none_from_a_function_that_may_give_it_is_null() -> None:
    assert Source.of(["5", "n/a"]).map(_some_minutes).table("memory")["value"].to_list() == [5, None]
    assert Source.of(["5", "n/a"]).map(lambda text: _some_minutes(text)).memory() == [5, None]
    assert Source.of(["5", "n/a"]).option_map(_to_minutes).memory() == [5]
