"""Tables without an end, as a batch reads them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ouzel.errors import NotSupported
from ouzel.spark.batch.run import BatchRun
from ouzel.spark.io.bounds import batch_options


def query(options: str) -> str:
    return f"CREATE TABLE t (a BIGINT) WITH ({options}); SELECT a FROM t;"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("'connector' = 'datagen'", "table 't' has no end, and a batch reads all there is; add 'rows' = '...'"),
        ("'connector' = 'nexmark', 'table' = 'bid'", "add 'events' = '...' to its WITH, or say with --offsets"),
        (
            "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = 'json', 'start' = 'latest'",
            "table 't' starts at its latest record, and a batch would read nothing of it; write 'start' = 'earliest'",
        ),
    ],
)
def test_a_table_without_end_is_refused(made: Callable[..., BatchRun], options: str, sentence: str) -> None:
    text = query(options).replace("(a ", "(auction ").replace(" a FROM", " auction FROM")
    with pytest.raises(NotSupported) as refused:
        made(text)
    assert sentence in str(refused.value)
    made(text, {"t": {"0": (0, 10)}})  # offsets are an end


def test_kafka_is_read_from_its_beginning_to_what_is_there() -> None:
    assert batch_options("kafka", {"topic": "t"}) == {"topic": "t", "start": "earliest", "end": "latest"}
    at = {"start": "timestamp", "start.timestamp": "0", "end": "offsets", "end.offsets": "t-0:4"}
    assert batch_options("kafka", at) == at


def test_nothing_is_paced_or_followed() -> None:
    assert batch_options("datagen", {"rows": "5", "rate": "1"}) == {"rows": "5"}
    assert batch_options("file", {"path": "x", "follow": "true"}) == {"path": "x"}
