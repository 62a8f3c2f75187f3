"""datagen: the same seed, partition and offset give the same row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.connectors import CONNECTORS, check_options
from ouzel.connectors.datagen import DatagenSource
from ouzel.connectors.datagen_fields import FieldOptions, _text, mix_bits
from ouzel.connectors.reading import ReadBatch, ReadState, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from tests.effort import examples

COLUMNS: dict[str, pl.DataType] = {
    "n": pl.Int64(), "small": pl.Int8(), "text": pl.String(), "at": pl.Datetime("us", "UTC"), "day": pl.Date(), "price": pl.Decimal(9, 2),
    "share": pl.Float64(),
    "yes": pl.Boolean(), "raw": pl.Binary(), "many": pl.List(pl.Int32()), "row": pl.Struct({"a": pl.Int64(), "b": pl.String()}),
}  # fmt: skip


class ManualClock:
    """Time that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def source(
    columns: Mapping[str, pl.DataType] = COLUMNS, clock: ManualClock | None = None, tasks: int = 1, **options: str
) -> DatagenSource:
    given = {name.replace("__", "."): value for name, value in options.items()}
    return DatagenSource(SourceRequest("t", given, columns, Path("."), tasks=tasks), clock or ManualClock())


def rows_from(made: DatagenSource, start: int, count: int, partition: int = 0) -> pl.DataFrame:
    batch = made.reader(made.partitions()[partition], start).read(count)
    assert isinstance(batch, ReadBatch)
    assert (batch.start, batch.end) == (start, start + batch.frame.height)
    return batch.frame


@settings(deadline=None, max_examples=examples(30))
@given(st.integers(0, 10**12), st.integers(1, 40), st.integers(0, 39))
def test_any_cut_gives_the_same_rows(start: int, count: int, cut: int) -> None:
    made = source(fields__text__null__rate="0.3")
    whole = rows_from(made, start, count)
    assert whole.schema == COLUMNS
    cut %= count
    again = source(fields__text__null__rate="0.3")
    parts = [rows_from(again, start + low, high - low) for low, high in ((0, cut), (cut, count)) if high > low]
    assert pl.concat(parts).equals(whole)


def test_seeds_columns_and_partitions_differ() -> None:
    columns = {"a": pl.Int64(), "b": pl.Int64()}
    made = source(columns, partitions="2")
    first = rows_from(made, 0, 100)
    assert not first["a"].equals(first["b"])
    assert not first.equals(rows_from(made, 0, 100, partition=1))
    assert not first.equals(rows_from(source(columns, partitions="2", seed="43"), 0, 100))


@pytest.mark.parametrize("tasks", [1, 3])
def test_partitions_share_a_sequence_of_rows(tasks: int) -> None:
    made = source({"n": pl.Int64()}, tasks=tasks, rows="100", fields__n__kind="sequence", fields__n__start="5")
    assert len(made.partitions()) == tasks
    assert all(part.bounded for part in made.partitions())
    numbers = []
    for part in made.partitions():
        reader = made.reader(part, None)
        while isinstance(batch := reader.read(7), ReadBatch):
            numbers += batch.frame["n"].to_list()
        assert batch is ReadState.END
    assert sorted(numbers) == list(range(5, 105))


def test_the_rate_is_kept_by_the_clock_and_reading_never_waits() -> None:
    clock = ManualClock()
    made = source({"n": pl.Int64()}, clock, rate="100")
    reader = made.reader(made.partitions()[0], 50)
    assert not made.partitions()[0].bounded
    first = reader.read(10)
    assert isinstance(first, ReadBatch)
    assert (first.start, first.end) == (50, 51)
    assert reader.read(10) is ReadState.WAIT
    clock.now += 0.05
    second = reader.read(10)
    assert isinstance(second, ReadBatch)
    assert (second.start, second.end) == (51, 56)
    clock.now += 10
    third = reader.read(10)
    assert isinstance(third, ReadBatch)
    assert third.end == 66


def test_fields_keep_their_bounds() -> None:
    made = source(
        {"n": pl.Int16(), "k": pl.Int64(), "text": pl.String(), "word": pl.String(), "at": pl.Datetime("us"), "f": pl.Float32()},
        fields__n__min="-3", fields__n__max="3", fields__k__cardinality="10", fields__text__length="15", fields__word__values="a, b",
        fields__at__kind="sequence", fields__at__start="2024-02-28 23:59:59", fields__at__step="500", fields__f__min="2",
        fields__f__max="3",
        fields__f__null__rate="0.5",
    )  # fmt: skip
    frame = rows_from(made, 0, 10_000)
    assert sorted(frame["n"].unique()) == list(range(-3, 4))
    assert frame["k"].n_unique() == 10
    assert frame["text"].str.len_chars().unique().to_list() == [15]
    assert frame["text"].n_unique() == 10_000
    assert sorted(frame["word"].unique()) == ["a", "b"]
    start = dt.datetime(2024, 2, 28, 23, 59, 59)
    assert frame["at"].to_list()[:3] == [start + dt.timedelta(milliseconds=500 * row) for row in range(3)]
    assert 4_500 < frame["f"].null_count() < 5_500
    assert 2 <= frame["f"].drop_nulls().min() <= frame["f"].drop_nulls().max() <= 3  # type: ignore[operator]


def test_the_widest_range_is_reached() -> None:
    made = source({"n": pl.Int64()}, fields__n__min=str(-(2**63)), fields__n__max=str(2**63 - 1))
    numbers = rows_from(made, 0, 10_000)["n"]
    assert numbers.min() < -(2**62)  # type: ignore[operator]
    assert numbers.max() > 2**62  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields.n.null.rate": "2"}, "'fields.n.null.rate' cannot be '2'; write a share from 0 to 1"),
        ({"fields.n.length": "0"}, "'fields.n.length' cannot be '0'"),
        ({"fields.n.kind": "serial"}, "'fields.n.kind' cannot be 'serial'; write 'random' or 'sequence'"),
        ({"fields.n.colour": "red"}, "no option 'fields.n.colour'"),
        (
            {"fields.n.min": "5", "fields.n.max": "1"},
            "'fields.n.min' = '5' is more than 'fields.n.max' = '1'; write the lesser of both as min",
        ),
        ({"rows": "many"}, "'rows' cannot be 'many'; write a whole number"),
    ],
)
def test_wrong_options_are_refused_when_the_query_is_planned(options: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError) as refused:
        check_options(CONNECTORS["datagen"], options)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            pl.Int64(),
            {"fields__n__min": "5", "fields__n__max": "1"},
            "the largest value 1 is less than the smallest, 5",
        ),
        (pl.Int64(), {"fields__n__min": "low"}, "'fields.n.min' cannot be 'low'"),
        (pl.Boolean(), {"fields__n__kind": "sequence"}, "column 'n' of type BOOLEAN cannot be a sequence"),
    ],
)
def test_settings_that_do_not_suit_the_type_are_named(kind: pl.DataType, options: dict[str, str], message: str) -> None:
    with pytest.raises(ConnectorError, match=message):
        rows_from(source({"n": kind}, **options), 0, 1)


@pytest.mark.parametrize("length", [1, 2, 7, 12, 13, 30])
def test_a_letter_is_five_bits_of_what_is_drawn_and_stays_what_it_was(length: int) -> None:
    """Whoever reads on from an offset, perhaps with a later Ouzel, gets the texts that were there."""
    drawn = np.arange(5, dtype=np.uint64) << np.uint64(40)
    made = _text(pl.String(), FieldOptions({"fields.x.length": str(length)}, "x"), lambda numbers: drawn)
    words = [mix_bits(drawn, np.uint64(part)) for part in range(3)]
    letters = "abcdefghijklmnopqrstuvwxyz012345"
    assert made(np.arange(5)).to_list() == [
        "".join(letters[int(words[at // 12][row]) >> 5 * (at % 12) & 31] for at in range(length)) for row in range(5)
    ]
