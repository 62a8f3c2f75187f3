"""MaxBy and MinBy add up pairs (by, value); whoever writes them as Spark's max_by(value, by) gets the last text of the alphabet."""

from __future__ import annotations

import warnings
from typing import Any

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.compiler.types import DecimalType, FloatType, IntegerType, RowType, VarcharType
from ouzel.dsl import producers, sampling
from ouzel.dsl.shapes import as_tuples
from ouzel.monoid import First, Last, MaxBy, MinBy

NUMBERS = (IntegerType, FloatType, DecimalType)


def warn_of_swapped_parts(verb: str, producer: producers.Summed | producers.WindowSum) -> None:
    """Warn of a sum by MaxBy or MinBy whose `by` are words, without a digit, and whose values are numbers."""
    kind, monoid = producer.below.record.columns[1].type, producer.monoid
    if not isinstance(monoid, MaxBy | MinBy) or isinstance(monoid, First | Last) or not isinstance(kind, RowType):
        return
    types = [part for _, part in kind.fields]
    if len(types) != 2 or not isinstance(types[0], VarcharType) or not isinstance(types[1], NUMBERS):
        return
    parts: list[Any] = [as_tuples(value) for _, value in sampling.known_samples(producer.below) or ()]
    texts = [part[0] for part in parts if part is not None and part[0]]
    if texts and all(map(_is_word, texts)):
        first = next(part for part in parts if part is not None and part[0])
        warnings.warn(
            f"{verb} by {type(monoid).__name__} takes pairs (by, value), and the first is {tuple(first)!r:.80}, so that it gives the "
            f"number of the {'last' if monoid.largest else 'first'} text of the alphabet; for the text of the "
            f"{'largest' if monoid.largest else 'least'} number write (key, (number, text)) before it",
            QueryWarning,
            stacklevel=users_level(),
        )


def _is_word(text: str) -> bool:
    """Whether it is neither a number nor a date, nor a version, a rank or a time that sorts as it is."""
    return any(map(str.isalpha, text)) and not any(map(str.isdigit, text))
