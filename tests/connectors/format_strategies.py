"""Random columns of every type, and rows of them."""

from __future__ import annotations

import datetime as dt
from decimal import Context, Decimal

import polars as pl
from hypothesis import strategies as st

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
MOMENTS = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
SIMPLE: dict[pl.DataType, st.SearchStrategy[object]] = {
    pl.Int8(): st.integers(-128, 127),
    pl.Int16(): st.integers(-(2**15), 2**15 - 1),
    pl.Int32(): st.integers(-(2**31), 2**31 - 1),
    pl.Int64(): st.integers(-(2**63), 2**63 - 1),
    pl.Float64(): st.floats(),
    pl.Float32(): st.floats(width=32),
    pl.Boolean(): st.booleans(),
    pl.String(): TEXT,
    pl.Binary(): st.binary(max_size=9),
    pl.Date(): st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    pl.Datetime("us"): MOMENTS,
    pl.Datetime("us", "UTC"): MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
    pl.Decimal(9, 2): st.decimals(-9_999_999, 9_999_999, places=2),
    pl.Decimal(38, 10): st.integers(-(10**38) + 1, 10**38 - 1).map(
        lambda digits: Decimal(digits).scaleb(-10, Context(prec=40))
    ),
}


def nested(kind: pl.DataType, values: st.SearchStrategy[object]) -> dict[pl.DataType, st.SearchStrategy[object]]:
    """ARRAY, ROW and MAP of a type."""
    pair = pl.Struct({"key": pl.String(), "value": kind})
    entries = st.dictionaries(TEXT, values, max_size=3)
    return {
        pl.List(kind): st.lists(st.none() | values, max_size=3),
        pl.Struct({"a": kind, "b": pl.String()}): st.fixed_dictionaries({"a": st.none() | values, "b": TEXT}),
        pl.List(pair): entries.map(lambda found: [{"key": key, "value": value} for key, value in found.items()]),
    }


EVERY = {**SIMPLE, **{made: values for kind, inner in SIMPLE.items() for made, values in nested(kind, inner).items()}}


@st.composite
def frames(draw: st.DrawFn, kinds: dict[pl.DataType, st.SearchStrategy[object]]) -> pl.DataFrame:
    """A frame of two to four columns of these types, with NULLs."""
    chosen = draw(st.lists(st.sampled_from(list(kinds)), min_size=2, max_size=4))
    rows = draw(st.integers(1, 6))
    columns = []
    for number, kind in enumerate(chosen):
        values = draw(st.lists(st.none() | kinds[kind], min_size=rows, max_size=rows))
        columns.append(pl.Series(f"c{number}", values, dtype=kind))
    return pl.DataFrame(columns)
