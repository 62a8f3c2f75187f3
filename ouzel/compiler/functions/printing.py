"""Values to text, as Spark's casts print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.compiler.functions.lowering import call_on_frame, map_rows

if TYPE_CHECKING:
    import polars as pl


def print_float(value: pl.Expr, bits: int) -> pl.Expr:
    """A float as Java prints it: 0.001 to 10,000,000 plainly, others as 1.0E7; the shortest digits that read back as the same number.

    (Java before 19 prints a digit more than the shortest for a few numbers, such as 2.0E-3; so does Spark on such a Java.)
    """
    import polars as pl

    def batch(rows: pl.DataFrame) -> pl.Series:
        column = rows.to_series()
        plain = column.abs().is_between(1e-3, 1e7, closed="left") | (column == 0)
        quick = column.cast(pl.String)
        if plain.fill_null(True).all():
            return quick
        odd = rows.select(both=map_rows((pl.col("0"),), lambda number: _scientific(number, bits), pl.String()))["both"]
        return quick.zip_with(plain, odd.struct.field("value"))

    return call_on_frame((value,), batch, pl.String())


def _scientific(number: float, bits: int) -> str:
    import numpy as np

    if number != number or number in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]
    digits = np.format_float_scientific(np.float32(number) if bits == 32 else number, trim="0")
    if (
        len(digits.split("e")[0]) <= 3
    ):  # one digit would do: Java then takes the nearest of two digits (4.9E-324, not 5.0E-324)
        digits = f"{number:.1e}"
    mantissa, exponent = digits.split("e")
    return f"{mantissa}E{int(exponent)}"


def java_double(number: float) -> str:
    """One double as Java prints it."""
    return repr(number) if number == 0 or 1e-3 <= abs(number) < 1e7 else _scientific(number, 64)


def print_timestamp(value: pl.Expr) -> pl.Expr:
    """yyyy-MM-dd HH:mm:ss, and the fraction of a second without trailing zeros if there is one."""
    text = value.dt.replace_time_zone(None).dt.to_string("%Y-%m-%d %H:%M:%S%.f")
    return text.str.replace(r"(\.\d*?)0+$", "$1")


def text_of_bytes(value: pl.Expr) -> pl.Expr:
    """Bytes read as UTF-8; what is none shows as U+FFFD."""
    import polars as pl

    both = map_rows((value,), lambda data: data.decode("utf-8", "replace"), pl.String())
    return both.struct.field("value")
