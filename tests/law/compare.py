"""Whether two tables hold the same rows: as multisets, types by family, floats within a relative 1e-9.

Exact kinds are compared exactly: an integer is no float, a decimal has its digits, text is text, NULL equals only NULL.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import polars as pl

WEIGHT = "$weight"
TOLERANCE = 1e-9
ROWS_SHOWN = 8


def plain_fold(frames: Iterable[pl.DataFrame], columns: list[str]) -> pl.DataFrame:
    """The table that a changelog adds up to, row by row in plain Python.

    Raises:
        AssertionError: a row was taken back that is not there.
    """
    counts: Counter[str] = Counter()
    places: dict[str, int] = {}
    tables: list[pl.DataFrame] = [pl.DataFrame(schema=dict.fromkeys(columns, pl.Null))]
    for frame in frames:
        weights = frame[WEIGHT].to_list() if WEIGHT in frame.columns else [1] * frame.height
        values = frame[[name for name in frame.columns if name != WEIGHT]]
        before = sum(table.height for table in tables)
        tables = [*filter(len, tables), values]
        for place, (row, weight) in enumerate(zip(values.iter_rows(), weights, strict=True), before):
            key = repr(row)
            counts[key] += weight
            places[key] = place
    negative = [key for key, count in counts.items() if count < 0]
    assert not negative, f"rows taken back that were never there: {negative[:ROWS_SHOWN]}"
    return pl.concat(tables)[[places[key] for key, count in counts.items() for _ in range(count)]]


def difference(expected: pl.DataFrame, actual: pl.DataFrame) -> str:
    """Empty if both hold the same rows; otherwise what differs, to be read by a person."""
    if expected.columns != actual.columns:
        return f"columns are {actual.columns}, expected {expected.columns}"
    left, right = _plain(expected), _plain(actual)
    right = right.select(
        right[name].cast(left[name].dtype) if _family(right[name]) == "null" else right[name] for name in right.columns
    )
    left = left.select(
        left[name].cast(right[name].dtype) if _family(left[name]) == "null" else left[name] for name in left.columns
    )
    for name in left.columns:
        if left.height and right.height and (ours := _family(right[name])) != (theirs := _family(left[name])):
            return f"column {name} is {ours} ({actual[name].dtype}), expected {theirs} ({expected[name].dtype})"
    if left.height == right.height and _equal(*_aligned(left, right)):
        return ""
    return _report(left, right)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Each column in the widest type of its family; nested ones as text."""
    return frame.select(_widest(frame[name]) for name in frame.columns)


def _widest(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if kind.is_nested():
        texts = [
            None if value is None else json.dumps(_nested(value), default=str, ensure_ascii=False)
            for value in column.to_list()
        ]
        return pl.Series(column.name, texts, pl.String)
    if kind.is_integer() or kind == pl.Decimal(38, 0):  # DuckDB's HUGEINT arrives as DECIMAL(38, 0)
        return column.cast(pl.Int64)
    if kind.is_float():
        return column.cast(pl.Float64)
    if isinstance(kind, pl.Datetime):
        return column.dt.replace_time_zone(None).cast(pl.Datetime("us"))
    return column


def _nested(value: Any) -> Any:
    """Plain lists and dicts; a MAP, which is a list of key and value in one engine, is a dict in all."""
    if isinstance(value, dict):
        return {_key(key): _nested(inner) for key, inner in value.items()}
    if not isinstance(value, (pl.Series, list)):
        return value
    items = [_nested(item) for item in value]
    entries = items and all(isinstance(item, dict) and item.keys() == {"key", "value"} for item in items)
    return {_key(item["key"]): item["value"] for item in items} if entries else items


def _key(value: Any) -> Any:
    """A key that JSON can have."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _family(column: pl.Series) -> str:
    kind = column.dtype
    if column.null_count() == len(column):
        return "null"
    return "decimal" if isinstance(kind, pl.Decimal) else str(kind)


def _aligned(left: pl.DataFrame, right: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both in one order: by the exact columns first, floats last, so that a last digit moves few rows."""
    floats = [name for name in left.columns if left[name].dtype.is_float()]
    order = [pl.col(name) for name in left.columns if name not in floats]
    order += [pl.col(name).round_sig_figs(8) for name in floats] + [pl.col(name) for name in floats]
    return left.sort(order, nulls_last=True), right.sort(order, nulls_last=True)


def _equal(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    return all(_same(left[name], right[name]) for name in left.columns)


def _same(left: pl.Series, right: pl.Series) -> bool:
    if not left.dtype.is_float():
        return bool(left.eq_missing(right).all())
    bound = TOLERANCE * pl.select(pl.max_horizontal(left.abs(), right.abs())).to_series()
    near = ((left - right).abs() <= bound) & left.is_finite() & right.is_finite()
    return bool((left.eq_missing(right) | near.fill_null(False)).all())


def _report(left: pl.DataFrame, right: pl.DataFrame) -> str:
    expected, actual = (Counter(map(_shown, frame.iter_rows())) for frame in (left, right))
    missing, extra = expected - actual, actual - expected
    lines = [f"expected {left.height} rows, got {right.height}; {missing.total()} missing, {extra.total()} unexpected"]
    lines += [f"  - {row}" for row in sorted(missing)[:ROWS_SHOWN]] + [
        f"  + {row}" for row in sorted(extra)[:ROWS_SHOWN]
    ]
    return "\n".join([f"  columns: {', '.join(left.columns)}", *lines])


def _shown(row: tuple[Any, ...]) -> str:
    return ", ".join(f"{value:.9g}" if isinstance(value, float) else str(value) for value in row)
