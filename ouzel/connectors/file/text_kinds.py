"""Infer the type of a column of texts, and find the few values that do not fit it, such as `n/a` among 3,000 numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ouzel.connectors.formats.conversion import parse_column, sql_name

KINDS = (pl.Int64(), pl.Float64(), pl.Boolean(), pl.Date(), pl.Datetime("us", "UTC"), pl.Datetime("us"))
"""The types that a text may be of, in the order in which they are tried."""

FEWEST_VALUES, SHARE = 10, 20
"""How many values a column needs before a few of them may count as strays: one in so many, or a single one."""

_LEADING_ZERO = r"^[+-]?0[0-9]"
"""Digits that identify something and are no number, such as a ZIP code."""

_ZONE = r"([Zz]|[+-]\d\d:?\d\d)$"


@dataclass(frozen=True)
class Judged:
    """What a column of texts is.

    Attributes:
        kind: the first type that all texts are values of; VARCHAR if none is, or there are none.
        nearly: of VARCHAR the first type that nearly all are values of; None if there is no such type.
        strays: which rows are no values of that.
        total: how many texts there are.
    """

    kind: pl.DataType
    total: int
    nearly: pl.DataType | None = None
    strays: pl.Series | None = None


def judge_texts(column: pl.Series) -> Judged:
    """Try each type on the texts of a column; one that is NULL or empty says nothing."""
    held = column.is_not_null() & (column != "")
    total = int(held.sum())
    nearly: tuple[pl.DataType, pl.Series] | None = None
    for kind in KINDS if total else ():
        wrong = held & _misfits(column, kind)
        if not wrong.any():
            return Judged(kind, total)
        if nearly is None and _are_strays(column.filter(wrong), kind, total):
            nearly = (kind, wrong)
    return Judged(pl.String(), total, *(nearly or ()))


def _misfits(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    """Which texts are no values of a type."""
    wrong = parse_column(kind)(texts).is_null()
    if kind.is_numeric():
        return wrong | texts.str.contains(_LEADING_ZERO)
    if isinstance(kind, pl.Datetime) and kind.time_zone:
        return wrong | ~texts.str.contains(_ZONE)
    return wrong


def _are_strays(misfits: pl.Series, kind: pl.DataType, total: int) -> bool:
    few = total >= FEWEST_VALUES and len(misfits) <= max(1, total // SHARE)
    return few and not (kind.is_numeric() and misfits.str.contains(_LEADING_ZERO).any())


@dataclass(frozen=True)
class TextSample:
    """The beginning of one file, as texts; `lines` has the line of each row, and is None where that is not known."""

    path: str
    texts: pl.DataFrame
    lines: np.ndarray | None


def describe_strays(column: pl.Series, judged: Judged, samples: Sequence[TextSample]) -> str:
    """How many strays there are, where the first is, and what to write; `column` has the rows of all samples, one behind the other."""
    assert judged.nearly is not None
    assert judged.strays is not None
    count, row, kind = int(judged.strays.sum()), int(judged.strays.arg_true()[0]), sql_name(judged.nearly)
    value = column[row]
    null = f"'csv.null' = '{value}' if it stands for NULL, or " if count == 1 else ""
    return (
        f"{count:,} of {judged.total:,} values of {column.name} {'is' if count == 1 else 'are'} no {kind}, and it is VARCHAR for that: "
        f"{_place(samples, row)}'{value}'; write {null}'bad.record' = 'skip' to leave out what is no {kind}"
    )


def describe_word(word: str, names: Sequence[str], sample: pl.DataFrame, samples: Sequence[TextSample]) -> str:
    """How often a word that may stand for NULL stands in columns that are VARCHAR for it alone, where first, and what to write."""
    column = sample[names[0]]
    are_words = column == word
    count, row = int(are_words.sum()), int(are_words.arg_true()[0])
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    of = f" of {names[0]}" if len(names) > 1 else ""
    return (
        f"'{word}' makes {shown} VARCHAR: {count:,} of {column.count():,} values{of}, first in {_place(samples, row).removesuffix(': ')}; "
        f"if it stands for NULL, say so: 'csv.null' = '{word}'"
    )


def _place(samples: Sequence[TextSample], row: int) -> str:
    """Where a row stands, with a colon behind it."""
    for sample in samples:
        if row < sample.texts.height:
            return f"{sample.path}: " if sample.lines is None else f"line {sample.lines[row]:,} of {sample.path}: "
        row -= sample.texts.height
    return ""
