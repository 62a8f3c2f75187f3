"""The order of ARRAYs and ROWs, which is Spark's: part by part, NULL before all else, the shorter ARRAY first.

Polars sorts such values and does not compare them. So the values of all arguments are sorted together, and their places compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ouzel.compiler.functions.lowering import Build, call_on_frame
from ouzel.compiler.types import BOOLEAN, ArrayType, DataType, RowType, to_polars

if TYPE_CHECKING:
    import polars as pl


def is_composite(kind: DataType) -> bool:
    """Whether values of the type are compared part by part."""
    return isinstance(kind, ArrayType | RowType)


def compare_values(values: Sequence[pl.Expr], kind: DataType, comparison: Build) -> pl.Expr:
    """A BOOLEAN that `comparison` makes of values of one type."""
    if not is_composite(kind):
        return comparison(*values)

    def batch(rows: pl.DataFrame) -> pl.Series:
        import polars as pl

        return find_places(rows).select(comparison(*map(pl.col, rows.columns))).to_series()

    return call_on_frame(values, batch, to_polars(BOOLEAN))


def choose_end(values: Sequence[pl.Expr], kind: DataType, largest: bool) -> pl.Expr:
    """The largest or the least of values that have parts; NULLs are passed over."""

    def batch(rows: pl.DataFrame) -> pl.Series:
        import polars as pl

        columns = rows.columns
        best = pl.max_horizontal(columns) if largest else pl.min_horizontal(columns)
        wanted = find_places(rows).select((pl.col(name) == best).alias(name) for name in columns)
        chosen = (pl.when(wanted[name]).then(pl.col(name)) for name in columns)
        return rows.select(pl.coalesce(*chosen)).to_series()

    return call_on_frame(values, batch, to_polars(kind))


def find_places(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each value its place among those of all columns; equal values share one, NULL has none."""
    import polars as pl

    values = pl.concat([column.alias("value") for column in rows.get_columns()])
    ordered = values.to_frame().with_row_index("row").sort("value")
    value = pl.col("value")
    place = pl.when(value.is_not_null()).then(value.ne_missing(value.shift(1)).cum_sum())
    found = ordered.select("row", place=place).sort("row")["place"]
    return pl.DataFrame(
        [found.slice(at * rows.height, rows.height).alias(name) for at, name in enumerate(rows.columns)]
    )
