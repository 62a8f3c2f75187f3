"""A record is a stream of Arrow's: all of its rows are read, or none."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.connectors.formats import open_decoder
from ouzel.connectors.formats.base import Records
from ouzel.errors import QueryError
from ouzel.session import load_text
from tests.effort import seeds

COLUMNS: dict[str, pl.DataType] = {"id": pl.Int64(), "at": pl.Datetime("us"), "tags": pl.List(pl.String())}


def stream(frame: pl.DataFrame) -> bytes:
    """A frame as a record."""
    written = io.BytesIO()
    frame.write_ipc_stream(written)
    return written.getvalue()


def rows(*ids: int) -> pl.DataFrame:
    """Rows with these numbers."""
    at = [datetime(2024, 1, 1, 0, 0, number) for number in ids]
    return pl.DataFrame({"id": ids, "at": at, "tags": [["a"] * (number % 3) for number in ids]}, COLUMNS)


def test_a_record_is_as_many_rows_as_it_holds() -> None:
    decoder = open_decoder("arrow", {}, COLUMNS)
    narrow = rows(5).select(pl.col("id").cast(pl.Int32).alias("ID"), other=pl.lit(1))
    decoded = decoder.decode(Records.of([stream(rows(1, 2)), stream(rows()), stream(narrow), stream(rows(3))]))
    assert not decoded.bad
    assert decoded.kept is not None
    assert decoded.kept.tolist() == [0, 0, 2, 3]
    expected = [*rows(1, 2).rows(), (5, None, None), *rows(3).rows()]
    assert decoded.frame.rows() == expected
    assert decoded.frame.schema == COLUMNS
    assert decoder.decode(Records.of([])).frame.height == 0
    others = decoder.decode(Records.of([stream(pl.DataFrame({"other": [1, 2, 3]})), stream(pl.DataFrame())]))
    assert others.frame.rows() == [(None, None, None)] * 3
    assert open_decoder("arrow", {}, {}).decode(Records.of([stream(rows(1, 2))])).frame.height == 2


@pytest.mark.parametrize("seed", seeds())
def test_a_record_that_is_cut_off_or_changed_is_bad_and_no_other(seed: int) -> None:
    random = Random(seed)
    whole = stream(rows(1, 2, 3))
    place = random.randrange(len(whole))
    changed = whole[:place] + bytes([whole[place] ^ 1 << random.randrange(8)]) + whole[place + 1 :]
    decoder = open_decoder("arrow", {}, COLUMNS)
    decoded = decoder.decode(Records.of([whole, whole[: random.randrange(len(whole) // 2)], changed, b"", whole]))
    assert decoded.kept is not None
    assert {0, 4} <= set(decoded.kept.tolist())
    assert {index for index, _ in decoded.bad} | set(decoded.kept.tolist()) == {0, 1, 2, 3, 4}
    assert dict(decoded.bad)[3].startswith("it is no stream of Arrow's IPC format")


def test_what_does_not_fit_makes_the_whole_record_bad() -> None:
    text = pl.DataFrame({"id": ["1"]})
    missing = pl.DataFrame({"id": [1, None, None]})
    decoder = open_decoder("arrow", {}, {"id": pl.Int64()}, frozenset(["id"]))
    decoded = decoder.decode(Records.of([stream(text), stream(missing), stream(rows(7))]))
    assert decoded.frame.rows() == [(7,)]
    reasons = dict(decoded.bad)
    assert reasons[1] == "column 'id' may not be NULL"
    assert "its schema holds column 'id' as VARCHAR, and the table declares it BIGINT" in reasons[0]


def test_a_record_of_many_rows_replaces_none_by_key(tmp_path: Path) -> None:
    options = "'connector' = 'kafka', 'bootstrap.servers' = 'b:1', 'topic' = 't', 'format' = 'arrow', 'changelog.mode' = 'upsert'"
    table = f"CREATE TABLE t (id BIGINT PRIMARY KEY NOT ENFORCED) WITH ({options});"
    with pytest.raises(QueryError, match="no key tells which of them it replaces"):
        load_text(f"{table} SELECT id FROM t", tmp_path, "q")
