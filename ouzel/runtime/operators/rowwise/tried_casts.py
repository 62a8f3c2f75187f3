"""Looks at what TRY_CAST makes NULL: a number with a decimal comma, or parted thousands, is left out of a sum, and nobody would know."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from ouzel.compiler.coercion import is_numeric
from ouzel.compiler.expressions import Cast, Expression, columns_of, walk_expression
from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.types import VARCHAR
from ouzel.errors import NotSupported
from ouzel.runtime.operators.culprits import advise_of_signs

_BATCHES, _ROWS = 8, 1000
"""How many of the first batches, and of their first rows, are looked at."""


class TriedCasts:
    """The TRY_CASTs of texts to numbers that an operator computes; each is told of once."""

    def __init__(self, expressions: Iterable[Expression]) -> None:
        parts = (part for expression in expressions for part in walk_expression(expression))
        self._casts = list(dict.fromkeys(part for part in parts if isinstance(part, Cast) and _may_lose_numbers(part)))
        self._left = _BATCHES if self._casts else 0

    def __bool__(self) -> bool:
        """Whether there is something to look at still."""
        return self._left > 0

    def look(self, frame: pl.DataFrame) -> list[str]:
        """What is to be told of a batch."""
        self._left -= 1
        told = []
        for cast in list(self._casts):
            if advice := _advise(cast, frame.head(_ROWS)):
                self._casts.remove(cast)
                where = cast.written or cast.operand.written
                told.append(f"TRY_CAST gives NULL for numbers in {where}; {advice}")
        self._left = self._left if self._casts else 0
        return told


def _may_lose_numbers(cast: Cast) -> bool:
    is_written = cast.written is not None or cast.operand.written is not None
    return cast.safe and is_written and cast.operand.type == VARCHAR and is_numeric(cast.type)


def _advise(cast: Cast, frame: pl.DataFrame) -> str:
    if not columns_of(cast) <= set(frame.columns):
        return ""
    try:
        value = lower(cast).value
    except NotSupported:
        return ""
    return advise_of_signs(cast, frame.filter(value.is_null()))
